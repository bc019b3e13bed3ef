"""Rules that say the same, the opposite, or one what the other says already: found as pairs, for a person to judge.

No measure tells "do X" from "do not X" by likeness alone, so likeness finds the pair and the words that turn a
meaning say which kind it is. Nothing here changes a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import combinations

from msgspec import Struct

from handrail.learning.rules.model import Life, Rule
from handrail.learning.rules.scope import is_within, overlap
from handrail.learning.rules.sentence import is_negated, words

_SAME = 0.8
_ALIKE = 0.5
_SMALL = frozenset(
    {"a", "an", "the", "to", "of", "in", "on", "and", "or", "for", "it", "is", "be", "that", "this", "with", "when"}
    | {"you", "your", "i", "me", "my", "we", "us", "please", "always", "must", "should", "only", "do", "use"}
)
_TURNS = frozenset({"never", "no", "not", "dont", "doesnt", "avoid", "without", "cannot", "cant", "mustnt", "stop"})
_CHOICE = re.compile(r"\b([\w/+-]+(?:\.\w+)*) (?:over|instead of|rather than|not) ([\w/+-]+(?:\.\w+)*)", re.IGNORECASE)


class PairKind(StrEnum):
    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    SUBSUMED = "subsumed"


class Pair(Struct, frozen=True, kw_only=True, gc=False):
    """Two rules that want a look. ``one`` is covered by ``other`` where it is subsumed; ``place`` says where the other
    stands when it is no rule of the book (``AGENTS.md:12``)."""

    kind: PairKind
    one: str
    other: str
    place: str | None = None


class Line(Struct, frozen=True, gc=False):
    """A line of an instruction file: where it stands (``AGENTS.md:12``) and what it says."""

    place: str
    text: str


def pairs_of(rules: Iterable[Rule]) -> tuple[Pair, ...]:
    """The pairs among the rules that are not retired and may count in one place."""
    living = [rule for rule in rules if rule.life is not Life.RETIRED]
    return tuple(_pairs(living))


def pairs_with(rules: Iterable[Rule], lines: Sequence[Line]) -> tuple[Pair, ...]:
    """The pairs of a rule and a line of an instruction file."""
    found: list[Pair] = []
    for rule in rules:
        if rule.life is Life.RETIRED:
            continue
        for line in lines:
            kind = kind_between(rule.text, line.text)
            if kind is not None:
                found.append(Pair(kind=kind, one=rule.id, other=line.text, place=line.place))
    return tuple(found)


def _pairs(living: Sequence[Rule]) -> Iterator[Pair]:
    for one, other in combinations(living, 2):
        if not overlap(one.scope, other.scope):
            continue
        kind = kind_between(one.text, other.text)
        if kind is PairKind.DUPLICATE and one.scope != other.scope:
            if is_within(one.scope, other.scope):
                yield Pair(kind=PairKind.SUBSUMED, one=one.id, other=other.id)
                continue
            if is_within(other.scope, one.scope):
                yield Pair(kind=PairKind.SUBSUMED, one=other.id, other=one.id)
                continue
        if kind is PairKind.SUBSUMED and _content(one.text) > _content(other.text):
            one, other = other, one
        if kind is not None:
            yield Pair(kind=kind, one=one.id, other=other.id)


def kind_between(one: str, other: str) -> PairKind | None:
    """How two sentences stand to each other; None where they have nothing to do with each other.

    For ``SUBSUMED`` either may be the narrower one.
    """
    if _choices(one) & {(b, a) for a, b in _choices(other)}:
        return PairKind.CONTRADICTION
    mine, theirs = _content(one), _content(other)
    if not mine or not theirs:
        return None
    shared = len(mine & theirs)
    likeness = 2 * shared / (len(mine) + len(theirs))
    if is_negated(one) != is_negated(other):
        return PairKind.CONTRADICTION if likeness >= _ALIKE and shared >= 2 else None
    if likeness >= _SAME:
        return PairKind.DUPLICATE
    return PairKind.SUBSUMED if shared >= 2 and (mine < theirs or theirs < mine) else None


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if word not in _SMALL and word not in _TURNS)


def _choices(text: str) -> set[tuple[str, str]]:
    return {(a.lower(), b.lower()) for a, b in _CHOICE.findall(text) if a.lower() not in _SMALL | _TURNS}
