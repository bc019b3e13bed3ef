"""Whose question a line answers: the one that was asked when the line was begun, and no other."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Coroutine
from typing import Any

import pytest

from handrail.agents.approval import ApprovalRequest, Approve, Deny, digest_of
from handrail.agents.permissions import Rule, Verdict
from handrail.agents.run import Relayed
from handrail.agents.tool import Answer, Question
from handrail.cli.attending import Attendant, NobodyThere
from handrail.cli.live import Screen
from handrail.cli.surface import Surface
from handrail.cli.views.run import RunLines
from handrail.journal.events import Event, ModelReplied, ToolFinished
from handrail.journal.vocabulary import Actor, ActorKind, AskKind
from handrail.transcripts.model import Message, Raw, ToolUse


class _Stage:
    """An attendant without a run, and what it shows."""

    def __init__(self) -> None:
        self.stream = io.BytesIO()
        self.attendant = Attendant(Screen(self.stream, is_live=False), RunLines(Surface({})))

    @property
    def shown(self) -> str:
        return self.stream.getvalue().decode()

    async def asks(self, name: str, *, offers: tuple[Rule, ...] = ()) -> asyncio.Task[Any]:
        """Ask whether the tool ``name`` may run; the answer comes with the task."""
        input = {"file_path": name}
        digest = digest_of(name, input)
        request = ApprovalRequest(id=name, call_id=name, tool=name, input=input, digest=digest, offers=offers)
        task = asyncio.get_running_loop().create_task(self.attendant.approve(request))
        await asyncio.sleep(0)
        return task


def _go(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 20))


def test_questions_are_put_one_after_the_other() -> None:
    async def story() -> None:
        stage = _Stage()
        first, second = await stage.asks("First"), await stage.asks("Second")
        assert "Second" not in stage.shown
        stage.attendant.heard(b"y\r")
        assert isinstance(await first, Approve)
        stage.attendant.heard(b"n not this\r")
        assert await second == Deny("not this", digest=digest_of("Second", {"file_path": "Second"}))
        assert "May Second run?" in stage.shown

    _go(story())


def test_what_a_yes_can_be_made_to_hold_for_is_shown_and_taken_by_its_number() -> None:
    async def story() -> None:
        stage = _Stage()
        rules = (Rule(Verdict.ALLOW, "Bash", {"command": "git log"}), Rule(Verdict.ALLOW, "Bash", {"command": "git *"}))
        asked = await stage.asks("Bash", offers=rules)
        assert "a 1  also Bash(command=git log)" in stage.shown
        stage.attendant.heard(b"a 2\r")
        reply = await asked
        assert (reply.scope, reply.rule) == ("run", rules[1])

    _go(story())


def test_what_is_typed_ahead_agrees_to_nothing_that_was_not_shown() -> None:
    async def story() -> None:
        stage = _Stage()
        first, second = await stage.asks("First"), await stage.asks("Second")
        stage.attendant.heard(b"y\ry\r")
        assert isinstance(await first, Approve)
        await asyncio.sleep(0)
        assert not second.done()
        second.cancel()

    _go(story())


def test_a_line_begun_before_a_question_does_not_answer_it() -> None:
    async def story() -> None:
        stage = _Stage()
        stage.attendant.heard(b"y")
        asked = await stage.asks("Write")
        stage.attendant.heard(b"\r")
        await asyncio.sleep(0)
        assert not asked.done()
        stage.attendant.heard(b"y\r")
        assert isinstance(await asked, Approve)

    _go(story())


def test_a_line_begun_for_one_question_does_not_answer_the_next() -> None:
    async def story() -> None:
        stage = _Stage()
        first, second = await stage.asks("First"), await stage.asks("Second")
        stage.attendant.heard(b"y")
        first.cancel()
        await asyncio.wait({first})
        stage.attendant.heard(b"\r")
        await asyncio.sleep(0)
        assert not second.done()
        assert "nothing was answered" in stage.shown
        second.cancel()

    _go(story())


def test_without_a_keyboard_nobody_answers() -> None:
    async def story() -> None:
        stage = _Stage()
        asked = await stage.asks("Write")
        stage.attendant.heard(b"")
        with pytest.raises(NobodyThere):
            await asked
        with pytest.raises(NobodyThere):
            await (await stage.asks("Edit"))

    _go(story())


def test_no_line_that_is_typed_becomes_a_document() -> None:
    async def story() -> None:
        stage = _Stage()
        question = Question(prompt="Change it.", kind=AskKind.EDIT, shown="one\ntwo")
        task = asyncio.get_running_loop().create_task(stage.attendant.answer(question))
        await asyncio.sleep(0)
        stage.attendant.heard(b"looks fine\n")
        await asyncio.sleep(0)
        assert not task.done()
        assert "1 Leave it as it is" in stage.shown
        stage.attendant.heard(b"1\n")
        assert Answer(text="one\ntwo") == await task

    _go(story())


def test_calls_of_an_agent_below_are_told_apart_from_those_above_it_by_the_same_ids() -> None:
    def replied(id: str, name: str) -> Event:
        message = Message(role="assistant", content=(ToolUse(id, Raw(name, {})),))
        return Event(seq=1, by=Actor(ActorKind.MODEL), body=ModelReplied(message=message))

    finished = Event(seq=2, by=Actor(ActorKind.TOOL), body=ToolFinished(call="call_1", content="done"))
    lines = RunLines(Surface({}, is_plain=True))
    lines.render(replied("call_1", "Spawn"))
    below = Relayed(("child",), replied("call_1", "Look"))
    shown = [lines.render(below), lines.render(Relayed(("child",), finished)), lines.render(finished)]
    assert [line for one in shown[1:] for line in one] == ["  child │ ← Look: done", "← Spawn: done"]
