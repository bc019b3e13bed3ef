"""A proposal as a value: operations on the rules, what they rest on, and what became of them.

A proposal holds operations and no rewritten book, so that several can be accepted one after the other, and a rule that
none of them names is untouched.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from handrail.errors import HandrailError
from handrail.learning.rules.model import By, Instant, Life, RuleScope, Source
from handrail.learning.rules.operations import Operation
from handrail.learning.rules.pairs import Pair


class Status(StrEnum):
    """What became of a proposal.

    ``pending``: the owner has not said. ``accepted``, ``rejected``: they have. ``rejected_by_gate``: probes spoke
    against it. ``applied``: code put it into force, after a gate. ``superseded``: a newer one took its place, and its
    lessons. ``empty``: nothing was to be done; kept so that the same lessons are not argued again.
    """

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REJECTED_BY_GATE = "rejected_by_gate"
    APPLIED = "applied"
    SUPERSEDED = "superseded"
    EMPTY = "empty"


Kind = Literal["learn", "credit", "retire", "narrow", "enforce"]
"""What it is about: rules of lessons; or what measurements say of one rule."""


class Handling(StrEnum):
    """How a lesson stands to a rule that says it already.

    ``ignored``: it was in the prompt and was not followed: enforce or reword it. ``absent``: it was not in the prompt:
    mend where it counts. ``again``: nobody recorded whether it was, or the moment is older than the rule: more
    evidence. ``retired``: the rule was taken out of force; it is not said again. ``owners``: the owner's own file says
    it.
    """

    IGNORED = "ignored"
    ABSENT = "absent"
    AGAIN = "again"
    RETIRED = "retired"
    OWNERS = "owners"


class Covered(Struct, frozen=True, kw_only=True, gc=False):
    """A lesson that a rule says already; ``rule`` is its id, or the owner's sentence. ``advice`` says what to do."""

    lesson: str
    rule: str
    handling: Handling
    advice: str


class RefusedDraft(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Something a model wanted done that the book does not take; its lessons stay free."""

    what: str
    why: str
    lessons: tuple[str, ...] = ()


class Before(Struct, frozen=True, kw_only=True):
    """A rule as it was when the proposal was made."""

    rule: str
    text: str
    life: Life
    scope: RuleScope


class Proposal(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is to be done with the rules.

    ``topic`` is what it is about (for lessons: their repository, empty where it is unknown): at most one proposal of a
    topic is pending. ``lessons`` are all that were looked at, ``free`` those of them that stay free whatever becomes
    of it. ``before`` are the rules that count where it does. ``evidence`` are sentences of code, ``probes`` the ids of
    rows of the ledger.
    """

    id: str
    kind: Kind = "learn"
    topic: str = ""
    status: Status = Status.PENDING
    operations: tuple[Operation, ...] = ()
    lessons: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    covered: tuple[Covered, ...] = ()
    pairs: tuple[Pair, ...] = ()
    refused: tuple[RefusedDraft, ...] = ()
    before: tuple[Before, ...] = ()
    evidence: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    model: str | None = None
    created_at: Instant
    resolved_at: Instant | None = None
    by: By | None = None
    reason: str | None = None

    @property
    def is_pending(self) -> bool:
        return self.status is Status.PENDING

    @property
    def sources(self) -> tuple[Source, ...]:
        """The moments that its operations rest on."""
        found = (source for operation in self.operations for source in getattr(operation, "sources", ()))
        return tuple(dict.fromkeys(found))


class NoSuchProposal(HandrailError, LookupError):
    """No proposal has that id, or several begin like it."""

    code = "no_such_proposal"
    exit_code = 5


class NotPending(HandrailError, ValueError):
    """The proposal was decided already."""

    code = "not_pending"
    exit_code = 2


class RulesMoved(HandrailError, ValueError):
    """The rules are not what they were when the proposal was made."""

    code = "rules_moved"
    exit_code = 2
