"""Use case: run an agent, new or on from a session, and tell what happens while it does.

The run's events are written to a session of the ``handrail`` harness as it goes, so whatever ends the process, the
session can be read by every other command and gone on with.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from handrail import __version__, files, ids
from handrail.agents.agent import Agent
from handrail.agents.approval import PERSON, ApproverLike
from handrail.agents.content import Content, blocks_of
from handrail.agents.environment import handed_on
from handrail.agents.options import Answerer, RunOptions
from handrail.agents.paging import FolderShelf
from handrail.agents.result import RunFailed, Session
from handrail.agents.run import Run
from handrail.agents.sessions import continued
from handrail.app.machine import Machine
from handrail.app.opening import locate_file, open_session
from handrail.errors import HandrailError, MissingExtra, StoreError, UnknownName
from handrail.harnesses.handrail.store import HandrailStore
from handrail.journal.broken import BrokenJournal
from handrail.journal.events import InputReceived
from handrail.journal.file import FileJournal
from handrail.journal.fold import fold
from handrail.journal.refusals import author_of
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, Limits
from handrail.models.names import model_from_name
from handrail.models.port import Model, ModelInfo, close
from handrail.transcripts.model import Author, Taint, Text, Via
from handrail.workspace.discovery import Workspace

if TYPE_CHECKING:
    from handrail.app.outfitting import Outfit, Wish

MODEL_VARIABLE = "HANDRAIL_MODEL"
"""The environment variable that names the model where none is named otherwise."""

_HARNESS = "handrail"
_NEEDED = ("pydantic", "jsonschema", "mcp", "regex")
_FULL = 0.8
"""The share of what a model can be given from which a conversation is summed up: a round may still be added to it."""
_CUT_OFF = "a run of this session was cut off: it is gone on with first"
_UNKNOWN = "nobody recorded what was seen before: what sends data out is refused; --sends ask asks you instead"
_PROGRAM = Actor(ActorKind.HOST, "program")


class NothingToRun(HandrailError):
    """There is no task, and no run of the session that could be gone on with without one."""

    code = "nothing_to_run"
    exit_code = 2


class Order(Struct, frozen=True, kw_only=True):
    """What is to be run.

    ``session`` names one of Handrail's own to go on with, ``source`` one of any harness to begin a new one from;
    at most one of them. ``compact_at`` is the size of the model's context, in tokens, from which it is summed up
    (None: four fifths of what the model can be given, where that is known). ``worker`` names the model of agents that
    this one starts, where it is another. ``passes`` are the variables with keys of models that commands get all the
    same. ``is_by_person`` says that a person gave the task, not a program. The rest is as in ``outfitting.Wish``.
    """

    task: str = ""
    model: str | None = None
    base_url: str | None = None
    workspace: Path
    session: str | None = None
    source: str | None = None
    bounds: Limits = Limits()
    compact_at: int | None = None
    strategies: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    is_read_only: bool = False
    is_trusted: bool = False
    sends: Literal["block", "ask", "allow"] = "block"
    passes: tuple[str, ...] = ()
    worker: str | None = None
    is_by_person: bool = True


class Running(Struct, frozen=True, kw_only=True):
    """A run that has begun: its handle, its model's name, and sentences about what is not as one may expect."""

    run: Run
    model: str
    notices: tuple[str, ...] = ()


def require_extra() -> None:
    """``MissingExtra`` unless what agents need is installed; the base install reads sessions only."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f"running agents needs the extra 'agents' (not installed: {', '.join(missing)})",
            hint="pip install 'handrail[agents]'",
        )


@asynccontextmanager
async def start_run(
    machine: Machine,
    order: Order,
    environment: Mapping[str, str],
    *,
    approver: ApproverLike | None = None,
    answerer: Answerer | None = None,
) -> AsyncIterator[Running]:
    """Begin what ``order`` says and give its handle; everything it uses is let go of at the end of the block.

    ``approver`` and ``answerer`` are how a person is asked; without them what needs a person is refused. Raises
    ``MissingExtra``, ``NothingToRun``, ``UnknownName``, ``SessionNotFound``, ``StoreError`` (also for a session that
    another process runs), and what making the model or reading the workspace raises.
    """
    require_extra()
    from handrail.app.outfitting import fitted_out

    folder = _folder(machine)
    name = order.model or environment.get(MODEL_VARIABLE)
    if not name:
        hint = f"--model PROVIDER:NAME, local or scripted:FILE, or set {MODEL_VARIABLE}"
        raise UnknownName("no model is named", hint=hint)
    journal = FileJournal(folder)
    model = model_from_name(name, base_url=order.base_url, environ=environment)
    worker = model if order.worker is None else model_from_name(order.worker, environ=environment)
    commands = handed_on(environment, order.passes)
    try:
        session = await _session(machine, order, journal)
        with files.lock(folder / f"{session.id}.driver", waits=False):
            async with fitted_out(_wish(order), environment, commands=commands) as outfit:
                agent, content = _agent(model, worker, order.task, outfit)
                options = replace(
                    _options(order, outfit, commands, model.info),
                    approver=approver,
                    answerer=answerer,
                    shelf=FolderShelf(folder / "results" / session.id),
                )
                run, notices = await _begun(agent, content, order.task, options, session)
                try:
                    yield Running(run=run, model=name, notices=(*notices, *outfit.notices))
                finally:
                    await _ended(run)
    except BrokenJournal as problem:
        told = "`handrail show` says what cannot be read; --from begins a copy of the rest"
        raise BrokenJournal(problem.message, hint=told) from problem
    finally:
        for one in {id(one): one for one in (model, worker)}.values():
            await close(one)
        journal.close()


async def _ended(run: Run) -> None:
    """Wait for the end of a run; one that nobody watches any more is ended before its tools are taken away."""
    if not run.is_over:
        run.cancel("nobody watches it any more", by=_PROGRAM)
    # How it ended is in its journal, and told to whoever awaits it.
    with contextlib.suppress(RunFailed):
        await run


def _folder(machine: Machine) -> Path:
    """Where journals are kept."""
    store = machine.stores.get(_HARNESS)
    if not isinstance(store, HandrailStore) or store.root is None:
        raise StoreError("there is no home folder to keep the session in", hint="set HANDRAIL_HOME")
    return store.root


async def _session(machine: Machine, order: Order, journal: FileJournal) -> Session:
    """The session that is to be written: the one that is gone on with, a copy of another, or a new one."""
    if order.session is not None:
        source = locate_file(machine, order.session, harness=_HARNESS)
        if Path(source.locator).parent.resolve() != journal.folder.resolve():
            raise StoreError(f"{source.locator} is not among Handrail's own sessions", hint="begin a copy with --from")
        return Session(Path(source.locator).stem, journal)
    if order.source is not None:
        opened = open_session(machine, order.source)
        kept = opened.session.crop_to(opened.spans()) if opened.ranges else opened.session
        return await continued(kept, journal)
    return Session(ids.new_uuid7(), journal)


def _wish(order: Order) -> Wish:
    from handrail.app.outfitting import Wish

    return Wish(
        workspace=order.workspace,
        allow=order.allow,
        strategies=order.strategies,
        is_read_only=order.is_read_only,
        is_trusted=order.is_trusted,
        sends=order.sends,
    )


def _agent(model: Model, worker: Model, task: str, outfit: Outfit) -> tuple[Agent, Content]:
    """The agent, with one it can hand work to, and the task as it is put to it."""
    from handrail.agents.spawn import spawn_tool

    content, taint = _prompt(task, outfit.workspace)
    helper = Agent(
        model=worker, tools=outfit.tools, instructions=outfit.instructions, name="worker", taint=outfit.taint
    )
    agent = Agent(
        model=model,
        tools=(*outfit.tools, spawn_tool(helper)),
        instructions=outfit.instructions,
        models=outfit.models,
        taint=outfit.taint | taint,
    )
    return agent, content


def _options(order: Order, outfit: Outfit, commands: Mapping[str, str], model: ModelInfo) -> RunOptions:
    room = model.context_tokens
    return RunOptions(
        **{field: getattr(order.bounds, field) for field in order.bounds.__struct_fields__},
        strategies=outfit.strategies,
        gate=outfit.gate,
        hooks=outfit.hooks,
        compact_at=order.compact_at or (None if room is None else int(room * _FULL)),
        by=PERSON if order.is_by_person else _PROGRAM,
        workspace=order.workspace,
        environment=commands,
        cli_version=__version__,
    )


def _prompt(task: str, workspace: Workspace) -> tuple[Content, Taint]:
    """The task as it is put to the model; ``/NAME …`` is the prompt template of that name, filled in."""
    from handrail.workspace.templates import expand

    name, _, arguments = task.removeprefix("/").partition(" ")
    template = next((one for one in workspace.templates if task.startswith("/") and one.name == name), None)
    if template is None:
        return task, Taint()
    return Text(expand(template, arguments), Author.HOST, by=name), Taint(untrusted=not template.is_trusted)


async def _begun(
    agent: Agent, content: Content, task: str, options: RunOptions, session: Session
) -> tuple[Run, tuple[str, ...]]:
    """Start, go on with what was cut off, or answer what is waited for; and what is to be said about it."""
    state = fold(await session.journal.read(session.id))
    has_task = bool(task.strip())
    told = (_UNKNOWN,) if state.taint is None and options.gate.taint.armed == "block" else ()
    if state.run is not None:
        if has_task:
            # Before the run goes on: it may have no more than an end to come to.
            key = ids.new_uuid7()
            blocks = blocks_of(content, author_of(options.by), Via.FOLLOW_UP, options.by.name)
            await session.journal.post(
                session.id, InputReceived(input=key, via="follow_up", content=blocks), options.by, key
            )
        return agent.resume(session, options), (_CUT_OFF, *told)
    if not has_task:
        raise NothingToRun("there is nothing to do", hint="say what, as in: handrail run 'fix the tests'")
    if any(ask.kind is AskKind.PAUSE for ask in state.asks):
        return agent.resume(session, options, answer=task), told
    return agent.start(content, options, session=session), told
