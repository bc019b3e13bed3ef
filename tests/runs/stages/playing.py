"""A run of a blueprint, played with a scripted model: parked at each question, answered at the desk, gone on with.

Each answer is followed by a resume with a new machine and a new driver, so that every test also says that a run goes
on from its events alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from handrail import Agent, MemoryJournal, RunOptions, RunResult, ScriptedModel, Tool, ToolOutput, tool
from handrail.agents.approval import HOLD
from handrail.agents.result import Session
from handrail.blueprints.model import Blueprint
from handrail.clock import Clock
from handrail.journal import events as ev
from handrail.journal.board import JournalWithBoard
from handrail.journal.fold import fold
from handrail.journal.state import State
from handrail.journal.vocabulary import Actor, ActorKind, EndReason, RegionEntry
from handrail.models.port import Model, ModelRequest
from handrail.models.scripted import Item
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Desk
from handrail.runs.stages import Progress, progress_of, resume_blueprint, start_blueprint
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Author, Text

Value = TypeVar("Value")

ANN, BEN = Actor(ActorKind.PERSON, "ann"), Actor(ActorKind.PERSON, "ben")

APPROVE, REVISE, EDIT, ABORT = "Approve", "Revise - I'll describe changes", "Edit", "Abort"
DIRECTIVE = "Ask what to change, then plan again."

POINT: Mapping[str, Any] = {
    "name": "plan_approval",
    "prompt": "Approve the plan?",
    "style": "multiple_choice",
    "options": [APPROVE, REVISE, EDIT, ABORT],
    "directives": {REVISE: DIRECTIVE},
    "edit_options": [EDIT],
    "abort_options": [ABORT],
    "document_region": "plan",
}

PLAN_REGION: Mapping[str, Any] = {"kind": "pinned", "name": "plan"}


def stage(name: str, **more: Any) -> dict[str, Any]:
    """A stage as plain data."""
    return {"name": name, "instructions": f"This is {name}.", **more}


def blueprint(*stages: Mapping[str, Any], **more: Any) -> Blueprint:
    """A blueprint of ``stages``; one region, ``plan``, unless ``regions`` says otherwise."""
    plain = {"name": "test", "regions": [dict(PLAN_REGION)], **more, "stages": [dict(one) for one in stages]}
    return Blueprint.model_validate(plain)


def planned(*, point: Mapping[str, Any] | None = None, **more: Any) -> Blueprint:
    """Plan with a point, then build."""
    return blueprint(stage("plan", points=[{**POINT, **(point or {})}]), stage("build"), **more)


def go(story: Coroutine[Any, Any, Value]) -> Value:
    """Run ``story`` to its end; a story that hangs fails."""

    async def bounded() -> Value:
        async with asyncio.timeout(30):
            return await story

    return asyncio.run(bounded())


class Died(Exception):
    """What drove the run is gone."""


class Dying(MemoryJournal):
    """Whoever appends for the ``deaths``-th time dies of it: just before it is written, or just after."""

    def __init__(self, deaths: Iterable[int], *, is_written: bool) -> None:
        super().__init__(ManualClock())
        self.appends = 0
        self._deaths = set(deaths)
        self._is_written = is_written

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[ev.Event]) -> None:
        self.appends += 1
        is_dying = self.appends in self._deaths
        if not is_dying or self._is_written:
            await super().append(session, expected_seq, epoch, events)
        if is_dying:
            raise Died


class Play:
    """One run. ``model`` may be given in place of a ``script``; ``requests`` is everything any model was sent."""

    def __init__(
        self,
        blueprint: Blueprint,
        script: Sequence[Item] = (),
        *,
        journal: JournalWithBoard | None = None,
        tools: Sequence[Tool] = (),
        models: Sequence[Model] = (),
        clock: Clock | None = None,
        **options: Any,
    ) -> None:
        self.blueprint = blueprint
        self.clock = clock or ManualClock()
        self.journal = journal or MemoryJournal(self.clock)
        self.session = Session("s1", self.journal)
        self.desk = Desk(self.journal, ANN)
        self.script = ScriptedModel(script)
        self.agent = Agent(model=self.script, tools=tools, models=tuple(models), clock=self.clock)
        defaults = {"parks": True, "approver": HOLD, "answerer": HOLD, "by": ANN}
        self.options = RunOptions(**{**defaults, **options})
        self.result: RunResult | None = None

    @property
    def requests(self) -> list[ModelRequest]:
        return self.script.requests

    async def start(self, task: str = "do it") -> RunResult:
        self.result = await start_blueprint(self.blueprint, task, self.agent, self.options, session=self.session)
        return self.result

    async def resume(self, **options: Any) -> RunResult:
        given = RunOptions(**{**_fields(self.options), **options})
        self.result = await (await resume_blueprint(self.session, self.agent, given))
        return self.result

    async def reply(self, *, by: Actor = ANN, **reply: Any) -> RunResult:
        """Answer the oldest open question and go on."""
        await self.desk.answer((await self.asks())[0].ask, Reply(**reply), by=by)
        return await self.resume()

    async def asks(self) -> tuple[ev.AskOpened, ...]:
        return tuple(row.opened for row in await self.journal.asks())

    async def ask(self) -> ev.AskOpened:
        """The one open question."""
        (only,) = await self.asks()
        return only

    async def events(self, *kinds: type[Any]) -> list[Any]:
        """The bodies of those kinds, of all when none is named."""
        found = [event.body for event in await self.journal.read("s1")]
        return [body for body in found if not kinds or isinstance(body, kinds)]

    async def state(self) -> State:
        return fold(await self.journal.read("s1"))

    async def progress(self) -> Progress:
        return progress_of(await self.journal.read("s1"))

    async def plan(self) -> str:
        """What the region ``plan`` holds."""
        return "\n".join(entry.text for entry in (await self.progress()).regions.get("plan", ()))

    async def path(self) -> list[str]:
        """The stages in the order in which they were entered."""
        return [body.stage for body in await self.events(ev.StageEntered)]

    async def routes(self) -> list[str]:
        return [body.route.value for body in await self.events(ev.PointRouted)]

    @property
    def ended(self) -> EndReason | None:
        return None if self.result is None else self.result.end_reason


def _fields(options: RunOptions) -> dict[str, Any]:
    return {name: getattr(options, name) for name in options.__struct_fields__}


def host_words(request: ModelRequest) -> list[str]:
    """What the host said in the last delivery of ``request``."""
    blocks = request.messages[-1].content if request.messages else ()
    return [block.text for block in blocks if isinstance(block, Text) and block.author is Author.HOST]


@tool
async def look() -> str:
    """Look around."""
    return "seen"


@tool
async def scribble(text: str) -> ToolOutput:
    """Write the plan. text: what it says"""
    return ToolOutput("written", regions={"plan": (RegionEntry(text),)})


@tool
async def note(text: str) -> ToolOutput:
    """Write a note. text: what it says"""
    return ToolOutput("noted", regions={"notes": (RegionEntry(text),)})
