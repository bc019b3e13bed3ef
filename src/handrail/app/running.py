"""Use case: run an agent or a blueprint, new or on from a session, and tell what happens while it does.

The run's events are written to a session of the ``handrail`` harness as it goes, so whatever ends the process, the
session can be read by every other command and gone on with.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from handrail import __version__, files, ids
from handrail.agents.approval import HOLD, PERSON, ApproverLike, Held
from handrail.agents.environment import handed_on
from handrail.agents.options import Answerer, RunOptions
from handrail.agents.paging import FolderShelf
from handrail.agents.result import RunFailed, Session
from handrail.agents.run import Run
from handrail.agents.sessions import continued
from handrail.app.driving import driving, driving_alone
from handrail.app.due import has_news
from handrail.app.journals import opened_journal, sessions_folder
from handrail.app.machine import Machine
from handrail.app.opening import locate_file, open_session
from handrail.app.ordering import Order, gone_on_with, read_order, recorded
from handrail.errors import MissingExtra, StoreError
from handrail.journal.board import RunNotFound
from handrail.journal.broken import BrokenJournal
from handrail.journal.fold import fold
from handrail.journal.state import State
from handrail.journal.vocabulary import Actor, ActorKind
from handrail.models.port import ModelInfo
from handrail.runs.journals.joined import JoinedJournal

if TYPE_CHECKING:
    from handrail.app.outfitting import Outfit, Wish

_HARNESS = "handrail"
_NEEDED = ("pydantic", "jsonschema", "mcp", "regex")
_FULL = 0.8
"""The share of what a model can be given from which a conversation is summed up: a round may still be added to it."""
_PROGRAM = Actor(ActorKind.HOST, "program")


class Running(Struct, frozen=True, kw_only=True):
    """A run that has begun: its handle, its model's name, and sentences about what is not as one may expect.

    ``blueprint`` is the name of the one it obeys. ``journal`` is what keeps it.
    """

    run: Run
    model: str
    journal: JoinedJournal
    blueprint: str | None = None
    notices: tuple[str, ...] = ()


class People(Struct, frozen=True, kw_only=True):
    """How a person is asked; without them what needs a person is refused, and with ``HOLD`` it waits for an answer.

    ``parks``: where all there is to do is to wait for a person, the run is left, and stays open.
    """

    approver: ApproverLike | Held | None = None
    answerer: Answerer | Held | None = None
    parks: bool = False


NOBODY = People()
ELSEWHERE = People(approver=HOLD, answerer=HOLD, parks=True)
"""Nobody is here; questions wait, durable, for whoever answers them from elsewhere."""


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
    machine: Machine, order: Order, environment: Mapping[str, str], people: People = NOBODY, *, is_held: bool = False
) -> AsyncIterator[Running]:
    """Begin what ``order`` says and give its handle; everything it uses is let go of at the end of the block.

    With ``NOBODY`` the questions of a blueprint, and those of a detached run, wait to be answered from elsewhere.
    ``is_held``: whoever calls sees to it that nobody else drives the session.
    Raises ``MissingExtra``, ``NothingToRun``, ``UnknownName``, ``SessionNotFound``, ``StoreError`` (``RunDriven`` for a
    session that another process runs), and what making the model, reading the workspace or loading the blueprint
    raises.
    """
    require_extra()
    folder = sessions_folder(machine)
    try:
        with opened_journal(machine, environment, order.database) as journal:
            session = await _session(machine, order, journal)
            alone = driving_alone(journal.newer, folder, session.id)
            async with contextlib.nullcontext() if is_held else alone:
                state = fold(await journal.read(session.id))
                if state.run is not None:
                    order = gone_on_with(order, read_order(state.run.started.order))
                desk = _Desk(order=order, session=session, journal=journal, state=state, folder=folder)
                async with _staffed(desk, environment, people) as running:
                    yield running
    except BrokenJournal as problem:
        told = "`handrail show` says what cannot be read; --from begins a copy of the rest"
        raise BrokenJournal(problem.message, hint=told) from problem


async def was_sent_more(
    machine: Machine, environment: Mapping[str, str], session: str, database: str | None = None
) -> bool:
    """Whether something came for a run that was left, too late for whoever left it: it is to be gone on with."""
    with opened_journal(machine, environment, database) as journal:
        return await has_news(journal, session)


class _Desk(Struct, frozen=True, kw_only=True):
    """What is to be run, and where it is kept."""

    order: Order
    session: Session
    journal: JoinedJournal
    state: State
    folder: Path


@asynccontextmanager
async def _staffed(desk: _Desk, environment: Mapping[str, str], people: People) -> AsyncIterator[Running]:
    """The run, begun with all it needs."""
    from handrail.app.beginning import agent_of, beginning, crew_of, notices_of, workers_of
    from handrail.app.outfitting import fitted_out

    order = desk.order
    begins = await beginning(order, environment, desk.session, desk.journal, desk.state)
    if people is NOBODY and (begins.blueprint is not None or order.is_detached):
        people = ELSEWHERE
    crew = crew_of(order, begins.blueprint, environment)
    commands = handed_on(environment, order.passes)
    try:
        async with fitted_out(_wish(order, desk.state), environment, commands=commands) as outfit:
            agent, task = agent_of(crew, begins, outfit)
            options = _options(desk, outfit, commands, people, crew.model.info)
            run = await begins.begin(agent, task, options, workers_of(crew, begins, outfit, environment))
            async with _held(run, desk):
                yield Running(
                    run=run,
                    model=crew.name,
                    journal=desk.journal,
                    blueprint=None if begins.blueprint is None else begins.blueprint.name,
                    notices=(*notices_of(begins, crew, options), *outfit.notices),
                )
    finally:
        await crew.close()


@asynccontextmanager
async def _held(run: Run, desk: _Desk) -> AsyncIterator[None]:
    """Hold ``run`` to its end; one that began anew, in a session of its own, under the lock of that one."""
    async with contextlib.AsyncExitStack() as held:
        if run.session.id != desk.session.id:
            await held.enter_async_context(driving(desk.folder, run.session.id))
        try:
            yield
        finally:
            await _ended(run)


async def _ended(run: Run) -> None:
    """Wait for the end of a run; one that nobody watches any more is ended before its tools are taken away."""
    if not run.is_over:
        run.cancel("nobody watches it any more", by=_PROGRAM)
    # How it ended is in its journal, and told to whoever awaits it.
    with contextlib.suppress(RunFailed):
        await run


async def _session(machine: Machine, order: Order, journal: JoinedJournal) -> Session:
    """The session that is to be written: the one that is gone on with, a copy of another, or a new one."""
    if order.session is not None:
        return Session(await find_session(machine, journal, order.session), journal)
    if order.source is not None:
        opened = open_session(machine, order.source)
        kept = opened.session.crop_to(opened.spans()) if opened.ranges else opened.session
        return await continued(kept, journal)
    return Session(ids.new_uuid7(), journal)


async def find_session(machine: Machine, journal: JoinedJournal, name: str) -> str:
    """The id of the session of ours that ``name`` means: an id, the unique start of one, a title, or its own file.

    Raises ``AmbiguousRun``, and as ``locate_file``; ``StoreError`` for a file that lies elsewhere.
    """
    with contextlib.suppress(RunNotFound):
        return (await journal.run(name)).session
    source = locate_file(machine, name, harness=_HARNESS)
    path = Path(source.locator)
    is_elsewhere = files.look_at(path) is not None and path.parent.resolve() != sessions_folder(machine).resolve()
    if not is_elsewhere and await journal.read(source.id):
        return source.id
    raise StoreError(f"{source.locator} is not among Handrail's own sessions", hint="begin a copy with --from")


def _wish(order: Order, state: State) -> Wish:
    from handrail.app.outfitting import Wish

    return Wish(
        workspace=order.workspace,
        allow=order.allow,
        strategies=order.strategies,
        is_read_only=order.is_read_only,
        is_trusted=order.is_trusted,
        sends=order.sends,
        has_rules=not order.is_without_rules,
        goes_on=state.run is not None,
    )


def _options(desk: _Desk, outfit: Outfit, commands: Mapping[str, str], people: People, model: ModelInfo) -> RunOptions:
    order = desk.order
    return RunOptions(
        **{field: getattr(order.bounds, field) for field in order.bounds.__struct_fields__},
        strategies=outfit.strategies,
        gate=outfit.gate,
        hooks=outfit.hooks,
        compact_at=compacts_at(order, model),
        by=PERSON if order.is_by_person else _PROGRAM,
        workspace=order.workspace,
        environment=commands,
        cli_version=__version__,
        approver=people.approver,
        answerer=people.answerer,
        parks=people.parks,
        is_unattended=people.approver is HOLD,
        shelf=FolderShelf(desk.folder / "results" / desk.session.id),
        order=recorded(order),
        rules=outfit.rules.rules,
        rules_digest=outfit.rules.digest,
    )


def compacts_at(order: Order, model: ModelInfo) -> int | None:
    """The size of the context, in tokens, from which a run by ``order`` is summed up; None where no room is known."""
    room = model.context_tokens
    return order.compact_at or (None if room is None else int(room * _FULL))
