"""What a pass of probes came to, as values: rule by rule, moment by moment, and what may be said of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.learning.asking import Spent
from handrail.app.learning.points import NoPoint, Point
from handrail.app.machine import SCHEMA_VERSION
from handrail.learning.probes.branching import Grading
from handrail.learning.probes.ledger import Arm, Outcome, ProbeRow, standings
from handrail.learning.probes.pairing import words_digest
from handrail.learning.probes.tenure import Finding, finding_of
from handrail.learning.proposals.model import Proposal
from handrail.learning.rules.model import Life, Rule

RuleAtMoment: TypeAlias = tuple[str, str]
"""The id of a rule and that of a moment."""


class ProbedMoment(Struct, frozen=True, kw_only=True):
    """One moment that a rule was probed at, or was not (``reason``).

    Of its ``pairs`` so many went better with the rule, worse, or the same; ``ungraded`` could not be told, the last of
    them for ``reason``. ``outcome`` is that of this one moment, and one moment proves nothing of a rule.
    """

    moment: str
    harness: str
    session: str
    grading: Grading | None = None
    approximate: bool = False
    held_out: bool = False
    pairs: int = 0
    better: int = 0
    worse: int = 0
    same: int = 0
    ungraded: int = 0
    outcome: Outcome = "not_measured"
    reason: str | None = None


class ProbedRule(Struct, frozen=True, kw_only=True):
    """A rule, the moments of this pass, and what all its measurements so far allow to be said."""

    rule: str
    text: str
    life: Life
    moments: tuple[ProbedMoment, ...]
    finding: Finding


class ProbeReport(Struct, frozen=True, kw_only=True):
    """What came of it. ``pairs`` were run; ``stopped`` says why no more were, ``is_bound`` that it was a bound and no
    failure. ``proposals`` are the ids of those made.

    ``bad_lines`` are the lines of the ledger that are no rows.
    """

    schema_version: int = SCHEMA_VERSION
    is_dry_run: bool = False
    rules: tuple[ProbedRule, ...]
    pairs: int = 0
    requests_at_most: int = 0
    spent: Spent = Spent()
    stopped: str | None = None
    model: str | None = None
    judge: str | None = None
    proposals: tuple[str, ...] = ()
    bad_lines: tuple[int, ...] = ()
    is_bound: bool = False

    def with_proposals(self, made: Iterable[Proposal]) -> ProbeReport:
        """The report with the proposals that came of it."""
        return replace(self, proposals=tuple(one.id for one in made))


class Task(Struct, frozen=True, kw_only=True):
    """A rule at one moment."""

    rule: Rule
    point: Point | NoPoint
    held_out: bool


def rules_probed(
    chosen: Iterable[Rule],
    tasks: Iterable[Task],
    known: Iterable[ProbeRow],
    rows: Mapping[RuleAtMoment, list[ProbeRow]],
) -> tuple[ProbedRule, ...]:
    """The ``chosen`` rules: of this pass their moments and ``rows``, of all passes what the ``known`` rows allow."""
    rules = tuple(chosen)
    found = standings(known, {rule.id: words_digest(rule) for rule in rules})
    moments: dict[str, list[ProbedMoment]] = {rule.id: [] for rule in rules}
    for task in tasks:
        own = rows.get((task.rule.id, task.point.source.moment), [])
        moments[task.rule.id].append(_moment(task, own))
    return tuple(
        ProbedRule(
            rule=rule.id,
            text=rule.text,
            life=rule.life,
            moments=tuple(moments[rule.id]),
            finding=finding_of(rule, found[rule.id]),
        )
        for rule in rules
    )


def _moment(task: Task, rows: Iterable[ProbeRow]) -> ProbedMoment:
    point = task.point
    told = ProbedMoment(
        moment=point.source.moment,
        harness=point.source.harness,
        session=point.source.session,
        held_out=task.held_out,
    )
    if isinstance(point, NoPoint):
        return replace(told, reason=point.reason)
    given = list(rows)
    counted = Counter(_outcome(row) for row in given)
    return replace(
        told,
        grading=point.branch.grading,
        approximate=point.setting.approximate,
        pairs=counted.total(),
        better=counted["improved"],
        worse=counted["regressed"],
        same=counted["no_effect"],
        ungraded=counted["not_measured"],
        outcome=_summed(counted),
        reason=next((row.reason for row in reversed(given) if not row.is_graded), None),
    )


def _summed(counted: Mapping[Outcome, int]) -> Outcome:
    """The outcome of all repeats at one moment."""
    difference = counted["improved"] - counted["regressed"]
    if difference:
        return "improved" if difference > 0 else "regressed"
    return "no_effect" if counted["no_effect"] or counted["improved"] else "not_measured"


def _outcome(row: ProbeRow) -> Outcome:
    if not row.is_graded:
        return "not_measured"
    if row.control is row.treatment:
        return "no_effect"
    return "improved" if row.treatment is Arm.PASSED else "regressed"
