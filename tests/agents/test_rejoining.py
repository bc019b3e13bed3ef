"""Sub-agents over the death of what drove them: gone on with, never begun twice, never ended by who lost them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from handrail import Agent, EndReason, RunOptions, RunResult, ScriptedModel, Session, call, tool
from handrail.agents.approval import HOLD, PERSON
from handrail.agents.spawn import spawn_tool
from handrail.journal import events as ev
from handrail.journal.memory import MemoryJournal
from handrail.journal.port import StaleEpoch
from handrail.journal.vocabulary import AskOutcome
from handrail.models.scripted import Reply
from handrail.transcripts.model import Usage

from .stage import go, said

USAGE = Usage(input_tokens=10, output_tokens=5)


class World:
    """Counts what the tools of sub-agents did."""

    def __init__(self) -> None:
        self.changes: list[str] = []

    def boss(self) -> Agent:
        @tool(destructive=True)
        async def change(place: str) -> str:
            """Change a place."""
            self.changes.append(place)
            return f"{place} is changed"

        script = [Reply(content=(call("change", place="shelf"),), usage=USAGE), Reply(content=("helped",), usage=USAGE)]
        helper = Agent(model=ScriptedModel(script, name="helper"), tools=[change], name="helper")
        return Agent(model=ScriptedModel([call("Spawn", prompt="help"), "done"]), tools=[spawn_tool(helper)])


async def until_asked(journal: MemoryJournal) -> tuple[str, str]:
    """The session and id of the first open question."""
    while True:
        for session in await journal.sessions():
            for event in await journal.read(session):
                if isinstance(event.body, ev.AskOpened):
                    return session, event.body.ask
        await asyncio.sleep(0)


async def allow(journal: MemoryJournal, session: str, ask: str) -> None:
    body = ev.AskClosed(ask=ask, outcome=AskOutcome.ANSWERED, is_allowed=True)
    await journal.post(session, body, PERSON, "yes")


def bodies(events: Sequence[ev.Event], kind: type[ev.Known]) -> list[ev.Body]:
    return [event.body for event in events if isinstance(event.body, kind)]


def test_a_sub_agent_is_gone_on_with_by_who_takes_its_parent_over() -> None:
    async def story() -> tuple[RunResult, Sequence[ev.Event], World]:
        journal, world = MemoryJournal(), World()
        options = RunOptions(journal=journal, approver=HOLD)
        first = world.boss().start("go", options)
        child, ask = await until_asked(journal)
        second = World.boss(world).resume(first.session, options)
        await allow(journal, child, ask)
        result = await second
        with pytest.raises(StaleEpoch):
            first.stop()
            await first
        return result, await journal.read(first.session.id), world

    result, events, world = go(story())
    assert said(result.transcript.body)[-2:] == ["user: [helped]", "assistant: done"]
    assert world.changes == ["shelf"]
    assert len(bodies(events, ev.ChildSpawned)) == 1
    ended = bodies(events, ev.ChildEnded)
    assert [(one.reason, one.tokens) for one in ended if isinstance(one, ev.ChildEnded)] == [(EndReason.ANSWERED, 30)]


def test_who_was_taken_over_sends_nothing_to_the_sub_agent_it_lost() -> None:
    async def story() -> tuple[list[str], Sequence[ev.Event]]:
        journal, world = MemoryJournal(), World()
        options = RunOptions(journal=journal, approver=HOLD)
        first = world.boss().start("go", options)
        child, _ = await until_asked(journal)
        await journal.take_over(first.session.id)
        first.steer("are you there?")
        with pytest.raises(StaleEpoch):
            await first
        return [entry.key for entry in await journal.inbox(child)], await journal.read(child)

    sent, events = go(story())
    assert sent == []
    assert bodies(events, ev.RunEnded) == []


@pytest.mark.parametrize("kept", ["child_spawned", "child_ended"])
def test_a_sub_agent_is_begun_once_and_counted_once_wherever_its_parent_died(kept: str) -> None:
    """Cut off after the event ``kept``: before the sub-agent began, and after it had ended and was counted."""

    async def story() -> tuple[Sequence[ev.Event], RunResult, World]:
        world, whole, cut = World(), MemoryJournal(), MemoryJournal()
        first = world.boss().start("go", RunOptions(journal=whole, approver=HOLD))
        child, ask = await until_asked(whole)
        await allow(whole, child, ask)
        await first
        events = await whole.read(first.session.id)
        kind = ev.ChildSpawned if kept == "child_spawned" else ev.ChildEnded
        last = next(event.seq for event in events if isinstance(event.body, kind))
        await cut.append(first.session.id, 0, await cut.take_over(first.session.id), events[:last])
        if kind is ev.ChildEnded:
            helped = await whole.read(child)
            await cut.append(child, 0, await cut.take_over(child), helped)
        second = world.boss().resume(Session(first.session.id, cut), RunOptions(journal=cut, approver=HOLD))
        if kind is ev.ChildSpawned:
            again, ask = await until_asked(cut)
            assert again == child
            await allow(cut, child, ask)
        result = await second
        return await cut.read(first.session.id), result, world

    events, result, world = go(story())
    assert result.output == "done"
    assert len(bodies(events, ev.ChildSpawned)) == len(bodies(events, ev.ChildEnded)) == 1
    assert world.changes == ["shelf"] * (2 if kept == "child_spawned" else 1)
    assert result.tokens == 30
