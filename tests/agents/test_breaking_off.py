"""Work that does not end by itself, and tasks that are cancelled: the run ends, whole, and says by what."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from handrail import Agent, CancellationToken, EndReason, RunOptions, RunResult, ScriptedModel, call, tool
from handrail.agents.strategies.wrap_up import WrapUp
from handrail.journal import events as ev
from handrail.journal.events import Event
from handrail.journal.fold import fold
from handrail.journal.memory import MemoryJournal
from handrail.models.scripted import Item, Reply
from handrail.transcripts.model import Usage

from .stage import TOOLS, go

FULL = Usage(input_tokens=900, output_tokens=100)
CALL = Reply(content=(call("probe", value="a"),), usage=FULL)


async def hang(*_: Any) -> str:
    await asyncio.Event().wait()
    raise AssertionError


@tool(name="hang")
async def hanging() -> str:
    """Hangs."""
    return await hang()


class Slow(MemoryJournal):
    """A journal that lets others run in the middle of an append, before and after it has taken effect."""

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[Event]) -> None:
        await asyncio.sleep(0)
        await super().append(session, expected_seq, epoch, events)
        await asyncio.sleep(0)

    async def take_over(self, session: str) -> int:
        epoch = await super().take_over(session)
        for _ in range(9):
            await asyncio.sleep(0)
        return epoch


def _run(script: list[Item], **options: Any) -> RunResult:
    return go(Agent(model=ScriptedModel(script), tools=[*TOOLS, hanging]).run("go", RunOptions(**options)))


# Bounded seconds


def test_a_run_whose_seconds_are_spent_still_gets_its_last_round() -> None:
    result = _run([call("hang"), "wrapped up"], max_seconds=0.05, strategies=[WrapUp()])
    assert (result.end_reason, result.output) == (EndReason.MAX_SECONDS, "wrapped up")


def test_a_last_round_that_hangs_is_cut_off_too() -> None:
    result = _run([call("hang"), hang, "never"], max_seconds=0.05, strategies=[WrapUp()])
    assert (result.end_reason, result.output, result.requests) == (EndReason.MAX_SECONDS, None, 2)


def test_a_summary_that_hangs_is_cut_off_where_the_seconds_are_spent() -> None:
    result = _run([CALL, hang, "never"], max_seconds=0.05, compact_at=800)
    assert (result.end_reason, result.requests) == (EndReason.MAX_SECONDS, 1)


# Summaries


def _once(first: BaseException | Reply) -> Item:
    """What raises or gives ``first`` the first time it is asked, and is done the second time."""
    left = [first]

    def answer(_: Any) -> str | Reply:
        given = left.pop() if left else "done"
        if isinstance(given, BaseException):
            raise given
        return given

    return answer


@pytest.mark.parametrize(
    "first",
    [RuntimeError("a bug"), asyncio.CancelledError(), Reply(content=())],
    ids=["raises", "cancels itself", "says nothing"],
)
def test_a_summary_that_fails_in_whatever_way_costs_nothing_but_the_try(first: BaseException | Reply) -> None:
    assert _run([CALL, _once(first)], compact_at=800).output == "done"


# Cancelled tasks


@pytest.mark.parametrize("times", range(1, 12))
@pytest.mark.parametrize("after", range(0, 24, 3))
def test_a_task_that_is_cancelled_again_and_again_leaves_no_run_open(after: int, times: int) -> None:
    async def story() -> list[Event]:
        journal = Slow()
        agent = Agent(model=ScriptedModel([call("hang"), "never"]), tools=[hanging])
        task = asyncio.create_task(agent.run("go", RunOptions(journal=journal)))
        for _ in range(8 + after):
            await asyncio.sleep(0)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        (session,) = await journal.sessions()
        return list(await journal.read(session))

    events = go(story())
    assert fold(events).run is None
    assert isinstance(events[-1].body, ev.RunEnded)
    assert events[-1].body.reason is EndReason.CANCELLED


def test_a_token_that_was_cancelled_while_the_run_began_ends_it() -> None:
    async def story() -> RunResult:
        token = CancellationToken()
        run = Agent(model=ScriptedModel([hang])).start("go", RunOptions(journal=Slow(), cancellation=token))
        await asyncio.sleep(0)
        token.cancel("not today")
        return await run

    assert go(story()).end_reason is EndReason.CANCELLED


@pytest.mark.parametrize("wish", ["stop", "cancel", "interrupt"])
def test_what_is_sent_to_a_run_of_an_old_session_while_it_begins_is_heard(wish: str) -> None:
    async def story() -> tuple[RunResult, str]:
        agent = Agent(model=ScriptedModel(["first", hang]))
        first = await agent.run("go", RunOptions(journal=Slow()))
        run = agent.start("again", session=first.session)
        receipt = getattr(run, wish)("enough")
        return await run, receipt.status

    result, status = go(story())
    assert status == "delivered"
    assert result.end_reason in (EndReason.STOP_REQUESTED, EndReason.CANCELLED)
