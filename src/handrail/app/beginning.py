"""How a run begins, or goes on: who runs it and what it is told, made of an order and of what stands in the journal.

Loads the tools, so it needs the extra ``agents``; whoever imports it has made sure that it is there.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from handrail import ids
from handrail.agents.agent import Agent
from handrail.agents.content import Content, blocks_of
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.agents.run import Run
from handrail.agents.spawn import spawn_tool
from handrail.app.blueprint_running import (
    Casting,
    begin_blueprint,
    blueprint_of,
    cast,
    go_on_by_blueprint,
    offered,
)
from handrail.app.blueprinting import load_blueprint
from handrail.app.ordering import Order
from handrail.app.outfitting import Outfit
from handrail.blueprints.model import Blueprint
from handrail.errors import HandrailError, UnknownName
from handrail.journal.board import JournalWithBoard, RunNotFound
from handrail.journal.events import InputReceived
from handrail.journal.refusals import author_of
from handrail.journal.state import State
from handrail.journal.vocabulary import AskKind, EndReason
from handrail.models.names import model_from_name
from handrail.models.port import Model, close
from handrail.runs.stages import Workers
from handrail.transcripts.model import Author, Taint, Text, Via
from handrail.workspace.discovery import Workspace

MODEL_VARIABLE = "HANDRAIL_MODEL"
"""The environment variable that names the model where none is named otherwise."""

WORKER = "worker"
"""What the agent is called that work is handed to."""

_CUT_OFF = "a run of this session was cut off: it is gone on with first"
_UNKNOWN = "nobody recorded what was seen before: what sends data out is refused; --sends ask asks you instead"


class NothingToRun(HandrailError):
    """There is no task, and no run of the session that could be gone on with without one."""

    code = "nothing_to_run"
    exit_code = 2


class Crew(Struct, frozen=True, kw_only=True):
    """Who does the work: the model, the one of agents that are started, the models a blueprint names."""

    name: str
    model: Model
    worker: Model
    casting: Casting = Casting()

    async def close(self) -> None:
        """Let go of all of them."""
        for one in {id(one): one for one in (self.model, self.worker, *self.casting.models)}.values():
            await close(one)


class Beginning(Struct, frozen=True, kw_only=True):
    """A run that is about to begin in ``session``, which has come to ``state``."""

    order: Order
    session: Session
    journal: JournalWithBoard
    state: State
    blueprint: Blueprint | None

    @property
    def goes_on(self) -> bool:
        """Whether a run of the session is open."""
        return self.state.run is not None

    async def begin(self, agent: Agent, task: Content, options: RunOptions, workers: Workers) -> Run:
        """Start, go on with what was left, or answer what is waited for; raises ``NothingToRun`` where it is none.

        ``workers`` are those that stages of a blueprint may hand work to.
        """
        has_task = bool(self.order.task.strip())
        if self.goes_on:
            if has_task:
                await self._send(task, options)
            if self.blueprint is None:
                return agent.resume(self.session, options)
            return await go_on_by_blueprint(self.blueprint, self.order, agent, options, self.session, workers)
        if not has_task and await self._is_answered():
            return agent.resume(self.session, options)
        if not has_task:
            raise NothingToRun("there is nothing to do", hint="say what, as in: handrail run 'fix the tests'")
        if self.blueprint is not None:
            return await begin_blueprint(self.blueprint, agent, task, options, self.session, workers)
        if any(ask.kind is AskKind.PAUSE for ask in self.state.asks):
            return agent.resume(self.session, options, answer=self.order.task)
        return agent.start(task, options, session=self.session)

    async def _send(self, task: Content, options: RunOptions) -> None:
        """Send the task to the run that is open, before it goes on: it may have no more than an end to come to."""
        key = ids.new_uuid7()
        blocks = blocks_of(task, author_of(options.by), Via.FOLLOW_UP, options.by.name)
        sent = InputReceived(input=key, via="follow_up", content=blocks)
        await self.journal.post(self.session.id, sent, options.by, key)

    async def _is_answered(self) -> bool:
        """Whether a strategy paused the last run, and its question was answered since."""
        try:
            row = await self.journal.run(self.session.id)
        except RunNotFound:
            return False
        waits = await self.journal.asks(session=self.session.id, kind=AskKind.PAUSE)
        return row.reason is EndReason.WAITING and not waits


async def beginning(
    order: Order, environment: Mapping[str, str], session: Session, journal: JournalWithBoard, state: State
) -> Beginning:
    """What begins by ``order`` in ``session``; raises as ``load_blueprint`` and ``frozen_blueprint``."""
    run = state.run
    if run is not None and run.started.blueprint is None and order.blueprint is not None:
        raise UnknownName(
            f"the open run of session {session.id} is no run of a blueprint", hint="leave --blueprint out"
        )
    obeys = session if run is not None and run.started.blueprint is not None else None
    blueprint = await blueprint_of(order, environment, obeys)
    return Beginning(order=order, session=session, journal=journal, state=state, blueprint=blueprint)


def crew_of(order: Order, blueprint: Blueprint | None, environment: Mapping[str, str]) -> Crew:
    """The models of a run: that of ``order`` or of the environment, else the first that the blueprint names.

    ``UnknownName`` where none is named, and whatever making one raises.
    """
    casting = Casting() if blueprint is None else cast(blueprint, environment)
    name = order.model or environment.get(MODEL_VARIABLE)
    if name:
        model = model_from_name(name, base_url=order.base_url, environ=environment)
    elif casting.models:
        model = casting.models[0]
    else:
        hint = f"--model PROVIDER:NAME, local or scripted:FILE, or set {MODEL_VARIABLE}"
        raise UnknownName("no model is named", hint=" ".join((*casting.notices, hint)))
    worker = model if order.worker is None else model_from_name(order.worker, environ=environment)
    return Crew(name=name or model.info.name, model=model, worker=worker, casting=casting)


def agent_of(crew: Crew, begins: Beginning, outfit: Outfit) -> tuple[Agent, Content]:
    """The agent, with one it can hand work to, and the task as it is put to it."""
    content, taint = _prompt(begins.order.task, outfit.workspace)
    helper = _helper(crew, outfit)
    agent = Agent(
        model=crew.model,
        tools=(*outfit.tools, spawn_tool(helper)),
        instructions=outfit.instructions,
        models=outfit.models,
        taint=outfit.taint | taint,
    )
    return agent if begins.blueprint is None else offered(agent, crew.casting), content


def workers_of(crew: Crew, begins: Beginning, outfit: Outfit, environment: Mapping[str, str]) -> Workers:
    """Whom stages of a blueprint may hand work to: the agent ``worker``, and blueprints by name or file."""
    workspace = begins.order.workspace
    return Workers(
        agents={WORKER: _helper(crew, outfit)},
        blueprint=lambda name: load_blueprint(name, workspace=workspace, environment=environment),
    )


def _helper(crew: Crew, outfit: Outfit) -> Agent:
    return Agent(
        model=crew.worker, tools=outfit.tools, instructions=outfit.instructions, name=WORKER, taint=outfit.taint
    )


def notices_of(begins: Beginning, crew: Crew, options: RunOptions) -> tuple[str, ...]:
    """Sentences about what is not as one may expect."""
    is_cut_off = begins.state.run is not None and not begins.state.asks and not begins.state.run.is_paused
    has_gap = begins.state.taint is None and options.gate.taint.armed == "block"
    return (
        *((_CUT_OFF,) if is_cut_off else ()),
        *((_UNKNOWN,) if has_gap else ()),
        *crew.casting.notices,
    )


def _prompt(task: str, workspace: Workspace) -> tuple[Content, Taint]:
    """The task as it is put to the model; ``/NAME …`` is the prompt template of that name, filled in."""
    from handrail.workspace.templates import expand

    name, _, arguments = task.removeprefix("/").partition(" ")
    template = next((one for one in workspace.templates if task.startswith("/") and one.name == name), None)
    if template is None:
        return task, Taint()
    return Text(expand(template, arguments), Author.HOST, by=name), Taint(untrusted=not template.is_trusted)
