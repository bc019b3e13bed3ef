"""Use case: ask a model about each moment what it teaches, once, over all harnesses.

A session is reflected on whole or not at all: a model that cannot be reached leaves it for another time and takes
nothing away that was there. Only a request that the model does not take is left by itself, or one odd moment would have
all others of its session paid for again each time. What was asked is remembered by the record that holds the person's
words, so a session that is resumed, compacted or forked is gone on with and never asked about twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from handrail import files
from handrail.app.learning.asking import Bounds, Spent, asked
from handrail.app.learning.cases import Excluded, cases_of
from handrail.app.learning.memory import Memory
from handrail.app.listing import SessionFilter
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.mining import Progress, has_people
from handrail.app.opening import open_ref
from handrail.clock import Clock, SystemClock
from handrail.errors import HandrailError
from handrail.learning.delivery.store import DeliveryStore
from handrail.learning.provenance import EvidenceKind
from handrail.learning.reflecting.lesson import Reflected, key_of
from handrail.learning.reflecting.reflector import Case, asked_about, reflected_on
from handrail.library import Unread
from handrail.models.errors import BadRequest, MalformedReply, ModelError
from handrail.models.port import Model

ALREADY = "reflected on before"
CUT_OFF = "the model could not be asked"

_OF_ONE_REQUEST = (BadRequest, MalformedReply)
"""Failures that may be those of one request; so many in a row are the model's."""
_MAX_REFUSALS = 3


class ReflectOrder(Struct, frozen=True, kw_only=True):
    """Which sessions, and how much: at most ``limit`` moments, within ``bounds``.

    With ``candidates`` also moments that may be no step-ins.
    """

    sessions: SessionFilter = SessionFilter()
    candidates: bool = False
    limit: int | None = None
    bounds: Bounds = Bounds()


class WouldSend(Struct, frozen=True, kw_only=True):
    """One request as it would be sent: redacted, and nothing else of the session in it."""

    moment: str
    harness: str
    session: str
    trigger: str
    evidence: EvidenceKind
    prompt: str


class LessonRow(Struct, frozen=True, kw_only=True):
    """What one moment came to. ``lesson`` None is a skip, with ``why``; ``why_not`` says why no rule may come of it."""

    id: str
    moment: str
    harness: str
    session: str
    trigger: str
    words: str
    evidence: EvidenceKind
    lesson: str | None = None
    cause: str | None = None
    why: str | None = None


class ReflectReport(Struct, frozen=True, kw_only=True):
    """What came of it.

    ``excluded`` counts moments that nobody was asked about, by why; ``unlearnable`` lessons that become no rule, by
    cause or origin; ``skipped`` answers without a lesson, by why. ``left`` are moments that are left for another time,
    and ``ended`` says why when it was not for want of moments; ``failure`` is the model's, where it could not be
    reached. ``would_send`` is filled in a dry run only, with the ``instructions`` that go with each.
    """

    schema_version: int = SCHEMA_VERSION
    is_dry_run: bool = False
    sessions: int = 0
    moments: int = 0
    rows: tuple[LessonRow, ...] = ()
    excluded: dict[str, int] = {}
    skipped: dict[str, int] = {}
    unlearnable: dict[str, int] = {}
    left: int = 0
    ended: str | None = None
    failure: str | None = None
    spent: Spent = Spent()
    model: str | None = None
    instructions: str = ""
    would_send: tuple[WouldSend, ...] = ()
    unread: tuple[Unread, ...] = ()
    bad_lines: int = 0


def preview(
    machine: Machine, memory: Memory, order: ReflectOrder, *, on_progress: Progress | None = None
) -> ReflectReport:
    """What ``reflect`` would send, without sending it: no model, no lock, nothing written."""
    journalled = memory.lessons.load()
    search = _Search(machine, memory, order, on_progress)
    wanted = [case for cases in search for case in cases]
    taken = wanted[: order.limit]
    return ReflectReport(
        is_dry_run=True,
        sessions=search.sessions,
        moments=len(taken),
        left=len(wanted) - len(taken),
        excluded=dict(search.excluded.most_common()),
        instructions=asked_about(taken[0]).instructions if taken else "",
        would_send=tuple(map(_sent, taken)),
        unread=tuple(search.unread),
        bad_lines=len(journalled.bad),
    )


def reflect(
    machine: Machine,
    memory: Memory,
    order: ReflectOrder,
    model: Model,
    *,
    clock: Clock | None = None,
    on_progress: Progress | None = None,
) -> ReflectReport:
    """Ask ``model`` about every moment that was not asked about before, newest session first.

    One at a time on one machine: ``Locked`` where another process reflects. A model that fails ends it; what came of
    the sessions before stands, and the failure is in the report. ``StoreError`` where nothing can be kept.
    """
    with files.lock(memory.folder / "reflect.lock", waits=False):
        journalled = memory.lessons.load()
        search = _Search(machine, memory, order, on_progress)
        desk = _Reflecting(memory, model, order, clock or SystemClock())
        asked(model, lambda: desk.work(search))
        return ReflectReport(
            sessions=search.sessions,
            moments=len(desk.rows),
            rows=tuple(map(_row, desk.rows)),
            excluded=dict(search.excluded.most_common()),
            skipped=dict(Counter(row.why or "" for row in desk.rows if row.lesson is None).most_common()),
            unlearnable=_unlearnable(memory, desk.rows),
            left=desk.left,
            ended=desk.ended,
            failure=desk.failure,
            spent=desk.spent,
            model=model.info.name,
            unread=tuple(search.unread),
            bad_lines=len(journalled.bad),
        )


class _Search:
    """The cases of each session that nobody was asked about before, and a count of all that was left out."""

    def __init__(self, machine: Machine, memory: Memory, order: ReflectOrder, progress: Progress | None) -> None:
        self._machine = machine
        self._order = order
        self._mined = set(memory.lessons.load().mined)
        self._delivered = DeliveryStore(memory.folder).load()
        self._progress = progress
        self.excluded: Counter[str] = Counter()
        self.unread: list[Unread] = []
        self.sessions = 0

    def __iter__(self) -> Iterator[list[Case]]:
        catalog = self._machine.catalog()
        self.unread.extend(catalog.unread)
        wanted = self._order.sessions.on(self._machine)
        refs = [ref for ref in catalog.sessions if has_people(ref) and wanted.admits(ref)]
        for done, ref in enumerate(refs):
            if self._progress is not None:
                self._progress(done, len(refs))
            try:
                found = cases_of(
                    open_ref(self._machine, ref),
                    self._machine.judging,
                    candidates=self._order.candidates,
                    delivered=self._delivered,
                )
            except HandrailError as problem:
                self.unread.append(Unread(harness=ref.harness, where=ref.locator, message=problem.message))
                continue
            self.sessions += 1
            if cases := self._new(found):
                yield cases
        if self._progress is not None:
            self._progress(len(refs), len(refs))

    def _new(self, found: tuple[Case | Excluded, ...]) -> list[Case]:
        cases: list[Case] = []
        for one in found:
            if isinstance(one, Excluded):
                self.excluded[one.why] += 1
                continue
            key = key_of(one.source.harness, one.moment)
            if key in self._mined:
                self.excluded[ALREADY] += 1
                continue
            # A copy of it in a fork of the session is the same moment.
            self._mined.add(key)
            cases.append(one)
        return cases


class _Reflecting:
    """Goes through sessions within the bounds, and keeps what came of each."""

    def __init__(self, memory: Memory, model: Model, order: ReflectOrder, clock: Clock) -> None:
        self._memory = memory
        self._model = model
        self._order = order
        self._clock = clock
        self.rows: list[Reflected] = []
        self.spent = Spent()
        self.left = 0
        self.ended: str | None = None
        self.failure: str | None = None
        self._refusals = 0

    async def work(self, search: _Search) -> None:
        for cases in search:
            if self.ended is not None:
                self.left += len(cases)
                continue
            rows = await self._session(cases)
            self.left += len(cases) - len(rows)
            self._keep(rows)

    def _keep(self, rows: list[Reflected]) -> None:
        # A bound ends between two moments; each that was answered was paid for and is whole.
        self._memory.lessons.add(lambda _present: rows)
        self.rows += rows

    async def _session(self, cases: list[Case]) -> list[Reflected]:
        """What came of the session's moments; nothing where the model failed at one of them."""
        rows: list[Reflected] = []
        for case in cases:
            self.ended = self.ended or self._bound(len(self.rows) + len(rows))
            if self.ended is not None:
                return rows
            try:
                row, reply = await reflected_on(self._model, case, self._clock.now())
            except _OF_ONE_REQUEST as problem:
                self._refused(problem)
                continue
            except ModelError as problem:
                self.failure, self.ended = problem.message, CUT_OFF
                return []
            if reply is not None:
                self._refusals = 0
                self.spent = self.spent.and_for(reply)
            rows.append(row)
        return rows

    def _refused(self, problem: ModelError) -> None:
        """Leave the moment, and all others once it is no longer likely to be the moment's own fault."""
        self.failure = problem.message
        self._refusals += 1
        if self._refusals >= _MAX_REFUSALS:
            self.ended = CUT_OFF

    def _bound(self, done: int) -> str | None:
        if self._order.limit is not None and done >= self._order.limit:
            return f"{self._order.limit} moments were asked about"
        return self.spent.reached(self._order.bounds)


def _unlearnable(memory: Memory, rows: list[Reflected]) -> dict[str, int]:
    ids = {row.id for row in rows}
    lessons = (lesson for lesson in memory.lessons.load().lessons() if lesson.id in ids)
    return dict(Counter(why for lesson in lessons if (why := lesson.why_not) is not None).most_common())


def _sent(case: Case) -> WouldSend:
    return WouldSend(
        moment=case.moment.id,
        harness=case.source.harness,
        session=case.source.session,
        trigger=case.moment.trigger,
        evidence=case.evidence.kind,
        prompt=asked_about(case).prompt,
    )


def _row(row: Reflected) -> LessonRow:
    return LessonRow(
        id=row.id,
        moment=row.source.moment,
        harness=row.source.harness,
        session=row.source.session,
        trigger=row.trigger,
        words=row.words,
        evidence=row.evidence,
        lesson=row.lesson,
        cause=None if row.lesson is None else row.cause.value,
        why=row.why,
    )
