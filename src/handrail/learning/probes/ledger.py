"""What probes came to, one row a paired repeat, and the standing of each rule that follows from the rows.

The fold looks at which rows there are and at nothing else: their order does not matter, and a row that arrives twice
counts once. Rows are never changed; a rule's record follows its id through rewordings only as far as its digest says
that the same words were probed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.ids import short_hash
from handrail.learning.statistics import Tally, Trial, by_cluster

COUNTED = 3
"""How many graded repeats a moment needs before it counts. Its verdict is that of the first so many and never changes:
a verdict that could turn with every night would sooner or later stand on the wrong side at all moments at once, and no
test would hold its level."""


class Arm(StrEnum):
    """How one arm ended: it did what the person wanted, it did not, or nobody can tell."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


class ProbeRow(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One paired repeat at one moment.

    ``rule`` is the candidate in which the arms differ, ``words`` the digest of what it said then, ``riding`` the ids
    of all learned rules in the arm with it. ``convicted`` is the rule that bisection charged a regression to, and
    ``convicted_words`` the digest of what that one said then.
    ``judged`` marks a verdict that a model gave, ``approximate`` one of a session whose prompt or tools had to be
    stood in for, ``held_out`` one whose moment the rule was not made from. ``calls`` counts those of each arm but the
    ones that the person stepped in on. ``traces`` say what each arm did, without the rule and with it.
    """

    moment: str
    rule: str
    words: str
    repeat: int
    control: Arm
    treatment: Arm
    trigger: str
    model: str
    riding: tuple[str, ...] = ()
    convicted: str | None = None
    convicted_words: str | None = None
    reason: str | None = None
    judged: bool = False
    approximate: bool = False
    held_out: bool = False
    calls: tuple[int, int] = (0, 0)
    tokens: tuple[int, int] = (0, 0)
    at: datetime | None = None
    traces: tuple[str, str] = ("", "")

    @property
    def id(self) -> str:
        """The same for the same row, wherever it was written."""
        return short_hash(*(str(value) for value in msgspec.structs.astuple(self)))

    @property
    def is_graded(self) -> bool:
        return Arm.INCONCLUSIVE not in (self.control, self.treatment)


class Standing(Struct, frozen=True, kw_only=True):
    """What was measured of one rule, as it is worded now.

    ``observed`` repeats in all, ``graded`` of them with a verdict in both arms. ``tally`` counts moments, not repeats,
    each once it has enough of them; ``begun`` are moments with some graded repeats and not enough yet;
    ``structural`` is the part of it that no model judged. ``convictions`` are the moments at which bisection charged
    the rule. ``calls`` and ``tokens`` are sums over graded repeats, without and with the rule.
    """

    rule: str
    observed: int = 0
    graded: int = 0
    tally: Tally = Tally()
    structural: Tally = Tally()
    begun: int = 0
    convictions: tuple[str, ...] = ()
    calls: tuple[int, int] = (0, 0)
    tokens: tuple[int, int] = (0, 0)
    last: datetime | None = None

    @property
    def is_measured(self) -> bool:
        """Whether some moment counts."""
        return bool(self.tally.discordant or self.tally.same)


class ReadLedger(Struct, frozen=True):
    """The rows of a file; ``bad`` are the numbers, from 1, of lines that are none."""

    rows: tuple[ProbeRow, ...]
    bad: tuple[int, ...] = ()


def standings(rows: Iterable[ProbeRow], words: Mapping[str, str], *, counted: int = COUNTED) -> dict[str, Standing]:
    """The standing of every rule in ``words``, which maps its id to the digest of what it says now.

    A moment counts by its first ``counted`` graded repeats, and not before it has them.
    """
    by_rule: dict[str, dict[str, ProbeRow]] = {rule: {} for rule in words}
    convictions: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if words.get(row.rule) == row.words:
            by_rule[row.rule][row.id] = row
        if row.convicted is not None and is_charged(row, row.convicted, words.get(row.convicted)):
            convictions[row.convicted].add(row.moment)
    return {rule: _standing(rule, found.values(), convictions[rule], counted) for rule, found in by_rule.items()}


def is_charged(row: ProbeRow, rule: str, words: str | None) -> bool:
    """Whether bisection charged ``rule`` in ``row``, as it is worded now: what other words did is no fault of these."""
    said = row.words if row.convicted == row.rule else row.convicted_words
    return row.convicted == rule and words is not None and said == words


def parse_rows(data: bytes) -> ReadLedger:
    """The rows in ``data``; a line that is none costs that line."""
    rows: list[ProbeRow] = []
    bad: list[int] = []
    for number, (start, end) in enumerate(jsonio.iter_lines(data), 1):
        if not data[start:end].strip():
            continue
        try:
            rows.append(msgspec.convert(jsonio.decode(data[start:end]), ProbeRow))
        except (jsonio.NotJson, msgspec.ValidationError):
            bad.append(number)
    return ReadLedger(tuple(rows), tuple(bad))


def render_row(row: ProbeRow) -> bytes:
    return jsonio.encode(msgspec.to_builtins(row)) + b"\n"


def verdict_rows(rows: Iterable[ProbeRow], counted: int = COUNTED) -> tuple[ProbeRow, ...]:
    """Of the rows of one rule at one moment those that decide it; none while there are too few."""
    graded = sorted((row for row in rows if row.is_graded), key=lambda row: (row.repeat, row.id))
    return tuple(graded[:counted]) if len(graded) >= counted else ()


def is_worse(rows: Iterable[ProbeRow]) -> bool:
    """Whether those rows make it a moment that went worse with the rule."""
    return _tally(rows).worse > 0


def _standing(rule: str, found: Iterable[ProbeRow], convictions: Iterable[str], counted: int) -> Standing:
    rows = sorted(found, key=lambda row: row.id)
    graded = [row for row in rows if row.is_graded]
    by_moment: dict[str, list[ProbeRow]] = defaultdict(list)
    for row in graded:
        by_moment[row.moment].append(row)
    deciding = [verdict_rows(own, counted) for own in by_moment.values()]
    return Standing(
        rule=rule,
        observed=len(rows),
        graded=len(graded),
        tally=_tally(row for own in deciding for row in own),
        structural=_tally(row for own in deciding if not any(row.judged for row in own) for row in own),
        begun=sum(not own for own in deciding),
        convictions=tuple(sorted(convictions)),
        calls=(sum(row.calls[0] for row in graded), sum(row.calls[1] for row in graded)),
        tokens=(sum(row.tokens[0] for row in graded), sum(row.tokens[1] for row in graded)),
        last=max((row.at for row in rows if row.at is not None), default=None),
    )


def _tally(rows: Iterable[ProbeRow]) -> Tally:
    return by_cluster(Trial(row.moment, row.control is Arm.PASSED, row.treatment is Arm.PASSED) for row in rows)


Outcome = Literal["improved", "regressed", "no_effect", "not_measured"]
