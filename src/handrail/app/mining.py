"""Use case: the moments in which a person stepped in, over all sessions or some."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

import msgspec
from msgspec import Struct

from handrail.app.counting import DamagedSession, Mined, MomentRow, MomentSummary, summarise
from handrail.app.listing import SessionFilter
from handrail.app.machine import SCHEMA_VERSION, Judging, Machine
from handrail.app.opening import Opened, doctor_command, open_ref, open_session
from handrail.clock import Clock, SystemClock
from handrail.errors import HandrailError
from handrail.learning.corrections import corrected
from handrail.learning.interventions import Intervention, find_interventions
from handrail.learning.provenance import EvidenceKind, coverings, evidence_for
from handrail.library import Unread, parse_reference, project_name
from handrail.library.catalog import is_subagent
from handrail.transcripts.codec import Branch, SessionRef
from handrail.transcripts.model import Common, Message

Progress = Callable[[int, int], None]
"""Told how many sessions are done, of how many."""

_REACHING_PEOPLE = frozenset({"handrail"})
"""The harnesses whose sub-agents put their questions to the people of the run above them."""


class MomentFilter(Struct, frozen=True, kw_only=True):
    """Which moments: of which sessions, with which trigger, since when. Step-ins only, unless ``candidates``."""

    sessions: SessionFilter = SessionFilter()
    trigger: str | None = None
    since: datetime | None = None
    candidates: bool = False
    limit: int | None = None

    def admits(self, row: MomentRow) -> bool:
        """Whether ``row`` passes; a moment of unknown time does not pass ``since``."""
        if not row.is_stepin and not self.candidates:
            return False
        if self.trigger is not None and row.trigger != self.trigger:
            return False
        return self.since is None or (row.at is not None and row.at >= self.since)


class MomentList(Struct, frozen=True, kw_only=True):
    """The moments asked for, newest session first and in order within one.

    ``total`` counts them before ``limit``, ``sessions`` the sessions asked for (``summary.sessions`` were read, those
    in ``damaged`` without what is damaged in them).
    """

    schema_version: int = SCHEMA_VERSION
    moments: tuple[MomentRow, ...]
    total: int
    sessions: int
    summary: MomentSummary
    unread: tuple[Unread, ...]
    damaged: tuple[DamagedSession, ...] = ()


def moments(
    machine: Machine,
    wanted: MomentFilter | None = None,
    *,
    references: tuple[str, ...] = (),
    stdin: Callable[[], bytes] | None = None,
    budget_s: float | None = None,
    clock: Clock | None = None,
    on_progress: Progress | None = None,
) -> MomentList:
    """The moments that ``wanted`` admits, in all sessions, or in those ``references`` name.

    One session is held at a time. A session that cannot be read is reported in ``unread``. No session is begun
    once ``budget_s`` seconds are over.
    """
    wanted = wanted or MomentFilter()
    unread: list[Unread] = []
    total = len(references)
    found: Iterator[Mined]
    if references:
        found = (mine_reference(machine, text, wanted.sessions.harness, stdin) for text in references)
    else:
        catalog = machine.catalog()
        unread.extend(catalog.unread)
        sessions = wanted.sessions.on(machine)
        refs = [ref for ref in catalog.sessions if has_people(ref) and sessions.admits(ref)]
        total = len(refs)
        taken = while_time(refs, clock or SystemClock(), budget_s)
        found = iter_mined(machine, taken, catalog.short_ids(), unread, on_progress, total=total)
    kept = [_only(mined, wanted) for mined in found]
    rows = [row for mined in kept for row in mined.rows]
    return MomentList(
        moments=tuple(rows[: wanted.limit]),
        total=len(rows),
        sessions=total,
        summary=summarise(kept),
        unread=tuple(unread),
        damaged=tuple(mined.damaged for mined in kept if mined.damaged is not None),
    )


def has_people(ref: SessionRef) -> bool:
    """Whether a person can have stepped in there: not in a sub-agent, but for those whose questions reach people."""
    return not is_subagent(ref) or ref.harness in _REACHING_PEOPLE


def while_time(refs: Iterable[SessionRef], clock: Clock, budget_s: float | None) -> Iterator[SessionRef]:
    """``refs`` until ``budget_s`` seconds are over (None: all of them)."""
    begun_s = clock.monotonic_s()
    for ref in refs:
        if budget_s is not None and clock.monotonic_s() - begun_s >= budget_s:
            return
        yield ref


def iter_mined(
    machine: Machine,
    refs: Iterable[SessionRef],
    short_ids: dict[str, str],
    unread: list[Unread],
    on_progress: Progress | None = None,
    *,
    total: int,
) -> Iterator[Mined]:
    """What each of ``refs`` gives, one at a time; a session that cannot be read is added to ``unread``.

    ``refs`` may end before ``total`` sessions were taken.
    """
    for done, ref in enumerate(refs):
        if on_progress is not None:
            on_progress(done, total)
        try:
            yield mine(open_ref(machine, ref), short_ids[ref.id], machine.judging)
        except HandrailError as problem:
            unread.append(Unread(harness=ref.harness, where=ref.locator, message=problem.message))
    if on_progress is not None:
        on_progress(total, total)


def mine_reference(machine: Machine, text: str, harness: str | None, stdin: Callable[[], bytes] | None = None) -> Mined:
    """What the session that ``text`` names gives; with a range only what stands in it on the live line.

    The session is called in the rows as it was called in ``text``, which is enough to open it again.
    """
    opened = open_session(machine, text, harness=harness, stdin=stdin)
    if not opened.ranges:
        return mine(opened, text, machine.judging, harness)
    spans = opened.spans()
    mined = mine(opened, parse_reference(text).source, machine.judging, harness)
    inside = {index for span in spans for index in range(span.start, span.end)}
    rows = tuple(row for row in mined.rows if row.branch is None and row.message - 1 in inside)
    rounds = sum(_is_round(opened.session.body[index]) for index in inside)
    return msgspec.structs.replace(mined, rows=rows, rounds=rounds)


def mine(opened: Opened, short_id: str, judging: Judging, harness: str | None = None) -> Mined:
    """The moments of one session, every candidate included, as ``judging`` sees them.

    ``harness`` is the one among whose sessions it was found by ``short_id``, where one was given.
    """
    branches = opened.info.codec.branches(opened.native)
    found = find_interventions(opened.session, branches=branches, scorer=judging.scorer)
    found = corrected(found, judging.corrections)
    spoken = {moment.branch for moment in found}
    places: dict[str | None, _Place] = {None: _Place(opened.session.body, 0)}
    places.update((line.id, _Place(line.body, _shared(opened, line))) for line in branches if line.id in spoken)
    covers = coverings(opened.session, found, branches)
    return Mined(
        harness=opened.info.name,
        session=opened.source.id,
        project=project_name(opened.session.meta.cwd),
        rounds=sum(map(_is_round, opened.session.body)),
        rows=tuple(
            _row(moment, opened, short_id, places[moment.branch], evidence_for(cover, moment).kind)
            for moment, cover in zip(found, covers, strict=True)
        ),
        damaged=_damaged(opened, short_id, harness),
    )


def _damaged(opened: Opened, short_id: str, harness: str | None) -> DamagedSession | None:
    faults = opened.faults()
    if not faults:
        return None
    return DamagedSession(
        harness=opened.info.name,
        session=opened.source.id,
        short_id=short_id,
        places=len(faults),
        see=doctor_command(opened.info, short_id, harness) or shlex.join(["handrail", "show", short_id]),
    )


def _is_round(message: Message) -> bool:
    """Whether ``message`` is a response of the model, and not one that was copied from another session."""
    return message.role == "assistant" and message.origin is None


class _Place(NamedTuple):
    """Messages of a line, and how many the line shares with another before them."""

    own: Common
    shared: int


def _shared(opened: Opened, branch: Branch) -> int:
    whole = opened.info.codec.to_common(opened.native, branch.id)
    return len(whole.body) - len(branch.body)


def _row(moment: Intervention, opened: Opened, short_id: str, place: _Place, evidence: EvidenceKind) -> MomentRow:
    verdict = moment.verdict
    return MomentRow(
        id=moment.id,
        harness=opened.info.name,
        session=opened.source.id,
        short_id=short_id,
        title=opened.source.title or opened.session.meta.title,
        project=project_name(opened.session.meta.cwd),
        message=place.shared + moment.at + 1,
        branch=moment.branch,
        at=place.own[moment.at].timestamp,
        trigger=moment.trigger.value,
        text=moment.text,
        words=moment.words,
        actor=moment.actor,
        context=moment.context,
        aftermath=moment.aftermath,
        tools_before=tuple(moment.tools_before),
        tools_after=tuple(moment.tools_after),
        is_stepin=moment.is_stepin,
        is_candidate=not moment.is_stepin and (verdict is None or verdict.is_candidate),
        reasons=tuple(moment.reasons),
        doubts=() if verdict is None else verdict.doubts,
        likelihood=None if verdict is None else verdict.likelihood,
        evidence=evidence,
    )


def _only(mined: Mined, wanted: MomentFilter) -> Mined:
    return msgspec.structs.replace(mined, rows=tuple(row for row in mined.rows if wanted.admits(row)))
