"""A run whose agents wait for people: out of memory like any other that waits, and gone on with from its rows."""

from __future__ import annotations

import asyncio

import pytest

from handrail import Agent, EndReason, RunOptions, RunResult, ScriptedModel, Session, call, tool
from handrail.agents.approval import HOLD, PERSON
from handrail.agents.ending import cancel_left
from handrail.agents.spawn import spawn_tool
from handrail.agents.tool import Tool
from handrail.journal import events as ev
from handrail.journal.memory import MemoryJournal
from handrail.journal.port import Posted
from handrail.journal.vocabulary import AskOutcome
from handrail.models.scripted import Item
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Desk
from handrail.transcripts.model import RefusalKind

from .stage import go

ROOT = "root"


class World:
    """A boss that hands work to a helper, who has to ask before it changes anything; ``changes`` are those it made."""

    def __init__(self, *, calls: int = 1) -> None:
        self.changes: list[str] = []
        self.calls = calls
        self.journal = MemoryJournal()
        self.desk = Desk(self.journal, PERSON)

    def change(self) -> Tool:
        @tool(destructive=True)
        async def change(place: str) -> str:
            """Change a place."""
            self.changes.append(place)
            return f"{place} is changed"

        return change

    def boss(self) -> Agent:
        script: list[Item] = [call("change", place="shelf"), "helped"]
        helper = Agent(model=ScriptedModel(script, name="helper", repeats=True), tools=[self.change()], name="helper")
        spawns = tuple(call("Spawn", prompt=f"help {number}") for number in range(self.calls))
        return Agent(model=ScriptedModel([list(spawns), "done"]), tools=[spawn_tool(helper)])

    def options(self) -> RunOptions:
        return RunOptions(journal=self.journal, approver=HOLD, answerer=HOLD, parks=True)

    async def start(self) -> RunResult:
        return await self.boss().start("go", self.options(), session=Session(ROOT, self.journal))

    async def resume(self) -> RunResult:
        return await self.boss().resume(Session(ROOT, self.journal), self.options())

    async def bodies(self, session: str, kind: type[ev.Known]) -> list[ev.Body]:
        return [event.body for event in await self.journal.read(session) if isinstance(event.body, kind)]


def test_a_run_leaves_memory_while_the_agent_below_it_waits_and_goes_on_when_that_was_answered() -> None:
    async def story() -> tuple[RunResult, RunResult, World, int]:
        world = World()
        parked = await world.start()
        (ask,) = await world.journal.asks(root=ROOT)
        await world.desk.answer(ask.ask, Reply(option="approve"))
        return parked, await world.resume(), world, len(await world.bodies(ROOT, ev.ChildSpawned))

    parked, ended, world, spawned = go(story())
    assert parked.end_reason is EndReason.WAITING
    assert [(ask.prompt, ask.origin) for ask in parked.waits_for] == [("Run change?", ("helper",))]
    assert (ended.end_reason, ended.output) == (EndReason.ANSWERED, "done")
    assert world.changes == ["shelf"]
    assert spawned == 1


def test_questions_of_all_agents_below_stand_under_the_root_and_are_answered_in_any_order() -> None:
    async def story() -> tuple[int, list[EndReason], World]:
        world = World(calls=2)
        await world.start()
        asks = await world.journal.asks(root=ROOT)
        ends = []
        for ask in reversed(asks):
            await world.desk.answer(ask.ask, Reply(option="approve"))
            ends.append((await world.resume()).end_reason)
        return len(asks), ends, world

    asked, ends, world = go(story())
    assert (asked, ends) == (2, [EndReason.WAITING, EndReason.ANSWERED])
    assert world.changes == ["shelf", "shelf"]


# H 93
def test_a_run_that_waits_for_an_agent_stays_so_when_another_question_is_closed() -> None:
    async def story() -> tuple[EndReason, int]:
        world = World(calls=2)
        await world.start()
        first, _ = await world.journal.asks(root=ROOT)
        await world.desk.withdraw(first.ask, "never mind")
        result = await world.resume()
        return result.end_reason, len(await world.journal.asks(root=ROOT))

    assert go(story()) == (EndReason.WAITING, 1)


# H 178
def test_cancelling_a_run_that_nobody_drives_ends_those_below_it_and_closes_their_questions() -> None:
    async def story() -> tuple[RunResult, list[ev.Body], list[ev.Body], int, World]:
        world = World()
        await world.start()
        (ask,) = await world.journal.asks(root=ROOT)
        await world.journal.post(ROOT, ev.CancelRequested("enough"), PERSON, "cancel")
        result = await world.resume()
        closed = await world.bodies(ask.session, ev.AskClosed)
        ended = await world.bodies(ask.session, ev.RunEnded)
        return result, closed, ended, len(await world.journal.asks(root=ROOT)), world

    result, closed, ended, still_open, world = go(story())
    assert result.end_reason is EndReason.CANCELLED
    assert [one.outcome for one in closed if isinstance(one, ev.AskClosed)] == [AskOutcome.WITHDRAWN]
    assert [one.reason for one in ended if isinstance(one, ev.RunEnded)] == [EndReason.CANCELLED]
    assert still_open == 0
    assert world.changes == []


# H 178
def test_a_run_that_is_ended_without_anybody_to_drive_it_ends_those_below_it_too() -> None:
    async def story() -> tuple[bool, int, list[str]]:
        world = World()
        await world.start()
        await world.journal.post(ROOT, ev.CancelRequested("enough"), PERSON, "cancel")
        is_ended = await cancel_left(Session(ROOT, world.journal))
        rows = await world.journal.runs()
        return is_ended, len(await world.journal.asks(root=ROOT)), [row.status for row in rows]

    assert go(story()) == (True, 0, ["ended", "ended"])


@pytest.mark.parametrize("wish", [ev.StopRequested("enough"), ev.CancelRequested("enough")], ids=["stop", "cancel"])
def test_an_answer_counts_that_was_accepted_before_the_run_above_was_ended(wish: Posted) -> None:
    async def story() -> tuple[list[ev.Body], int, World]:
        world = World()
        await world.start()
        (ask,) = await world.journal.asks(root=ROOT)
        await world.desk.answer(ask.ask, Reply(option="approve"))
        await world.journal.post(ROOT, wish, PERSON, "wish")
        await world.resume()
        events = await world.journal.read(ask.session)
        left = await world.journal.inbox(ask.session, max(event.inbox or 0 for event in events))
        return [event.body for event in events], len(left), world

    bodies, left, world = go(story())
    assert [one.outcome for one in bodies if isinstance(one, ev.AskClosed)] == [AskOutcome.ANSWERED]
    (result,) = [one.refusal for one in bodies if isinstance(one, ev.ToolFinished)]
    assert result is not None and result.kind is RefusalKind.NOT_RUN
    assert (left, world.changes) == (0, [])


def test_an_answer_that_closes_nothing_is_refused_when_the_run_is_ended_without_anybody_to_drive_it() -> None:
    async def story() -> tuple[list[ev.Body], list[ev.Body]]:
        world = World()
        await world.start()
        (ask,) = await world.journal.asks(root=ROOT)
        no_rule = ev.AskClosed(ask=ask.ask, outcome=AskOutcome.ANSWERED, is_allowed=True, rule={"tool": 5})
        await world.journal.post(ask.session, no_rule, PERSON, "answer")
        await world.journal.post(ROOT, ev.CancelRequested("enough"), PERSON, "cancel")
        await cancel_left(Session(ROOT, world.journal))
        return await world.bodies(ask.session, ev.EntryRefused), await world.bodies(ask.session, ev.AskClosed)

    refused, closed = go(story())
    assert len(refused) == 1
    assert [one.outcome for one in closed if isinstance(one, ev.AskClosed)] == [AskOutcome.WITHDRAWN]


@pytest.mark.parametrize("wish", [ev.StopRequested("enough"), ev.CancelRequested("enough")], ids=["stop", "cancel"])
def test_a_call_whose_agent_waited_and_was_ended_is_not_called_unknown(wish: Posted) -> None:
    async def story() -> tuple[list[ev.Body], list[ev.Body]]:
        world = World()
        await world.start()
        await world.journal.post(ROOT, wish, PERSON, "wish")
        await world.resume()
        return await world.bodies(ROOT, ev.ToolOutcomeUnknown), await world.bodies(ROOT, ev.ToolFinished)

    unknown, (finished,) = go(story())
    assert unknown == []
    assert isinstance(finished, ev.ToolFinished) and finished.refusal is not None
    assert (finished.is_error, finished.refusal.kind) == (True, RefusalKind.INTERRUPTED)
    assert "the agent it had started was ended" in str(finished.content)


def test_a_stop_waits_for_no_person_that_an_agent_below_has_asked() -> None:
    async def story() -> tuple[EndReason, list[ev.Body], int]:
        world = World()
        options = RunOptions(journal=world.journal, approver=HOLD, answerer=HOLD)
        run = world.boss().start("go", options, session=Session(ROOT, world.journal))
        while not await world.journal.asks(root=ROOT):
            await asyncio.sleep(0)
        run.stop("enough")
        result = await run
        return (
            result.end_reason,
            await world.bodies(ROOT, ev.ToolOutcomeUnknown),
            len(await world.journal.asks(root=ROOT)),
        )

    assert go(story()) == (EndReason.STOP_REQUESTED, [], 0)


# H 177
def test_a_paused_run_pauses_those_below_it_and_they_go_on_with_it() -> None:
    async def story() -> tuple[EndReason, list[str], EndReason]:
        world = World()
        await world.start()
        (ask,) = await world.journal.asks(root=ROOT)
        await world.journal.post(ROOT, ev.PauseRequested("wait"), PERSON, "pause")
        await world.desk.answer(ask.ask, Reply(option="approve"))
        paused = await world.resume()
        meanwhile = list(world.changes)
        await world.journal.post(ROOT, ev.ResumeRequested(), PERSON, "resume")
        return paused.end_reason, meanwhile, (await world.resume()).end_reason

    assert go(story()) == (EndReason.WAITING, [], EndReason.ANSWERED)


def test_leaving_a_run_lets_what_runs_below_it_land_first() -> None:
    async def story() -> tuple[EndReason, list[str], RunResult, list[str]]:
        journal, begun, may_end = MemoryJournal(), asyncio.Event(), asyncio.Event()
        done: list[str] = []

        @tool
        async def work(place: str) -> str:
            """Work at a place."""
            begun.set()
            await may_end.wait()
            done.append(place)
            return "worked"

        def boss() -> Agent:
            helper = Agent(
                model=ScriptedModel([call("work", place="desk"), "helped"], name="helper"), tools=[work], name="helper"
            )
            return Agent(model=ScriptedModel([call("Spawn", prompt="help"), "done"]), tools=[spawn_tool(helper)])

        options = RunOptions(journal=journal)
        run = boss().start("go", options)
        await begun.wait()
        run.park()
        may_end.set()
        left = await run
        landed = list(done)
        result = await boss().resume(run.session, options)
        return left.end_reason, landed, result, done

    left, landed, result, done = go(story())
    assert left is EndReason.WAITING
    assert landed == ["desk"]
    assert (result.end_reason, result.output) == (EndReason.ANSWERED, "done")
    assert done == ["desk"]
