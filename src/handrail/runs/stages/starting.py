"""Starting a run of a blueprint, and going on with one: by the blueprint it was started with, or not at all."""

from __future__ import annotations

import difflib
import json

from msgspec.structs import replace

from handrail import ids, jsonio
from handrail.agents.agent import Agent
from handrail.agents.content import Content, blocks_of
from handrail.agents.launch import launch
from handrail.agents.opening import NotStartable, Prompt, Resume
from handrail.agents.options import RunOptions
from handrail.agents.orphans import end_agents
from handrail.agents.result import RunResult, Session
from handrail.agents.run import Run
from handrail.agents.work import Family
from handrail.agents.writer import Writer
from handrail.blueprints.check import problems
from handrail.blueprints.forms import digest_of, from_plain, to_plain
from handrail.blueprints.model import Blueprint
from handrail.blueprints.toml import BlueprintError, NoToml, render_toml
from handrail.clock import Clock, SystemClock
from handrail.errors import JournalError
from handrail.journal import events as ev
from handrail.journal.effects import End
from handrail.journal.ends import closing_events
from handrail.journal.fold import fold
from handrail.journal.refusals import author_of
from handrail.journal.vocabulary import EndReason
from handrail.runs.regions.seeding import Permit
from handrail.runs.stages.assembly import Assemble
from handrail.runs.stages.bounding import bounded
from handrail.runs.stages.machine import StageMachine
from handrail.runs.stages.progress import progress_of
from handrail.runs.stages.workers import Setting, Workers, machine_of
from handrail.transcripts.model import Block, Via


class BlueprintChanged(JournalError):
    """The run was started with another blueprint than the one that is given; ``diff`` says what differs, as TOML."""

    code = "blueprint_changed"
    exit_code = 2

    def __init__(self, name: str, diff: str) -> None:
        super().__init__(
            f"the blueprint {name} is not the one the run was started with:\n{diff}",
            hint="finish the run by the old one (resume it without a blueprint), or restart it with the new one",
        )
        self.diff = diff


def start_blueprint(
    blueprint: Blueprint,
    task: Content,
    agent: Agent | Assemble,
    options: RunOptions | None = None,
    *,
    session: Session | None = None,
    family: Family | None = None,
    permit: Permit | None = None,
    workers: Workers | None = None,
) -> Run:
    """Start a run of ``blueprint`` with ``task`` in the running loop and return its handle.

    ``agent`` offers what stages use: its model where the blueprint names none, its ``models`` that it may name, all
    tools, and instructions that stand before a stage's own; or it is a function that gives that for each stage. The
    bounds of ``options`` and those of the blueprint hold both. Points wait for an answer through the journal's inbox;
    with ``RunOptions(parks=True)`` the result comes back meanwhile. ``session`` is a conversation to go on with,
    ``permit`` decides about commands that regions begin with, ``workers`` are those that fan-outs may hand work to
    besides stages.

    Raises ``ValueError`` for an empty task, and where a point keeps out a starter who has no name; ``BlueprintError``
    for a blueprint with errors (see ``handrail blueprint check``); ``UnknownName`` for what a stage needs and nobody
    offers.
    """
    check_blueprint(blueprint)
    options = bounded(options or RunOptions(), blueprint.limits.limits())
    content = blocks_of(task, author_of(options.by), Via.PROMPT, options.by.name)
    if not content:
        raise ValueError("the task is empty")
    points = [point for stage in blueprint.stages for point in stage.points]
    if options.by.name is None and not all(point.creator_may_answer for point in points):
        raise ValueError("a point keeps out who starts the run: name them in RunOptions(by=…)")
    machine = _machine(blueprint, agent, options, family, permit, workers)
    first = machine.entry.agent
    named = first if first.name is not None else replace(first, name=blueprint.name)
    return launch(
        named, Prompt(content), replace(options, strategies=()), session=session, family=family, stages=machine
    )


def check_blueprint(blueprint: Blueprint) -> None:
    """``BlueprintError`` with everything that is wrong with ``blueprint``, where some of it is an error."""
    found = problems(blueprint)
    if any(problem.level == "error" for problem in found):
        raise BlueprintError(f"the blueprint {blueprint.name}", found)


async def run_blueprint(
    blueprint: Blueprint,
    task: Content,
    agent: Agent | Assemble,
    options: RunOptions | None = None,
    *,
    session: Session | None = None,
) -> RunResult:
    """Run to the end, or until it is parked: ``start_blueprint`` and await."""
    return await start_blueprint(blueprint, task, agent, options, session=session)


async def resume_blueprint(
    session: Session,
    agent: Agent | Assemble,
    options: RunOptions | None = None,
    *,
    blueprint: Blueprint | None = None,
    family: Family | None = None,
    permit: Permit | None = None,
    workers: Workers | None = None,
) -> Run:
    """Go on with the open run of ``session``, by the blueprint that is frozen in its journal.

    Raises ``BlueprintChanged`` when ``blueprint``, where it is given, is another one, and ``NotStartable`` where no
    run of a blueprint is open.
    """
    frozen = await frozen_blueprint(session)
    if blueprint is not None and digest_of(blueprint) != digest_of(frozen):
        raise BlueprintChanged(frozen.name, difference(frozen, blueprint))
    options = bounded(options or RunOptions(), frozen.limits.limits())
    machine = _machine(frozen, agent, options, family, permit, workers)
    own = replace(options, strategies=())
    return launch(machine.entry.agent, Resume(), own, session=session, family=family, stages=machine)


async def frozen_blueprint(session: Session) -> Blueprint:
    """The blueprint that the open run of ``session`` obeys; ``NotStartable`` where there is none."""
    events = await session.journal.read(session.id)
    run, progress = fold(events).run, progress_of(events)
    if run is None or run.started.blueprint is None or progress.blueprint is None:
        raise NotStartable(f"no run of a blueprint is open in session {session.id}")
    try:
        return from_plain(progress.blueprint.source)
    except ValueError as problem:
        told = f"the blueprint that is frozen in session {session.id} cannot be read by this release"
        raise NotStartable(told, hint=str(problem).splitlines()[0]) from problem


async def restart_blueprint(
    session: Session,
    blueprint: Blueprint,
    agent: Agent | Assemble,
    options: RunOptions | None = None,
    *,
    clock: Clock | None = None,
    permit: Permit | None = None,
    workers: Workers | None = None,
) -> Run:
    """End the open run of ``session``, cancelled, and start its task anew with ``blueprint``, in a session of its own.

    Raises as ``start_blueprint``, and ``NotStartable`` where no run of a blueprint is open.
    """
    clock = clock or SystemClock()
    # What could not be started must not end what runs.
    check_blueprint(blueprint)
    _machine(blueprint, agent, options or RunOptions(), None, permit, workers)
    task = await _ended_for_restart(session, clock)
    fresh = Session(ids.new_uuid7(clock), session.journal)
    return start_blueprint(blueprint, task, agent, options, session=fresh, permit=permit, workers=workers)


async def _ended_for_restart(session: Session, clock: Clock) -> list[Block]:
    """The task of the run that was open."""
    await frozen_blueprint(session)
    writer = Writer(session.journal, session.id, clock)
    await writer.open()
    events = await session.journal.read(session.id)
    tasks = [event.body.content for event in events if isinstance(event.body, ev.PromptGiven)]
    await writer.record(ev.DriverTookOver(max(writer.epoch, writer.state.epoch + 1)))
    await end_agents(writer)
    end = End(reason=EndReason.CANCELLED, detail="it is started anew with another blueprint")
    await writer.record(*closing_events(writer.state, end))
    return list(tasks[-1])


def difference(old: Blueprint, new: Blueprint) -> str:
    """What differs, as a unified diff of both as TOML, or as JSON where TOML cannot spell one of them.

    The order of keys, which a schema or a table keeps from its file and a journal does not, is no difference.
    """
    old, new = (from_plain(jsonio.decode(jsonio.canonical(to_plain(one)))) for one in (old, new))
    try:
        texts = [render_toml(one) for one in (old, new)]
    except NoToml:
        texts = [json.dumps(to_plain(one), indent=2, ensure_ascii=False) + "\n" for one in (old, new)]
    was, now = (text.splitlines(keepends=True) for text in texts)
    return "".join(difflib.unified_diff(was, now, "the run's", "now"))


def _machine(
    blueprint: Blueprint,
    agent: Agent | Assemble,
    options: RunOptions,
    family: Family | None,
    permit: Permit | None,
    workers: Workers | None,
) -> StageMachine:
    assemble: Assemble = (lambda stage: agent) if isinstance(agent, Agent) else agent
    setting = Setting(assemble=assemble, options=options, permit=permit, workers=workers or Workers())
    return machine_of(blueprint, setting, () if family is None else family.origin)
