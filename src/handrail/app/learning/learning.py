"""Use case: from lessons to proposals. One typed call for the lessons of one repository; code applies what it says.

Nothing is put into force here. At most one proposal of a repository is pending: a newer one takes the place of the
older, and its lessons with it, so that lessons are never held up by a proposal that nobody looks at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from handrail import files
from handrail.app.learning.asking import Bounds, Spent, asked
from handrail.app.learning.instructions import lines_in
from handrail.app.learning.memory import Memory
from handrail.app.learning.proposals import mark_used, settle_interrupted
from handrail.app.machine import SCHEMA_VERSION
from handrail.clock import Clock, SystemClock
from handrail.learning.asking import answer_of
from handrail.learning.proposals.drafting import Known, drafted, proposal_of, told_apart
from handrail.learning.proposals.learner import MAX_LESSONS, Batch, Drafts, as_they_stand, asked_for_changes
from handrail.learning.proposals.model import Proposal, Status
from handrail.learning.proposals.review import moves
from handrail.learning.proposals.store import Shelf
from handrail.learning.reflecting.lesson import Lesson
from handrail.learning.statistics import is_held_out
from handrail.models.errors import ModelError
from handrail.models.port import Model

HELD_OUT = "held out"
"""Why a lesson is left out that probes are to be made of."""


_ARGUED = frozenset({Status.ACCEPTED, Status.APPLIED, Status.EMPTY, Status.REJECTED_BY_GATE})
"""What becomes of a proposal that leaves lessons free: they are not argued again until there is another one."""


class LearnOrder(Struct, frozen=True, kw_only=True):
    """How lessons are learned from: those of a repository from ``least`` on, without the share ``holdout`` (0 to 1).

    ``as_they_stand``: without a model every lesson that no rule says yet is proposed as a rule of its own.
    """

    least: int = 1
    holdout: float = 0.0
    bounds: Bounds = Bounds()
    as_they_stand: bool = False


class WouldAsk(Struct, frozen=True, kw_only=True):
    """One request as it would be sent, redacted. ``prompt`` None: code can tell without a model."""

    topic: str
    lessons: tuple[str, ...]
    prompt: str | None


class LearnReport(Struct, frozen=True, kw_only=True):
    """What came of it.

    ``excluded`` counts lessons that no rule may come of now, by why. ``waiting`` are repositories that were passed
    over, and why; ``left`` lessons that are too many for one time. ``failure`` is the model's, where it could not be
    reached: what was made before it stands.
    """

    schema_version: int = SCHEMA_VERSION
    is_dry_run: bool = False
    lessons: int = 0
    proposals: tuple[Proposal, ...] = ()
    superseded: tuple[str, ...] = ()
    excluded: dict[str, int] = {}
    waiting: dict[str, str] = {}
    left: int = 0
    failure: str | None = None
    spent: Spent = Spent()
    model: str | None = None
    instructions: str = ""
    would_ask: tuple[WouldAsk, ...] = ()


def preview_learning(memory: Memory, order: LearnOrder) -> LearnReport:
    """What ``learn`` would send, without sending it: no model, no lock, nothing written."""
    desk = _Learning(memory, order, SystemClock().now(), memory.proposals.load())
    asks = []
    instructions = ""
    for batch in desk.batches:
        rest = told_apart(batch, desk.known(batch), desk.at)[1]
        request = asked_for_changes(rest, memory.rules.load().book, memory.rules.owners()) if rest.lessons else None
        instructions = instructions or (request.instructions if request else "")
        ids = tuple(lesson.id for lesson in batch.lessons)
        asks.append(WouldAsk(topic=batch.topic, lessons=ids, prompt=request.prompt if request else None))
    return desk.report(is_dry_run=True, instructions=instructions, would_ask=tuple(asks))


def learn(memory: Memory, order: LearnOrder, model: Model | None, *, clock: Clock | None = None) -> LearnReport:
    """Make proposals of the lessons that are free; ``model`` None: only what code can tell.

    One at a time on one machine: ``Locked`` where another process learns. A model that fails ends it, and the failure
    is in the report. ``StoreError`` where nothing can be kept.
    """
    at = (clock or SystemClock()).now()
    if files.look_at(memory.folder) is None:
        return LearnReport()
    with files.lock(memory.folder / "learn.lock", waits=False):
        settle_interrupted(memory, at)
        desk = _Learning(memory, order, at, memory.proposals.load())
        if model is None:
            return desk.report(waiting={**desk.waiting, **desk.without_model()})
        asked(model, lambda: desk.work(model))
        return desk.report(model=model.info.name)


class _Learning:
    """The lessons by repository, and what came of each."""

    def __init__(self, memory: Memory, order: LearnOrder, at: datetime, shelf: Shelf) -> None:
        self._memory = memory
        self._order = order
        self._shelf = shelf
        self.at = at
        self.excluded: Counter[str] = Counter()
        self.waiting: dict[str, str] = {}
        self.left = 0
        self.batches = self._batches(memory.lessons.load().lessons())
        self.made: list[Proposal] = []
        self.superseded: list[str] = []
        self.spent = Spent()
        self.failure: str | None = None

    def known(self, batch: Batch) -> Known:
        return Known(
            book=self._memory.rules.load().book,
            own=self._memory.rules.owners(),
            lines=lines_in([batch.topic] if batch.topic else []),
        )

    def report(self, **more: object) -> LearnReport:
        given: dict[str, object] = {"waiting": self.waiting, **more}
        return LearnReport(
            lessons=sum(len(batch.lessons) for batch in self.batches),
            proposals=tuple(self.made),
            superseded=tuple(self.superseded),
            excluded=dict(self.excluded.most_common()),
            left=self.left,
            failure=self.failure,
            spent=self.spent,
            **given,  # type: ignore[arg-type]
        )

    async def work(self, model: Model) -> None:
        for batch in self.batches:
            bound = self.spent.reached(self._order.bounds)
            if bound is not None or self.failure is not None:
                self.waiting[batch.topic] = bound or "the model could not be asked"
                continue
            try:
                proposal = await self._proposal(batch, model)
            except ModelError as problem:
                self.failure = problem.message
                self.waiting[batch.topic] = "the model could not be asked"
                continue
            if proposal is not None:
                self._shelve(proposal)

    def without_model(self) -> dict[str, str]:
        """Proposals of what code can tell; the repositories that need a model, and that they do."""
        waiting = {}
        for batch in self.batches:
            known = self.known(batch)
            plan, rest = told_apart(batch, known, self.at)
            if rest.lessons and self._order.as_they_stand:
                plan, rest = drafted(plan, as_they_stand(rest), rest, self.at), replace(rest, lessons=())
            if rest.lessons:
                waiting[batch.topic] = "a model is needed for lessons that no rule says yet"
            else:
                self._shelve(proposal_of(plan, batch, known, self.at, None))
        return waiting

    async def _proposal(self, batch: Batch, model: Model) -> Proposal | None:
        known = self.known(batch)
        plan, rest = told_apart(batch, known, self.at)
        if rest.lessons:
            request = asked_for_changes(rest, known.book, known.own)
            answer, reply = await answer_of(model, request, Drafts, run=f"learn/{batch.topic}")
            self.spent = self.spent.and_for(reply)
            if answer is None:
                # Not the same as an empty answer: it is asked again another time.
                self.waiting[batch.topic] = "the answer could not be read"
                return None
            plan = drafted(plan, answer.changes, rest, self.at)
        return proposal_of(plan, batch, known, self.at, model.info.name)

    def _shelve(self, proposal: Proposal) -> None:
        with self._memory.proposals.writing() as shelf:
            older = [
                replace(one, status=Status.SUPERSEDED, resolved_at=self.at, by="code", reason=f"by {proposal.id}")
                for one in shelf.pending(proposal.topic, "learn")
            ]
            self._memory.proposals.put(proposal, *older)
        self.superseded += [one.id for one in older]
        self.made.append(proposal)
        if proposal.status is Status.EMPTY:
            mark_used(self._memory, proposal, self.at)

    def _batches(self, lessons: Iterable[Lesson]) -> tuple[Batch, ...]:
        by_topic: dict[str, list[Lesson]] = {}
        for lesson in lessons:
            why = lesson.why_not
            if why is None and is_held_out(lesson.id, self._order.holdout):
                why = HELD_OUT
            if why is not None:
                self.excluded[why.partition(" by ")[0]] += 1
                continue
            by_topic.setdefault(lesson.reflected.place.repository or "", []).append(lesson)
        batches = []
        for topic, found in by_topic.items():
            self.left += max(0, len(found) - MAX_LESSONS)
            batch = Batch(topic=topic, lessons=tuple(found[:MAX_LESSONS]))
            waits = self._why_wait(batch)
            if waits is None:
                batches.append(batch)
            else:
                self.waiting[topic] = waits
        return tuple(batches)

    def _why_wait(self, batch: Batch) -> str | None:
        if len(batch.lessons) < self._order.least:
            return f"{len(batch.lessons)} of the {self._order.least} lessons it takes"
        ids = {lesson.id for lesson in batch.lessons}
        book = self._memory.rules.load().book
        for one in self._shelf:
            if one.kind != "learn" or one.topic != batch.topic:
                continue
            if one.is_pending and set(one.lessons) == ids and not moves(one, book):
                return f"{one.id} is pending with these lessons"
            if one.status in _ARGUED and ids in (set(one.lessons), set(one.free)):
                return f"{one.id} argued these lessons already: {one.status}"
        return None
