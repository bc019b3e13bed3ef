"""A run that a strategy paused, answered while no process had it open."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import Agent, MemoryJournal, RoundDecision, RunOptions, ScriptedModel
from handrail.agents.opening import NotStartable
from handrail.journal.events import AskClosed, RunStarted
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, AskOutcome

ANN = Actor(ActorKind.PERSON, "ann")


class AsksOnce:
    """Asks at the first answer."""

    def __init__(self) -> None:
        self.has_asked = False

    def on_round(self, context: Any) -> RoundDecision:
        if self.has_asked:
            return RoundDecision.proceed()
        self.has_asked = True
        return RoundDecision.pause("Which colour?")


async def _paused(journal: MemoryJournal, agent: Agent) -> Any:
    return await agent.run("paint", RunOptions(strategies=[AsksOnce()], journal=journal))


def test_a_paused_run_that_was_answered_through_the_inbox_is_gone_on_with_by_resuming() -> None:
    async def story() -> None:
        journal, agent = MemoryJournal(), Agent(model=ScriptedModel(["I ask.", "Painted red."]))
        waiting = await _paused(journal, agent)
        (ask,) = await journal.asks(kind=AskKind.PAUSE)
        answer = AskClosed(ask=ask.ask, outcome=AskOutcome.ANSWERED, words="red")
        await journal.post(ask.session, answer, ANN, "answer")
        result = await agent.resume(waiting.session)
        assert (result.output, result.end_reason) == ("Painted red.", "answered")
        starts = [one.body for one in await journal.read(ask.session) if isinstance(one.body, RunStarted)]
        assert [start.continues for start in starts] == [None, starts[0].run]

    asyncio.run(story())


def test_a_paused_run_that_nobody_answered_is_not_gone_on_with() -> None:
    async def story() -> None:
        journal, agent = MemoryJournal(), Agent(model=ScriptedModel(["I ask.", "Painted red."]))
        waiting = await _paused(journal, agent)
        with pytest.raises(NotStartable):
            await agent.resume(waiting.session)

    asyncio.run(story())


def test_what_the_host_was_asked_for_is_recorded_with_the_start() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        order = {"allow": ["Write"]}
        result = await Agent(model=ScriptedModel(["Yes."])).run("go", RunOptions(journal=journal, order=order))
        starts = [one.body for one in await journal.read(result.session.id) if isinstance(one.body, RunStarted)]
        assert [start.order for start in starts] == [order]

    asyncio.run(story())
