"""Use case: what is here. Sessions per harness, and the step-ins of as many as there is time to read."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from handrail.app.counting import Mined, per_100
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.mining import Progress, has_people, iter_mined, while_time
from handrail.clock import Clock, SystemClock
from handrail.library import Unread
from handrail.library.catalog import is_subagent
from handrail.transcripts.codec import SessionRef

BUDGET_S = 5.0
"""How long an overview reads sessions before it says what it has."""

LARGEST_BYTES = 250_000_000
"""A larger session alone would use up the time, and the memory of a small machine."""


class HarnessRow(Struct, frozen=True, kw_only=True, gc=False):
    """One harness. ``read`` says how many of its ``sessions`` the step-ins and rounds were counted in.

    Those of sub-agents whose questions reach people count too, as in ``moments``.
    """

    harness: str
    title: str
    sessions: int
    subagents: int
    size_bytes: int
    oldest_at: datetime | None
    newest_at: datetime | None
    damaged: int
    read: int
    rounds: int
    stepins: int


class Overview(Struct, frozen=True, kw_only=True):
    """All harnesses with sessions; ``sessions`` and ``read`` are totals, equal when nothing was left unread.

    ``waits`` are the oldest questions of runs that wait for an answer, by id.
    """

    schema_version: int = SCHEMA_VERSION
    harnesses: tuple[HarnessRow, ...]
    without_sessions: tuple[str, ...]
    sessions: int
    read: int
    rounds: int
    stepins: int
    per_100_rounds: float | None
    unread: tuple[Unread, ...]
    waits: tuple[str, ...] = ()


def overview(
    machine: Machine,
    *,
    budget_s: float | None = BUDGET_S,
    largest_bytes: int | None = LARGEST_BYTES,
    clock: Clock | None = None,
    on_progress: Progress | None = None,
    waits: tuple[str, ...] = (),
) -> Overview:
    """What every store holds, with the step-ins of the newest sessions that ``budget_s`` seconds allow.

    Sessions of more than ``largest_bytes`` are not read. None means no bound, for either.
    """
    catalog = machine.catalog()
    unread = list(catalog.unread)
    peopled = filter(has_people, catalog.sessions)
    light = [ref for ref in peopled if largest_bytes is None or ref.size_bytes <= largest_bytes]
    figures: dict[str, list[Mined]] = {}
    refs = while_time(light, clock or SystemClock(), budget_s)
    for mined in iter_mined(machine, refs, catalog.short_ids(), unread, on_progress, total=len(light)):
        figures.setdefault(mined.harness, []).append(mined)
    rows = tuple(
        _row(machine.infos[name].title, name, catalog.of_harness(name).sessions, figures.get(name, []))
        for name in machine.stores
    )
    rounds, stepins = sum(row.rounds for row in rows), sum(row.stepins for row in rows)
    return Overview(
        harnesses=tuple(row for row in rows if row.sessions or row.subagents),
        without_sessions=tuple(row.harness for row in rows if not row.sessions and not row.subagents),
        sessions=sum(row.sessions for row in rows),
        read=sum(row.read for row in rows),
        rounds=rounds,
        stepins=stepins,
        per_100_rounds=per_100(stepins, rounds),
        unread=tuple(unread),
        waits=waits,
    )


def _row(title: str, name: str, refs: tuple[SessionRef, ...], mined: list[Mined]) -> HarnessRow:
    own = [ref for ref in refs if not is_subagent(ref)]
    ids = {ref.id for ref in own}
    starts = [ref.meta.timestamp for ref in refs if ref.meta.timestamp is not None]
    return HarnessRow(
        harness=name,
        title=title,
        sessions=len(own),
        subagents=len(refs) - len(own),
        size_bytes=sum(ref.size_bytes for ref in refs),
        oldest_at=min(starts, default=None),
        newest_at=max(starts, default=None),
        damaged=sum(not ref.is_whole for ref in refs),
        read=sum(session.session in ids for session in mined),
        rounds=sum(session.rounds for session in mined),
        stepins=sum(row.is_stepin for session in mined for row in session.rows),
    )
