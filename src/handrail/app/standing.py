"""Use cases: the runs of this machine and the questions that wait, over all sessions, whoever drives them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from handrail.app.driving import is_driven, is_held, is_served
from handrail.app.journals import database_of, has_journal, opened_journal, sessions_folder
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.errors import StoreError
from handrail.journal.board import PAGE, AskRow, AskStatus, JournalWithBoard, RunRow, RunStatus
from handrail.journal.vocabulary import AskKind
from handrail.runs.asks.offers import Offer, offers_of
from handrail.runs.journals.holding import CARRYING
from handrail.runs.journals.joined import JoinedJournal

_LEAST_CHARS = 13
"""How much of an id is shown at least: what is made in one millisecond starts alike no longer than that."""

Driven: TypeAlias = Literal["here", "served", "nobody"]
"""Who carries a run on: a process of this machine does now, one that serves will, or nobody."""


class StandingRun(Struct, frozen=True, kw_only=True):
    """One run: how it stands, and who carries it on (None where it is over). ``name`` is the start of its id."""

    name: str
    status: RunStatus
    driven: Driven | None
    run: RunRow


class RunList(Struct, frozen=True, kw_only=True):
    """Runs, the newest session first; ``is_cut`` says that there are more."""

    schema_version: int = SCHEMA_VERSION
    runs: tuple[StandingRun, ...]
    is_cut: bool = False
    is_served: bool = False


class StandingAsk(Struct, frozen=True, kw_only=True):
    """One question with its options. ``name`` is the start of its id, ``title`` the session's."""

    name: str
    status: AskStatus
    ask: AskRow
    offers: tuple[Offer, ...]


class AskList(Struct, frozen=True, kw_only=True):
    """Questions in the order they were opened; ``is_cut`` says that there are more."""

    schema_version: int = SCHEMA_VERSION
    asks: tuple[StandingAsk, ...]
    is_cut: bool = False


class AskFilter(Struct, frozen=True, kw_only=True):
    """Which questions: of the run ``run`` and all below it, of one ``kind``, also closed ones, at most so many."""

    run: str | None = None
    kind: AskKind | None = None
    with_closed: bool = False
    limit: int | None = None


def list_runs(
    machine: Machine,
    environment: Mapping[str, str],
    *,
    status: RunStatus | None = None,
    with_ended: bool = False,
    limit: int | None = None,
    database: str | None = None,
) -> RunList:
    """The last run of every session that has one; those that are over only ``with_ended`` or by their status."""
    if not has_journal(machine, environment, database):
        return RunList(runs=())

    async def read() -> RunList:
        with opened_journal(machine, environment, database) as journal:
            found: list[RunRow] = []
            for wanted in (status,) if status or with_ended else ("running", "waiting", "paused"):
                found += await _runs(journal, wanted, limit)
            found.sort(key=lambda row: row.session, reverse=True)
            rows = found if limit is None else found[:limit]
            served = _is_served(machine, environment, database, journal)
            return _run_list(rows, sessions_folder(machine), is_cut=len(rows) < len(found), served=served)

    return asyncio.run(read())


async def _runs(journal: JournalWithBoard, status: RunStatus | None, limit: int | None) -> list[RunRow]:
    """Page by page, at most one more than ``limit``."""
    found: list[RunRow] = []
    after = None
    while page := await journal.runs(status=status, after=after, limit=PAGE):
        found += page
        after = page[-1].session
        if limit is not None and len(found) > limit:
            return found[: limit + 1]
    return found


def _run_list(rows: Sequence[RunRow], folder: Path, *, is_cut: bool, served: bool) -> RunList:
    names = shortened([row.session for row in rows])
    runs = tuple(
        StandingRun(
            name=name,
            status=row.status,
            run=row,
            driven=None if row.status == "ended" else _driven(folder, row.root, served),
        )
        for name, row in zip(names, rows, strict=True)
    )
    return RunList(runs=runs, is_cut=is_cut, is_served=served)


def driven_by(
    machine: Machine, environment: Mapping[str, str], session: str, database: str | None, journal: JoinedJournal
) -> Driven:
    """Who carries the run of ``session`` on, which is the one at the top of its tree."""
    served = _is_served(machine, environment, database, journal)
    return _driven(sessions_folder(machine), session, served or is_held(journal.newer, session))


def _is_served(machine: Machine, environment: Mapping[str, str], database: str | None, journal: JoinedJournal) -> bool:
    """Whether a process of this machine serves the database, or workers of any machine do."""
    here = is_served(sessions_folder(machine), database_of(environment, database))
    return here or is_held(journal.newer, CARRYING)


def _driven(folder: Path, session: str, served: bool) -> Driven:
    if is_driven(folder, session):
        return "here"
    return "served" if served else "nobody"


def list_asks(
    machine: Machine, environment: Mapping[str, str], wanted: AskFilter, *, database: str | None = None
) -> AskList:
    """The questions that wait, oldest first; ``RunNotFound`` and ``AmbiguousRun`` for the run that was named."""
    if not has_journal(machine, environment, database):
        return AskList(asks=())

    async def read() -> AskList:
        with opened_journal(machine, environment, database) as journal:
            root = None if wanted.run is None else (await journal.run(wanted.run)).root
            rows = await _asks(journal, wanted, root)
            shown = rows if wanted.limit is None else rows[: wanted.limit]
            return AskList(asks=standing(shown), is_cut=len(shown) < len(rows))

    return asyncio.run(read())


async def _asks(journal: JournalWithBoard, wanted: AskFilter, root: str | None) -> list[AskRow]:
    found: list[AskRow] = []
    after = None
    is_open = None if wanted.with_closed else True
    while page := await journal.asks(is_open=is_open, root=root, kind=wanted.kind, after=after, limit=PAGE):
        found += page
        after = page[-1].ask
        if wanted.limit is not None and len(found) > wanted.limit:
            return found[: wanted.limit + 1]
    return found


def standing(rows: Sequence[AskRow]) -> tuple[StandingAsk, ...]:
    """``rows`` as they are shown."""
    names = shortened([row.ask for row in rows])
    return tuple(
        StandingAsk(name=name, status=row.status, ask=row, offers=offers_of(row.opened))
        for name, row in zip(names, rows, strict=True)
    )


def shortened(ids: Iterable[str]) -> tuple[str, ...]:
    """The start of each id that none of the others has, and no less than makes it unlikely that another has it."""
    every = tuple(ids)
    ordered = sorted(set(every))
    short: dict[str, str] = {}
    for place, id in enumerate(ordered):
        beside = ordered[max(place - 1, 0) : place] + ordered[place + 1 : place + 2]
        shared = max((_alike(id, other) for other in beside), default=0)
        short[id] = id[: max(shared + 1, _LEAST_CHARS)]
    return tuple(short[id] for id in every)


def _alike(one: str, other: str) -> int:
    """How many characters both start with."""
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))


def waiting(machine: Machine, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The oldest questions that wait for a person, by id, a page at most.

    None where nothing can be read: a database that is damaged is told of where its sessions are listed.
    """
    try:
        found = list_asks(machine, environment, AskFilter(limit=PAGE))
    except StoreError:
        return ()
    return tuple(one.ask.ask for one in found.asks)
