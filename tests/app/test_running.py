"""Runs as a use case: what is begun, gone on with, answered, and where it is kept."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any, Literal

import pytest

pytest.importorskip("pydantic")

from handrail import Agent, Approve, Deny, Event, FileJournal, RoundDecision, RunOptions, RunResult, ScriptedModel
from handrail.agents.approval import ApprovalRequest
from handrail.app import Machine, Order, People, moments, open_machine, open_session, start_run
from handrail.app.beginning import NothingToRun
from handrail.app.running import compacts_at
from handrail.errors import StoreError
from handrail.journal.events import AskOpened
from handrail.models.port import ModelInfo
from handrail.transcripts.model import Author, Text


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture
def machine(sessions: Path) -> Machine:
    return open_machine({"handrail": sessions}, only_given=True)


def _run(machine: Machine, tmp_path: Path, script: list[Any], **more: Any) -> RunResult:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script))
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    order = Order(**{"model": f"scripted:{path}", "workspace": work, **more})

    async def story() -> RunResult:
        async with start_run(machine, order, {"HANDRAIL_CONFIG_DIR": str(tmp_path / "config"), "PATH": ""}) as begun:
            return await begun.run

    return asyncio.run(story())


def _paused(sessions: Path) -> str:
    """The id of a session whose run waits for an answer."""

    def asks(_: Any) -> RoundDecision:
        return RoundDecision.pause("Which colour?")

    journal = FileJournal(sessions)
    result = Agent(model=ScriptedModel(["I ask."])).run_sync("paint", RunOptions(strategies=[asks], journal=journal))
    journal.close()
    assert result.end_reason == "waiting"
    return result.session.id


def _words(result: RunResult) -> list[tuple[str, Author]]:
    return [
        (block.text, block.author)
        for message in result.transcript.body
        for block in message.content
        if isinstance(block, Text)
    ]


def test_a_task_answers_the_question_a_run_waits_with(machine: Machine, sessions: Path, tmp_path: Path) -> None:
    session = _paused(sessions)
    result = _run(machine, tmp_path, ["I ask.", "Painted."], task="red", session=session)
    assert (result.output, result.session.id) == ("Painted.", session)
    assert ("red", Author.PERSON) in _words(result)


def test_a_run_that_waits_does_not_go_on_without_an_answer(machine: Machine, sessions: Path, tmp_path: Path) -> None:
    session = _paused(sessions)
    with pytest.raises(NothingToRun):
        _run(machine, tmp_path, ["x"], session=session)


def test_a_copy_begins_with_the_messages_that_were_named(machine: Machine, tmp_path: Path) -> None:
    first = _run(machine, tmp_path, ["One."], task="first")
    second = _run(machine, tmp_path, ["One.", "Two."], task="second", session=first.session.id)
    copied = _run(machine, tmp_path, ["One.", "Other."], task="third", source=f"{second.session.id}#1-2")
    assert [text for text, _ in _words(copied)] == ["first", "One.", "third", "Other."]
    assert copied.session.id != second.session.id


def test_a_file_from_elsewhere_is_not_gone_on_with(machine: Machine, tmp_path: Path) -> None:
    first = _run(machine, tmp_path, ["One."], task="first")
    opened = open_session(machine, first.session.id)
    elsewhere = tmp_path / f"{first.session.id}.jsonl"
    elsewhere.write_bytes(opened.info.codec.render(opened.native))  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="not among Handrail's own"):
        _run(machine, tmp_path, ["x"], task="second", session=str(elsewhere))


@pytest.mark.parametrize(("is_by_person", "author"), [(True, Author.PERSON), (False, Author.HOST)])
def test_a_task_has_the_author_who_gave_it(
    machine: Machine, tmp_path: Path, is_by_person: bool, author: Author
) -> None:
    result = _run(machine, tmp_path, ["Yes."], task="look", is_by_person=is_by_person)
    assert _words(result)[0] == ("look", author)


def test_work_is_handed_to_an_agent_with_a_session_of_its_own(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "found.txt").write_text("here")
    worker = tmp_path / "worker.json"
    worker.write_text(json.dumps([{"call": "Read", "input": {"file_path": "found.txt"}}, "It says: here."]))
    script = [{"call": "Spawn", "input": {"prompt": "read found.txt"}}, "Read."]
    result = _run(machine, tmp_path, script, task="look", worker=f"scripted:{worker}")
    assert (result.output, result.transcript.body[2].content[0].content) == ("Read.", "It says: here.")  # type: ignore[union-attr]
    children = [one.id for one in machine.stores["handrail"].discover() if one.id != result.session.id]
    child = open_session(machine, children[0]).session
    assert (child.meta.parent.session, child.meta.parent.kind) == (result.session.id, "subagent")  # type: ignore[union-attr]


def test_a_no_to_an_agent_below_is_a_moment(machine: Machine, tmp_path: Path) -> None:
    worker = tmp_path / "worker.json"
    worker.write_text(json.dumps([{"call": "Write", "input": {"file_path": "a", "content": "a"}}, "I could not."]))
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"call": "Spawn", "input": {"prompt": "write a"}}, "Done."]))
    order = Order(model=f"scripted:{script}", worker=f"scripted:{worker}", workspace=tmp_path, task="go")
    environment = {"HANDRAIL_CONFIG_DIR": "/nowhere", "PATH": ""}

    async def story() -> None:
        async with start_run(machine, order, environment, People(approver=lambda request: Deny("not now"))) as begun:
            await begun.run

    asyncio.run(story())
    found = moments(machine)
    assert [(one.trigger, one.words) for one in found.moments] == [("denial", "not now")]


def test_commands_get_no_key_of_a_model_but_those_that_are_passed(machine: Machine, tmp_path: Path) -> None:
    def printed(*passes: str) -> str:
        path = tmp_path / "script.json"
        path.write_text(json.dumps([{"call": "Bash", "input": {"command": "echo $OPENAI_API_KEY$ORDINARY"}}, "Done."]))
        order = Order(
            model=f"scripted:{path}", workspace=tmp_path, task="go", allow=("Bash",), is_trusted=True, passes=passes
        )
        environment = {"HANDRAIL_CONFIG_DIR": "/nowhere", "PATH": os.environ["PATH"]}
        keys = {"OPENAI_API_KEY": "key", "ORDINARY": "told"}

        async def story() -> RunResult:
            async with start_run(machine, order, environment | keys) as begun:
                return await begun.run

        return str(asyncio.run(story()).transcript.body[2].content[0].content)  # type: ignore[union-attr]

    assert [printed(), printed("OPENAI_API_KEY")] == ["told\n", "keytold\n"]


def _notices(machine: Machine, tmp_path: Path, **more: Any) -> tuple[str, ...]:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(["One.", "Two."]))
    order = Order(**{"model": f"scripted:{path}", "workspace": tmp_path, "task": "look", **more})

    async def story() -> tuple[str, ...]:
        async with start_run(machine, order, {"HANDRAIL_CONFIG_DIR": "/nowhere", "PATH": ""}) as begun:
            await begun.run
            return begun.notices

    return asyncio.run(story())


def test_what_nobody_knows_of_a_copied_conversation_is_told_with_what_follows(tmp_path: Path) -> None:
    simple = tmp_path / "simple.json"
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    simple.write_text(json.dumps({"messages": messages}))
    machine = open_machine({"handrail": tmp_path / "sessions"}, only_given=True)
    (told,) = _notices(machine, tmp_path, source=str(simple))
    assert told.startswith("nobody recorded what was seen before")
    assert _notices(machine, tmp_path, source=str(simple), sends="ask") == ()
    assert _notices(machine, tmp_path) == ()


def test_a_person_may_be_asked_about_what_else_would_be_refused(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    path = tmp_path / "script.json"
    path.write_text(json.dumps([{"call": "Bash", "input": {"command": "echo ran"}}, "Done."]))
    asked: list[str] = []

    def approve(request: ApprovalRequest) -> Approve:
        asked.append(request.why)
        return Approve()

    def result(sends: Literal["block", "ask"]) -> str:
        order = Order(model=f"scripted:{path}", workspace=tmp_path, task="go", sends=sends)
        environment = {"HANDRAIL_CONFIG_DIR": "/nowhere", "PATH": str(tmp_path)}
        # Only the shell is found there, so that nothing confines it.
        (tmp_path / "bash").unlink(missing_ok=True)
        (tmp_path / "bash").symlink_to(str(shutil.which("bash")))

        async def story() -> RunResult:
            async with start_run(machine, order, environment, People(approver=approve)) as begun:
                return await begun.run

        return str(asyncio.run(story()).transcript.body[2].content[0].content)  # type: ignore[union-attr]

    assert "was not run" in result("block")
    assert asked == []
    assert result("ask") == "ran\n"
    assert "sends data out" in asked[0]


def test_a_conversation_is_summed_up_where_it_is_said_and_near_what_the_model_can_be_given() -> None:
    model = ModelInfo("m", "p", context_tokens=1000)

    def at(model: ModelInfo, compact_at: int | None) -> int | None:
        return compacts_at(Order(workspace=Path("/"), compact_at=compact_at), model)

    assert [at(model, None), at(model, 50), at(ModelInfo("m", "p"), None)] == [800, 50, None]


def test_a_run_that_nobody_watches_any_more_is_ended_and_kept(machine: Machine, tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError):
        _left(machine, tmp_path)
    (session,) = machine.stores["handrail"].discover()
    opened = open_session(machine, session.id)
    assert [message.role for message in opened.session.body][:2] == ["user", "assistant"]
    ended = json.loads(opened.info.codec.render(opened.native).splitlines()[-1])  # type: ignore[union-attr]
    assert (ended["type"], ended["body"]["reason"]) == ("run_ended", "cancelled")


def _left(machine: Machine, tmp_path: Path) -> None:
    """Leave a run while it waits for a person who never answers."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps([{"call": "Write", "input": {"file_path": "a", "content": "a"}}]))

    async def never(_: ApprovalRequest) -> Any:
        await asyncio.Event().wait()

    async def story() -> None:
        order = Order(model=f"scripted:{path}", workspace=tmp_path, task="go")
        async with start_run(
            machine, order, {"HANDRAIL_CONFIG_DIR": "/nowhere", "PATH": ""}, People(approver=never)
        ) as begun:
            async for happening in begun.run:
                if isinstance(happening, Event) and isinstance(happening.body, AskOpened):
                    raise BrokenPipeError

    asyncio.run(asyncio.wait_for(story(), 60))
