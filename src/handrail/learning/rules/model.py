"""A rule as a value, and the book of all rules.

A rule is never deleted: what no longer counts is retired, with a reason, and keeps its id, its sources and its
history. Everything grows by optional fields only.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handrail.errors import HandrailError
from handrail.learning.naming import one_named
from handrail.transcripts.model import Json


class Life(StrEnum):
    """How far a rule has come.

    ``candidate``: proposed, rides nowhere. ``trial``: rides, and is watched on a shorter leash. ``active``: rides.
    ``retired``: rides nowhere and is kept.
    """

    CANDIDATE = "candidate"
    TRIAL = "trial"
    ACTIVE = "active"
    RETIRED = "retired"


class Polarity(StrEnum):
    """Whether a rule asks for something or forbids it."""

    DO = "do"
    DONT = "dont"


By: TypeAlias = Literal["owner", "model", "code"]
"""Whose act it was: the owner's, a model's proposal, or what code concluded from measurements."""

Instant: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""An aware time; one without a zone, as a hand may write it, is no time here."""

Axis: TypeAlias = tuple[str, ...] | None
"""Where a rule counts, along one axis: in the places named, in none when empty, anywhere when None."""


class RuleScope(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Where a rule counts. Computed from evidence; only the owner widens it.

    ``repositories`` and ``paths`` (globs within a repository), ``tools`` by name, ``harnesses``, and ``surfaces``
    (``reply``, ``call``, ``file``: what the rule is about).
    """

    repositories: Axis = None
    paths: Axis = None
    tools: Axis = None
    harnesses: Axis = None
    surfaces: Axis = None

    @property
    def is_dark(self) -> bool:
        """Whether no run can ever match it."""
        return any(axis == () for axis in self.axes())

    def axes(self) -> tuple[Axis, ...]:
        return (self.repositories, self.paths, self.tools, self.harnesses, self.surfaces)


class Source(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """The moment a rule came from: ids only, for whoever wants to look it up; ``at`` is when it was (aware UTC)."""

    harness: str
    session: str
    uid: str
    moment: str
    lesson: str | None = None
    at: Instant | None = None


class Change(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing that happened to a rule; ``text`` is what it said before, where that changed."""

    did: str
    by: By
    at: Instant | None = None
    reason: str | None = None
    text: str | None = None


class Rule(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One rule.

    ``by`` is whose words it holds: a model's stay a model's until the owner changes them. ``check`` is the
    declarative spec it was compiled to. ``is_guarded`` marks one that was put on trial without a measurement: it is
    retired sooner. ``enforced`` says what the check does: nothing, noted in shadow, or enforced.
    """

    id: str
    text: str
    life: Life = Life.CANDIDATE
    polarity: Polarity = Polarity.DO
    scope: RuleScope = RuleScope()
    sources: tuple[Source, ...] = ()
    by: By = "model"
    check: Json = None
    enforced: Literal["off", "shadow", "on"] = "off"
    is_guarded: bool = False
    created_at: Instant | None = None
    retired_at: Instant | None = None
    reason: str | None = None
    history: tuple[Change, ...] = ()

    @property
    def rides(self) -> bool:
        """Whether it is put into prompts where its scope matches."""
        return self.life in (Life.TRIAL, Life.ACTIVE)


class NoSuchRule(HandrailError, LookupError):
    """No rule has that id, or several begin like it."""

    code = "no_such_rule"
    exit_code = 5


class RuleBook(Struct, frozen=True):
    """All rules, by id, in the order they came."""

    rules: tuple[Rule, ...] = ()

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def get(self, id: str) -> Rule | None:
        return next((rule for rule in self.rules if rule.id == id), None)

    def find(self, prefix: str) -> Rule:
        """The rule whose id begins with ``prefix``; ``NoSuchRule`` for none, several, or an empty prefix."""
        return one_named(self.rules, prefix, "rule", NoSuchRule, "handrail rules lists them")

    def with_rule(self, rule: Rule) -> RuleBook:
        """The book with ``rule`` in the place of the one of its id, or at the end."""
        if self.get(rule.id) is None:
            return RuleBook((*self.rules, rule))
        return RuleBook(tuple(rule if one.id == rule.id else one for one in self.rules))


def changed(rule: Rule, change: Change, **fields: object) -> Rule:
    """``rule`` with ``fields`` and the change in its history."""
    return replace(rule, **fields, history=(*rule.history, change))
