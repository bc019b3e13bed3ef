"""Runs that are paused, parked while people are asked elsewhere, and left by a process that has to go."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import (
    Agent,
    Approve,
    Gate,
    MemoryJournal,
    Policy,
    RemoteRun,
    RunOptions,
    RunResult,
    ScriptedModel,
    Verdict,
    call,
    resume_blueprint,
    tool,
)
from handrail.agents.approval import HOLD
from handrail.agents.opening import NotStartable
from handrail.agents.result import Session
from handrail.agents.tool import Question, ToolContext
from handrail.journal import events as ev
from handrail.journal.port import Posted
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, AskOutcome, EndReason
from handrail.models.port import ModelRequest
from handrail.models.scripted import Item
from handrail.transcripts.model import RefusalKind

from .stage import go

ANN = Actor(ActorKind.PERSON, "ann")
WAITING, ANSWERED = EndReason.WAITING, EndReason.ANSWERED


def wiping(ran: list[str]) -> Any:
    @tool(destructive=True)
    async def wipe() -> str:
        """Wipe it."""
        ran.append("wiped")
        return "wiped"

    return wipe


async def bodies(journal: MemoryJournal, *kinds: type[Any]) -> list[Any]:
    return [event.body for event in await journal.read("s1") if isinstance(event.body, kinds)]


def test_a_held_approval_parks_the_run_with_the_question_and_the_call_runs_once_it_was_answered() -> None:
    ran: list[str] = []
    script: list[Item] = [call("wipe"), "done"]

    async def story() -> tuple[RunResult, list[str], EndReason]:
        journal = MemoryJournal()
        agent = Agent(model=ScriptedModel(script), tools=[wiping(ran)])
        options = RunOptions(parks=True, approver=HOLD)
        session = Session("s1", journal)
        parked = await agent.run("go", options, session=session)
        for _ in range(2):
            assert WAITING == (await agent.resume(session, options)).end_reason
        before = list(ran)
        closed = ev.AskClosed(ask=parked.waits_for[0].ask, outcome=AskOutcome.ANSWERED, is_allowed=True)
        await journal.post("s1", closed, ANN, "a1")
        return parked, before, (await agent.resume(session, options)).end_reason

    parked, before, ended = go(story())
    assert (WAITING, AskKind.APPROVAL, "Run wipe?") == (parked.end_reason, parked.waits_for[0].kind, parked.question)
    assert ([], ["wiped"], ANSWERED) == (before, ran, ended)


@pytest.mark.parametrize("wish", [ev.StopRequested("enough"), ev.CancelRequested("enough")], ids=["stop", "cancel"])
def test_a_parked_question_that_is_not_waited_for_any_more_leaves_nothing_unknown(wish: Posted) -> None:
    @tool(twice_is_safe=True)
    async def wonder(context: ToolContext) -> str:
        """Ask the person."""
        assert context.ask is not None
        return str((await context.ask(Question(prompt="Which way?"))).text)

    async def story() -> tuple[RunResult, list[Any], list[Any]]:
        journal = MemoryJournal()
        agent = Agent(model=ScriptedModel([call("wonder"), "done"]), tools=[wonder])
        options, session = RunOptions(parks=True, answerer=HOLD), Session("s1", journal)
        assert WAITING == (await agent.run("go", options, session=session)).end_reason
        await journal.post("s1", wish, ANN, "wish")
        result = await agent.resume(session, options)
        return result, await bodies(journal, ev.ToolOutcomeUnknown), await bodies(journal, ev.ToolFinished)

    result, unknown, (finished,) = go(story())
    assert result.end_reason in (EndReason.STOP_REQUESTED, EndReason.CANCELLED)
    assert unknown == []
    assert (finished.is_error, finished.refusal.kind) == (True, RefusalKind.INTERRUPTED)


def test_without_anybody_to_hold_it_for_a_call_that_needs_a_yes_is_still_refused() -> None:
    ran: list[str] = []

    async def story() -> EndReason:
        agent = Agent(model=ScriptedModel([call("wipe"), "done"]), tools=[wiping(ran)])
        return (await agent.run("go", RunOptions(parks=True))).end_reason

    assert (ANSWERED, []) == (go(story()), ran)


def test_an_approver_in_this_process_is_waited_for_and_nothing_parks() -> None:
    async def approver(request: Any) -> Approve:
        await asyncio.sleep(0)
        return Approve()

    ran: list[str] = []

    async def story() -> EndReason:
        agent = Agent(model=ScriptedModel([call("wipe"), "done"]), tools=[wiping(ran)])
        return (await agent.run("go", RunOptions(parks=True, approver=approver))).end_reason

    assert (ANSWERED, ["wiped"]) == (go(story()), ran)


@pytest.mark.parametrize("door", ["handle", "remote"])
def test_a_paused_run_lets_the_reply_land_and_does_not_run_its_calls_until_it_is_resumed(door: str) -> None:
    ran: list[str] = []

    async def story() -> tuple[list[str], int, EndReason]:
        journal = MemoryJournal()
        session = Session("s1", journal)
        remote = RemoteRun(session)

        async def pausing(request: ModelRequest) -> Any:
            # Whoever sends it, it stands in the inbox before the reply does.
            await (remote.pause("lunch") if door == "remote" else _taken(run.pause("lunch"), journal))
            return call("wipe")

        agent = Agent(model=ScriptedModel([pausing, "done"]), tools=[wiping(ran)])
        run = agent.start("go", RunOptions(parks=True, approver=None, gate=_allowing()), session=session)
        assert WAITING == (await run).end_reason
        before, replies = list(ran), len(await bodies(journal, ev.ModelReplied))
        await remote.resume()
        return before, replies, (await agent.resume(session, RunOptions(gate=_allowing()))).end_reason

    assert ([], 1, ANSWERED) == go(story())
    assert ["wiped"] == ran


async def _taken(receipt: Any, journal: MemoryJournal) -> None:
    while not await journal.inbox("s1"):
        await asyncio.sleep(0)


def _allowing() -> Any:
    return Gate(policy=Policy(consequential=Verdict.ALLOW))


def test_a_process_that_has_to_go_leaves_the_run_open_for_another_and_records_nothing_of_it() -> None:
    async def story() -> tuple[EndReason, int, EndReason, list[str]]:
        journal = MemoryJournal()
        session = Session("s1", journal)

        async def leaving(request: ModelRequest) -> str:
            run.park()
            return "half way"

        agent = Agent(model=ScriptedModel([leaving, "on"]))
        run = agent.start("go", RunOptions(), session=session)
        left = (await run).end_reason
        seq = len(await journal.read("s1"))
        after = await agent.resume(session)
        kinds = [type(event.body).__name__ for event in await journal.read("s1")]
        return left, seq, after.end_reason, kinds

    left, seq, ended, kinds = go(story())
    assert (WAITING, ANSWERED) == (left, ended)
    assert "ModelReplied" == kinds[seq - 1]
    assert ["DriverTookOver", "RunEnded"] == kinds[seq:]


def test_a_plain_run_is_not_driven_by_a_blueprint_s_rules_nor_the_other_way_round() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        session = Session("s1", journal)
        agent = Agent(model=ScriptedModel([call("wipe"), "done"]), tools=[wiping([])])
        await agent.run("go", RunOptions(parks=True, approver=HOLD), session=session)
        with pytest.raises(NotStartable, match="blueprint"):
            await resume_blueprint(session, agent)

    go(story())
