"""The round loop on a SQL journal is the round loop on any other: same story, same events, others may join in."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import Agent, Approve, Event, MemoryJournal, RunOptions, RunResult, ScriptedModel, Session, call, tool
from handrail.agents.remote import RemoteRun
from handrail.journal import events as ev
from handrail.journal.port import Journal, StaleEpoch
from handrail.journal.vocabulary import AskOutcome, EndReason
from handrail.journal.wire import type_of
from handrail.testing.clock import ManualClock
from handrail.testing.tape import ADA
from handrail.transcripts.model import Text

from .conftest import Open

GUARD_S = 60.0


@tool(destructive=True)
async def wipe(place: str) -> str:
    """Wipe a place. place: which."""
    return f"wiped {place}"


def _agent(*script: Any) -> Agent:
    return Agent(model=ScriptedModel(script), tools=[wipe], clock=ManualClock())


async def _story(journal: Journal) -> tuple[RunResult, list[str]]:
    session = Session("s1", journal)
    options = RunOptions(approver=lambda request: Approve())
    # One call at a time: what several do at once has no order to compare.
    await _agent(call("wipe", place="a"), call("wipe", place="b"), "done").run("go", options, session=session)
    result = await _agent("more").run("on", session=session)
    return result, [type_of(event.body) for event in await journal.read("s1")]


def test_a_run_writes_the_same_events_and_the_same_transcript_as_in_memory(open_journal: Open) -> None:
    result, kinds = asyncio.run(_story(open_journal()))
    expected, expected_kinds = asyncio.run(_story(MemoryJournal()))
    assert kinds == expected_kinds
    assert result.transcript.body == expected.transcript.body


def test_a_question_is_answered_and_a_steer_heard_from_another_process(open_journal: Open) -> None:
    """Another journal object shares nothing with the first but the database."""

    async def story() -> RunResult:
        run = _agent(call("wipe", place="disk"), "done").start(
            "go", RunOptions(approver=_never), session=Session("s1", open_journal())
        )
        remote = RemoteRun(Session("s1", open_journal()), ADA)
        async for item in run:
            if isinstance(item, Event) and isinstance(item.body, ev.AskOpened):
                await remote.steer("mind the disk")
                allowed = ev.AskClosed(ask=item.body.ask, outcome=AskOutcome.ANSWERED, is_allowed=True)
                await remote.answer(allowed)
        return await run

    async def guarded() -> RunResult:
        async with asyncio.timeout(GUARD_S):
            return await story()

    result = asyncio.run(guarded())
    words = [block.text for message in result.transcript.body for block in message.content if isinstance(block, Text)]
    assert result.end_reason is EndReason.ANSWERED
    assert words == ["go", "mind the disk", "done"]


async def _never(request: object) -> Approve:
    await asyncio.Event().wait()
    raise AssertionError


def test_a_run_whose_driver_is_gone_goes_on_in_another(open_journal: Open) -> None:
    async def story() -> RunResult:
        run = _agent(call("wipe", place="disk"), "done").start(
            "go", RunOptions(approver=_never), session=Session("s1", open_journal())
        )
        async for item in run:
            if isinstance(item, Event) and isinstance(item.body, ev.AskOpened):
                break
        # The first driver stays where it is, as one that is frozen would; it is told when it wakes.
        second = _agent(call("wipe", place="disk"), "done").resume(
            Session("s1", open_journal()), RunOptions(approver=lambda request: Approve())
        )
        result = await second
        run.cancel()
        with pytest.raises(StaleEpoch):
            await run
        return result

    async def guarded() -> RunResult:
        async with asyncio.timeout(GUARD_S):
            return await story()

    result = asyncio.run(guarded())
    assert (result.end_reason, result.output) == (EndReason.ANSWERED, "done")
