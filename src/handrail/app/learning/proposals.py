"""Use case: the owner looks at proposals, and says yes or no.

Rules, lessons and the proposal are three files. They are written in that order, each whole; who is cut off between two
of them finds the rules as they should be, and is gone on with.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.counting import MomentRow
from handrail.app.learning.beside import moments_beside
from handrail.app.learning.measured import rows_of
from handrail.app.learning.memory import Memory
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.clock import Clock, SystemClock
from handrail.learning.probes.ledger import ProbeRow
from handrail.learning.proposals.model import NotPending, Proposal, RulesMoved, Status
from handrail.learning.proposals.review import DiffLine, carried_out, diff, is_done, moves, proposed, touched
from handrail.learning.proposals.store import BadFile
from handrail.learning.reflecting.lesson import Changed, Journalled, Lesson
from handrail.learning.rules.model import By, NoSuchRule, Rule, RuleBook
from handrail.learning.rules.operations import Refused
from handrail.learning.rules.sentence import NotASentence

Gate = Literal["owner", "code"]
"""Who puts a proposal into force: the owner, or code after a gate."""


class ProposalList(Struct, frozen=True, kw_only=True):
    """Proposals, the newest first; ``bad`` are files that are none."""

    schema_version: int = SCHEMA_VERSION
    proposals: tuple[Proposal, ...]
    bad: tuple[BadFile, ...] = ()


class ProposalView(Struct, frozen=True, kw_only=True):
    """One proposal with what it rests on.

    ``diff`` is what it would change in the rules as they are now, or did; ``moved`` why it can no longer be accepted
    as it is. ``moments`` are those behind it, found in their sessions; ``lessons`` what they taught. ``rows`` are the
    measurements of the rules it touches, in the words they have or would have.
    """

    schema_version: int = SCHEMA_VERSION
    proposal: Proposal
    diff: tuple[DiffLine, ...] = ()
    moved: tuple[str, ...] = ()
    moments: tuple[MomentRow, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    rows: tuple[ProbeRow, ...] = ()


class Decided(Struct, frozen=True, kw_only=True):
    """The proposal as it is now, and the rules that came of it."""

    schema_version: int = SCHEMA_VERSION
    proposal: Proposal
    rules: tuple[Rule, ...] = ()


def list_proposals(memory: Memory, *, everything: bool = False) -> ProposalList:
    """Those that wait for the owner; with ``everything`` those that were decided too."""
    shelf = memory.proposals.load()
    chosen = [one for one in shelf if everything or one.is_pending]
    return ProposalList(proposals=tuple(reversed(chosen)), bad=shelf.bad)


def show_proposal(machine: Machine, memory: Memory, prefix: str) -> ProposalView:
    """The proposal, the moments behind it, what it would change; ``NoSuchProposal``."""
    proposal = memory.proposals.load().find(prefix)
    book = memory.rules.load().book
    lessons = memory.lessons.load().lessons()
    moved = moves(proposal, book) if proposal.is_pending and not is_done(proposal, book) else ()
    ids = {source.lesson for source in proposal.sources} | {one.lesson for one in proposal.covered}
    after = _after(proposal, book)
    return ProposalView(
        proposal=proposal,
        diff=diff(book, after) if proposal.is_pending else (),
        moved=moved,
        moments=moments_beside(machine, proposal.sources),
        lessons=tuple(lesson for lesson in lessons if lesson.id in ids),
        rows=rows_of(memory, touched(proposal, after)),
    )


def accept_proposal(
    memory: Memory,
    prefix: str,
    *,
    force: bool = False,
    by: Gate = "owner",
    is_measured: bool = False,
    reason: str | None = None,
    clock: Clock | None = None,
) -> Decided:
    """Put the proposal into force and use up its lessons.

    ``RulesMoved`` where the rules are not what they were, unless ``force``; ``NotPending``, ``NoSuchProposal``, and
    ``Refused`` where the rules do not take it: then nothing has changed. ``is_measured``: probes stand behind it, so
    its rules are on trial without the shorter leash.
    """
    at = (clock or SystemClock()).now()
    with memory.proposals.writing() as shelf:
        proposal = _pending(shelf.find(prefix))

        def change(book: RuleBook) -> RuleBook:
            if is_done(proposal, book):
                return book
            moved = () if force else moves(proposal, book)
            if moved:
                raise RulesMoved(f"the rules have moved: {'; '.join(moved)}", hint="--force accepts it all the same")
            return carried_out(proposal, book, by=by, at=at, is_measured=is_measured)

        book = memory.rules.update(change)
        status = Status.ACCEPTED if by == "owner" else Status.APPLIED
        return Decided(
            proposal=_finished(memory, proposal, book, status, by, at, reason), rules=touched(proposal, book)
        )


def reject_proposal(memory: Memory, prefix: str, reason: str | None = None, *, clock: Clock | None = None) -> Decided:
    """Say no: its lessons are used up, so it is not argued again. ``NotPending``, ``NoSuchProposal``."""
    at = (clock or SystemClock()).now()
    with memory.proposals.writing() as shelf:
        proposal = _pending(shelf.find(prefix))
        mark_used(memory, proposal, at)
        closed = replace(proposal, status=Status.REJECTED, resolved_at=at, by="owner", reason=reason)
        memory.proposals.put(closed)
    return Decided(proposal=closed)


def settle_interrupted(memory: Memory, at: datetime) -> tuple[str, ...]:
    """Finish what was cut off between the rules and the proposal; the ids of the proposals."""
    pending = memory.proposals.load().pending()
    book = memory.rules.load().book
    if not any(is_done(one, book) for one in pending):
        return ()
    settled = []
    with memory.proposals.writing() as shelf:
        for one in shelf.pending():
            if is_done(one, book):
                _finished(memory, one, book, Status.ACCEPTED, "code", at, "it stands in the rules already")
                settled.append(one.id)
    return tuple(settled)


def mark_used(
    memory: Memory, proposal: Proposal, at: datetime, rule_of: Callable[[str], str | None] = lambda _: None
) -> None:
    """Use up the lessons of ``proposal``: those that ``rule_of`` knows a rule for went into it."""

    def rows(present: Journalled) -> tuple[Changed, ...]:
        free = {lesson.id for lesson in present.lessons() if lesson.rule is None and lesson.used is None}
        return tuple(
            _mark(id, rule_of(id), proposal.id, at) for id in proposal.lessons if id in free and id not in proposal.free
        )

    memory.lessons.add(rows)


def _mark(lesson: str, rule: str | None, proposal: str, at: datetime) -> Changed:
    if rule is None:
        return Changed(lesson=lesson, did="used", text=proposal, at=at)
    return Changed(lesson=lesson, did="learned", text=rule, at=at)


def _finished(
    memory: Memory, proposal: Proposal, book: RuleBook, status: Status, by: By, at: datetime, reason: str | None
) -> Proposal:
    """The lessons are marked, then the proposal is closed."""
    rules = {source.lesson: rule.id for rule in touched(proposal, book) for source in rule.sources}
    mark_used(memory, proposal, at, rules.get)
    closed = replace(proposal, status=status, resolved_at=at, by=by, reason=reason)
    memory.proposals.put(closed)
    return closed


def _pending(proposal: Proposal) -> Proposal:
    if proposal.is_pending:
        return proposal
    raise NotPending(f"proposal {proposal.id} is {proposal.status}")


def _after(proposal: Proposal, book: RuleBook) -> RuleBook:
    """The rules as it would make them; as they are where they do not take it any more, which ``moved`` says."""
    if not proposal.is_pending:
        return book
    try:
        return proposed(proposal, book, by="owner", at=proposal.created_at)
    except (Refused, NotASentence, NoSuchRule):
        return book
