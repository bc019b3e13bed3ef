"""Who carries the run of a story: a process that begins it, or goes on with it where the last one died.

The drill does not know how a run is driven. A carrier is a name and a coroutine that runs in a process of its own and
returns once the run is over; anything that drives runs over a journal can be put in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct

from handrail.agents.agent import Agent
from handrail.agents.approval import HOLD
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.agents.spawn import spawn_tool
from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision
from handrail.agents.tool import Question, Tool, ToolContext, tool
from handrail.journal.fold import fold
from handrail.journal.port import Journal
from handrail.models.scripted import ScriptedModel
from handrail.testing.drill.faults import Faults
from handrail.testing.drill.notes import Notes
from handrail.testing.drill.stories import PROMPT, SESSION, Story
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
    """The agent of a story, all of it watched; its helper has a model and tools of its own."""
    helper = Agent(
        model=WatchedModel(ScriptedModel(scene.story.helper, name="helper"), scene.faults, scene.notes),
        tools=_watched((look, change), "helper", scene),
        name="helper",
    )
    tools = (look, write, change, wonder, spawn_tool(helper, bounds=RunOptions()))
    return Agent(
        model=WatchedModel(ScriptedModel(scene.story.script), scene.faults, scene.notes),
        tools=_watched(tools, "agent", scene),
        name="agent",
    )


def options_of(scene: Scene) -> RunOptions:
    """Everybody is asked, nobody in this process answers: answers come through the inbox."""
    return RunOptions(
        journal=scene.journal,
        approver=HOLD,
        answerer=HOLD,
        strategies=(WatchedStrategy(LookAgain(), scene.faults),),
    )


def _watched(tools: tuple[Tool, ...], agent: str, scene: Scene) -> tuple[Tool, ...]:
    return tuple(watched_tool(one, agent, scene.faults, scene.notes) for one in tools)


async def carry(scene: Scene) -> None:
    """Begin the run, or go on with it; nothing to do once it is over."""
    events = await scene.journal.read(SESSION)
    agent, options = agent_of(scene), options_of(scene)
    session = Session(SESSION, scene.journal)
    if not events:
        await agent.run(PROMPT, options, session=session)
    elif fold(events).run is not None:
        await agent.resume(session, options)


OWN = Carrier(name="driver", carry=carry)
"""The loop of ``agents``, begun and resumed."""
