"""What is said at the desk is what a run does: answers through the journal, whatever process drives it."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import HOLD, Agent, Event, RunOptions, RunResult, ScriptedModel, Session, call, tool
from handrail.agents.tools import built_in_tools
from handrail.journal import events as ev
from handrail.journal.board import AskRow
from handrail.journal.memory import MemoryJournal
from handrail.journal.port import AskTaken
from handrail.journal.vocabulary import EndReason
from handrail.models.scripted import Item
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Desk
from handrail.transcripts.model import RefusalKind, ToolResult
from tests.runs.waiting import ANN, go

HELD = RunOptions(approver=HOLD, answerer=HOLD, parks=True)
ASKERS = ("ask_user_text", "ask_user_confirm", "present_for_review", "edit_document")


class Story:
    """A run that parks at each question, and the desk where they are answered."""

    def __init__(self, script: list[Item]) -> None:
        self.done: list[str] = []
        self.journal = MemoryJournal()
        self.desk = Desk(self.journal, ANN)

        @tool(destructive=True, parallel=True)
        async def wipe(place: str) -> str:
            """Wipe a place. place: which."""
            self.done.append(place)
            return f"wiped {place}"

        self._agent = Agent(model=ScriptedModel(script), tools=[wipe, *built_in_tools(ASKERS)])
        self._session = Session("s1", self.journal)

    async def start(self, **options: Any) -> RunResult:
        """Until it waits for somebody, or has ended."""
        given = RunOptions(approver=HOLD, answerer=HOLD, parks=True, **options)
        return await self._agent.start("go", given, session=self._session)

    async def go_on(self) -> RunResult:
        """As another process would: from the journal."""
        return await self._agent.resume(self._session, HELD)

    async def asks(self) -> tuple[AskRow, ...]:
        """What waits."""
        return await self.journal.asks()

    async def events(self) -> tuple[Event, ...]:
        """All that was recorded."""
        return await self.journal.read("s1")


def results(result: RunResult) -> list[ToolResult]:
    blocks = (block for message in result.transcript.body for block in message.content)
    return [block for block in blocks if isinstance(block, ToolResult)]


def kind(result: RunResult, at: int = 0) -> RefusalKind | None:
    refusal = results(result)[at].refusal
    return None if refusal is None else refusal.kind


A, B = {"place": "a"}, {"place": "b"}


def test_rows_89_and_91_a_run_that_waits_is_parked_and_goes_on_when_it_was_answered() -> None:
    async def story() -> tuple[list[EndReason], list[str]]:
        made = Story([call("wipe", **A), "done"])
        ends = [(await made.start()).end_reason, (await made.go_on()).end_reason]
        (row,) = await made.asks()
        await made.desk.answer(row.ask, Reply(option="approve"))
        ends.append((await made.go_on()).end_reason)
        return ends, made.done

    assert ([EndReason.WAITING, EndReason.WAITING, EndReason.ANSWERED], ["a"]) == go(story())


def test_row_118_a_denial_and_its_reason_reach_the_model_in_one_result() -> None:
    async def story() -> tuple[RunResult, list[str]]:
        made = Story([call("wipe", **A), "done"])
        await made.start()
        await made.desk.answer((await made.asks())[0].ask, Reply(option="deny", comment="use a copy"))
        return await made.go_on(), made.done

    result, done = go(story())
    assert ([], RefusalKind.DENIED) == (done, kind(result))
    assert "A person refused this call of wipe: use a copy. Do not repeat it." == results(result)[0].content


def test_row_156_a_call_runs_with_the_arguments_a_person_gave_it_and_with_no_others() -> None:
    async def story() -> tuple[RunResult, list[str]]:
        made = Story([call("wipe", **A), "done"])
        await made.start()
        await made.desk.answer((await made.asks())[0].ask, Reply(edited='{"place": "cache"}'))
        return await made.go_on(), made.done

    result, done = go(story())
    assert (["cache"], True) == (done, "wiped cache" in str(results(result)[0].content))


@pytest.mark.parametrize(("option", "asked"), [("approve", 3), ("approve-run", 2)])
def test_rows_109_and_139_what_was_approved_for_the_run_survives_every_restart(option: str, asked: int) -> None:
    async def story() -> tuple[int, list[str]]:
        made = Story([call("wipe", **A), call("wipe", **A), call("wipe", **B), "done"])
        result = await made.start()
        while result.end_reason is EndReason.WAITING:
            await made.desk.answer((await made.asks())[0].ask, Reply(option=option))
            result = await made.go_on()
        return sum(isinstance(event.body, ev.AskOpened) for event in await made.events()), made.done

    assert (asked, ["a", "a", "b"]) == go(story())


def test_row_79_the_same_call_asked_for_twice_in_a_response_is_answered_once_for_both() -> None:
    async def story() -> tuple[int, int, list[str]]:
        made = Story([[call("wipe", **A), call("wipe", **A), call("wipe", **B)], "done"])
        await made.start()
        open_before = await made.asks()
        await made.desk.answer(open_before[0].ask, Reply(option="approve"), alike=True)
        left = await made.asks()
        await made.desk.answer(left[0].ask, Reply(option="deny"))
        await made.go_on()
        return len(open_before), len(left), made.done

    assert (3, 1, ["a", "a"]) == go(story())


def test_row_76_an_approval_that_is_overdue_is_expired_and_nobody_is_said_to_have_refused() -> None:
    async def story() -> tuple[RunResult, list[str]]:
        made = Story([call("wipe", **A), "done"])
        await made.start(approval_timeout_s=3600.0)
        (row,) = await made.asks()
        assert row.opened.deadline is not None
        assert (row,) == await made.desk.expire_due(row.opened.deadline)
        return await made.go_on(), made.done

    result, done = go(story())
    assert ([], RefusalKind.EXPIRED) == (done, kind(result))
    assert "Nobody refused it either" in str(results(result)[0].content)


@pytest.mark.parametrize("asker", ASKERS)
def test_rows_100_to_102_a_question_that_is_withdrawn_claims_nothing(asker: str) -> None:
    more = {"present_for_review": {"markdown": "x"}, "edit_document": {"content": "x"}}

    async def story() -> RunResult:
        made = Story([call(asker, **more.get(asker, {})), "done"])
        await made.start()
        await made.desk.withdraw((await made.asks())[0].ask, "not needed any more")
        return await made.go_on()

    result = go(story())
    assert RefusalKind.WITHDRAWN == kind(result)
    assert "withdrawn before anybody" in str(results(result)[0].content)


def test_row_138_decisions_of_a_mixed_batch_are_answered_one_by_one_over_restarts() -> None:
    async def story() -> list[str]:
        made = Story([[call("wipe", **A), call("ask_user_text", prompt="Why?"), call("ask_user_confirm")], "done"])
        await made.start()
        replies = {
            "approval": Reply(option="approve"),
            "Why?": Reply(words="because"),
            "Shall I go on?": Reply(is_yes=False),
        }
        result = None
        for row in reversed(await made.asks()):
            await made.desk.answer(row.ask, replies.get(row.opened.prompt, replies["approval"]))
            result = await made.go_on()
        assert result is not None
        return [str(one.content) for one in results(result)]

    assert ["wiped a", "They answered: because", "They answered: No."] == go(story())


def test_rows_47_and_141_a_cancelled_run_leaves_no_question_and_a_late_answer_is_told_so() -> None:
    async def story() -> tuple[int, str]:
        made = Story([call("wipe", **A), "done"])
        await made.start()
        (row,) = await made.asks()
        await made.journal.post("s1", ev.CancelRequested("enough"), ANN, "cancel")
        result = await made.go_on()
        assert EndReason.CANCELLED is result.end_reason
        with pytest.raises(AskTaken, match="closed already"):
            await made.desk.answer(row.ask, Reply(option="approve"))
        return len(await made.asks()), "".join(made.done)

    assert (0, "") == go(story())
