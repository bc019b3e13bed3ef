"""Posts from elsewhere that make no sense: refused to their sender or with an event, and the session stays drivable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handrail import Agent, Approve, FileJournal, RunOptions, RunResult, ScriptedModel, Session, call, tool
from handrail.agents.admission import Gate
from handrail.agents.approval import ApprovalRequest
from handrail.agents.permissions import Grant, Rule, Verdict
from handrail.agents.remote import RemoteRun
from handrail.journal.events import AskClosed, AskOpened
from handrail.journal.port import StaleEpoch
from handrail.journal.vocabulary import AskOutcome
from handrail.transcripts.model import Image, ToolResult

from .stage import go, said

POLL_S = 0.001
ODD: Any = 5


@tool(destructive=True)
async def wipe(value: str) -> str:
    """Wipes. value: what."""
    return f"wiped {value}"


async def _never(request: ApprovalRequest) -> Approve:
    await asyncio.Event().wait()
    raise AssertionError


def _answers(**said: Any) -> Callable[[AskOpened], AskClosed]:
    return lambda opened: AskClosed(ask=opened.ask, **{"outcome": AskOutcome.ANSWERED, **said})


class _Asked:
    """A run that waits for an approval on a file journal, and a stranger's handle on it."""

    def __init__(self, folder: Path, **options: Any) -> None:
        agent = Agent(model=ScriptedModel([call("wipe", value="x"), "done"]), tools=[wipe])
        journal = FileJournal(folder, poll_s=POLL_S)
        self.run = agent.start("go", RunOptions(approver=_never, **options), session=Session("s1", journal))
        self.remote = RemoteRun(Session("s1", FileJournal(folder)))

    async def question(self) -> AskOpened:
        while not (questions := await self.remote.open_questions()):
            await asyncio.sleep(0)
        return questions[0]

    async def settled(self, sent: str) -> tuple[str, str | None]:
        while (receipt := await self.remote.receipt(sent)).status == "queued":
            await asyncio.sleep(0)
        return receipt.status, receipt.why

    async def result(self, closed: AskClosed) -> str:
        """What the call comes to with ``closed``."""
        await self.remote.answer(closed)
        (found,) = [
            block
            for message in (await self.run).transcript.body
            for block in message.content
            if type(block) is ToolResult
        ]
        return str(found.content)


SENSELESS = {
    "no JSON": (_answers(is_allowed=True, after="{"), "the edited arguments are no JSON"),
    "too deep": (_answers(is_allowed=True, after="[" * 600 + "]" * 600), "the edited arguments are nested too deeply"),
    "no rule": (_answers(is_allowed=True, grant="run", rule={"x": 5}), "what it holds for is no rule"),
    "yes and no": (_answers(is_allowed=True, choice="deny"), "it says both yes and no"),
    "no and yes": (_answers(is_allowed=False, choice="approve"), "it says both yes and no"),
    "not offered": (_answers(choice="maybe"), "'maybe' is no answer that was offered"),
}


@pytest.mark.parametrize(("answer", "why"), SENSELESS.values(), ids=SENSELESS)
def test_an_answer_without_sense_is_refused_and_the_question_stays_open(
    tmp_path: Path, answer: Callable[[AskOpened], AskClosed], why: str
) -> None:
    async def story() -> tuple[tuple[str, str | None], str]:
        asked = _Asked(tmp_path)
        opened = await asked.question()
        settled = await asked.settled(await asked.remote.answer(answer(opened)))
        return settled, await asked.result(_answers(is_allowed=True)(opened))

    (status, told), content = go(story())
    assert (status, content) == ("returned", "wiped x")
    assert str(told).startswith(why)


EDITS = {
    "null for no number": ('{"value": NaN}', "value: Input should be a valid string"),
    "no object": ("[]", "the input must be an object"),
    "half a character": ('{"value": "\ud800"}', "half a character"),
}


@pytest.mark.parametrize(("after", "told"), EDITS.values(), ids=EDITS)
def test_edited_arguments_that_do_not_fit_run_nothing(tmp_path: Path, after: str, told: str) -> None:
    async def story() -> str:
        asked = _Asked(tmp_path)
        return await asked.result(_answers(is_allowed=True, after=after)(await asked.question()))

    content = go(story())
    assert content.startswith("wipe was not run. Its input has a problem:")
    assert told in content


def test_an_edit_is_judged_by_the_answers_a_host_gave_beforehand_too(tmp_path: Path) -> None:
    no = Grant(verdict=Verdict.DENY, rule=Rule(Verdict.DENY, "wipe", {"value": "all"}), reason="never all", scope="run")

    async def story() -> str:
        asked = _Asked(tmp_path, gate=Gate(grants=(no,)))
        return await asked.result(_answers(is_allowed=True, after='{"value": "all"}')(await asked.question()))

    assert go(story()) == "wipe was not run, blocked by standing answer: never all"


def test_an_edit_of_a_call_whose_tool_is_gone_runs_nothing(tmp_path: Path) -> None:
    async def story() -> RunResult:
        asked = _Asked(tmp_path)
        opened = await asked.question()
        await asked.remote.session.journal.take_over("s1")
        with pytest.raises(StaleEpoch):
            await asked.result(_answers(is_allowed=True, after='{"value": "y"}')(opened))
        without = Agent(model=ScriptedModel([call("wipe", value="x"), "done"]))
        return await without.resume(Session("s1", FileJournal(tmp_path)))

    result = go(story())
    assert result.end_reason == "answered"
    assert "There is no tool 'wipe' here" in said(result.transcript.body)[2]


@pytest.mark.parametrize("closed", [_answers(is_allowed=ODD), _answers(grant="forever"), _answers(comment=ODD)])
def test_an_answer_that_could_not_be_read_is_not_posted(
    tmp_path: Path, closed: Callable[[AskOpened], AskClosed]
) -> None:
    async def story() -> str:
        asked = _Asked(tmp_path)
        opened = await asked.question()
        with pytest.raises(TypeError, match="AskClosed does not fit"):
            await asked.remote.answer(closed(opened))
        return await asked.result(_answers(is_allowed=True)(opened))

    assert go(story()) == "wiped x"


def test_what_could_not_be_read_is_not_sent_from_the_runs_own_process_either() -> None:
    async def story() -> None:
        run = Agent(model=ScriptedModel(["done"])).start("go")
        with pytest.raises(TypeError, match="InputReceived does not fit"):
            run.steer(Image("image/png", ODD))
        await run

    go(story())


def test_half_a_character_in_a_steer_is_delivered_as_it_is(tmp_path: Path) -> None:
    async def story() -> RunResult:
        agent = Agent(model=ScriptedModel(["one", "two"]))
        run = agent.start("go", session=Session("s1", FileJournal(tmp_path, poll_s=POLL_S)))
        run.follow_up("a\ud800b")
        return await run

    assert said(go(story()).transcript.body)[2] == "user: a\ud800b"
