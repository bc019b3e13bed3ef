"""Who carries the run of a story: a process that begins it, or goes on with it where the last one died.

The drill does not know how a run is driven. A carrier is a name and a coroutine that runs in a process of its own and
returns once the run is over; anything that drives runs over a journal can be put in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from handrail.agents.agent import Agent
from handrail.agents.approval import HOLD
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.agents.run import Run
from handrail.agents.spawn import spawn_tool
from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision
from handrail.agents.tool import Question, Tool, ToolContext, tool
from handrail.blueprints.model import Blueprint
from handrail.journal.fold import fold
from handrail.journal.port import Journal
from handrail.journal.vocabulary import EndReason
from handrail.models.scripted import ScriptedModel
from handrail.runs.stages import resume_blueprint, start_blueprint
from handrail.testing.drill.faults import Faults
from handrail.testing.drill.notes import Notes
from handrail.testing.drill.stories import LOOKS_EVERY_S, PROMPT, SESSION, Story
from handrail.testing.drill.wrapped import WatchedModel, WatchedStrategy, watched_tool


class Scene(Struct, frozen=True, kw_only=True):
    """What a carrier is given: the story, its journal (already watched), and where to say how far it has come.

    ``folder`` is where the journal is, for a carrier that opens it by itself.
    """

    story: Story
    journal: Journal
    faults: Faults
    notes: Notes
    folder: Path


class Carrier(Struct, frozen=True, kw_only=True):
    """``carry`` begins or goes on with the run of a scene, in a process that may die at any moment.

    ``crew`` is how many processes do that at once.
    """

    name: str
    carry: Callable[[Scene], Awaitable[None]]
    crew: int = 1


# What the agents of the stories work with -------------------------------------------------------------------


@tool(parallel=True, twice_is_safe=True)
async def look(place: str) -> str:
    """Look at a place."""
    return f"{place} is full"


@tool
async def write(place: str) -> str:
    """Write a place into the book."""
    return f"{place} is written down"


@tool(destructive=True)
async def change(place: str) -> str:
    """Change a place."""
    return f"{place} is changed"


@tool(twice_is_safe=True)
async def wonder(question: str, context: ToolContext) -> str:
    """Ask the person."""
    if context.ask is None:
        return "there is nobody to ask"
    answer = await context.ask(Question(prompt=question))
    return f"they said: {answer.text}"


class LookAgain:
    """Asks for one more look where the run would end for the first time; all it knows is in what it is asked."""

    async def on_round(self, ctx: RoundContext) -> RoundDecision | None:
        if ctx.boundary is RoundBoundary.ASSISTANT_MESSAGE_COMMITTED and ctx.injections == 0:
            return RoundDecision.inject("Look once more.")
        return None


# Handrail's own driver --------------------------------------------------------------------------------------


def agent_of(scene: Scene) -> Agent:
    """The agent of a story, all of it watched; each helper has a model and tools of its own."""
    helpers = {name: _agent(scene, name, script, (look, change)) for name, script in scene.story.helpers.items()}
    spawning = (spawn_tool(helpers, bounds=RunOptions()),) if helpers else ()
    return _agent(scene, "agent", scene.story.script, (look, write, change, wonder, *spawning))


def _agent(scene: Scene, name: str, script: Sequence[Any], tools: tuple[Tool, ...]) -> Agent:
    return Agent(
        model=WatchedModel(ScriptedModel(script), scene.faults, scene.notes),
        tools=tuple(watched_tool(one, name, scene.faults, scene.notes) for one in tools),
        name=name,
    )


def options_of(scene: Scene, *, parks: bool = False) -> RunOptions:
    """Everybody is asked, nobody in this process answers: answers come through the inbox."""
    return RunOptions(
        journal=scene.journal,
        approver=HOLD,
        answerer=HOLD,
        parks=parks,
        strategies=(WatchedStrategy(LookAgain(), scene.faults),),
    )


async def run_of(scene: Scene, options: RunOptions) -> Run | None:
    """The run of the story, begun or gone on with; None once it is over."""
    events = await scene.journal.read(SESSION)
    agent, session, blueprint = agent_of(scene), Session(SESSION, scene.journal), scene.story.blueprint
    if not events:
        if blueprint is None:
            return agent.start(PROMPT, options, session=session)
        return start_blueprint(Blueprint.model_validate(blueprint), PROMPT, agent, options, session=session)
    if fold(events).run is None:
        return None
    if blueprint is None:
        return agent.resume(session, options)
    return await resume_blueprint(session, agent, options)


async def carry(scene: Scene) -> None:
    """Carry the run in one go: where it waits for somebody, this process waits with it."""
    run = await run_of(scene, options_of(scene))
    if run is not None:
        await run


async def carry_parked(scene: Scene) -> None:
    """Carry the run from one question to the next: nothing of it is in memory while it waits."""
    while (run := await run_of(scene, options_of(scene, parks=True))) is not None:
        if (await run).end_reason is not EndReason.WAITING:
            return
        while not await has_post(scene.journal):
            await asyncio.sleep(LOOKS_EVERY_S)


async def has_post(journal: Journal) -> bool:
    """Whether somebody has sent something, to the run or to an agent below it, that no driver has taken yet."""
    for session in await journal.sessions():
        taken = fold(await journal.read(session)).inbox
        if await journal.inbox(session, taken):
            return True
    return False


OWN = Carrier(name="driver", carry=carry)
PARKING = Carrier(name="parking driver", carry=carry_parked)

CARRIERS = (OWN, PARKING)
"""The ways in which this release carries runs."""
