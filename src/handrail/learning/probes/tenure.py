"""What the measurements of a rule allow: credit, conviction, or neither.

Somebody looks every night, so the tests are always-valid ones: a useless rule is convicted, or credited, at most as
often as the level says, however long it is watched. "Not measured" and "no effect" are two answers: the second was
looked for and not found, and comes with how large an effect the looking leaves open.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from handrail.learning.probes.ledger import Outcome, Standing
from handrail.learning.rules.model import Life, Rule
from handrail.learning.statistics import Interval, evidence_that_better, evidence_that_worse, share_sequence


class Policy(Struct, frozen=True, kw_only=True, gc=False):
    """``credit`` and ``harm`` are levels of the tests, ``leash`` that of harm for a rule on trial without a
    measurement. ``convictions`` and ``leash_convictions`` are how many moments bisection must charge a rule with, while
    it went better with the rule at none: a useless rule is charged by chance at one such moment in five at most, for it
    takes a moment that went worse and two more arms that agree, so at three of them in less than one case in a hundred.
    ``min_work`` is the least share of calls, and ``max_tokens`` the largest multiple of tokens, that a rule may cost.
    """

    credit: float = 0.05
    harm: float = 0.1
    leash: float = 0.2
    convictions: int = 3
    leash_convictions: int = 2
    min_work: float = 0.75
    max_tokens: float = 1.5


class Move(StrEnum):
    """What is to be done with a rule."""

    KEEP = "keep"
    CREDIT = "credit"
    RETIRE = "retire"


class Finding(Struct, frozen=True, kw_only=True):
    """What was found of one rule. ``share`` is the share of better among the moments in which the arms differed."""

    rule: str
    outcome: Outcome
    move: Move
    reason: str
    share: Interval
    better: float
    worse: float


def finding_of(rule: Rule, standing: Standing, policy: Policy | None = None) -> Finding:
    """What ``standing`` allows to be said of ``rule``, and to be done with it."""
    limits = policy or Policy()
    better, worse = evidence_that_better(standing.tally), evidence_that_worse(standing.tally)
    move, outcome, reason = _judged(rule, standing, limits, better, worse)
    return Finding(
        rule=rule.id,
        outcome=outcome,
        move=move,
        reason=reason,
        share=share_sequence(standing.tally),
        better=better,
        worse=worse,
    )


def is_off_the_leash(rule: Rule, standing: Standing) -> bool:
    """Whether a rule that went on trial without a measurement has one now: at more moments than it was charged with.

    What could not be told, and its own convictions, are no such measurement.
    """
    tally = standing.tally
    return rule.is_guarded and tally.discordant + tally.same > len(standing.convictions)


def _judged(rule: Rule, standing: Standing, limits: Policy, better: float, worse: float) -> tuple[Move, Outcome, str]:
    tally = standing.tally
    counted = f"{tally.better} moments better, {tally.worse} worse, {tally.same} the same"
    is_leashed = rule.is_guarded and rule.life is Life.TRIAL
    level = max(limits.leash, limits.harm) if is_leashed else limits.harm
    charged = min(limits.leash_convictions, limits.convictions) if is_leashed else limits.convictions
    if worse >= 1 / level:
        return Move.RETIRE, "regressed", f"it harms: {counted}"
    if len(standing.convictions) >= charged and not tally.better:
        return Move.RETIRE, "regressed", f"charged with what went wrong at {len(standing.convictions)} moments"
    if not standing.is_measured:
        return Move.KEEP, "not_measured", _unmeasured(standing)
    cost = _cost(standing, limits)
    if cost is not None:
        return Move.KEEP, "no_effect", f"{counted}; {cost}"
    if better >= 1 / limits.credit:
        return Move.CREDIT, "improved", f"it helps: {counted}"
    return Move.KEEP, "no_effect", f"no effect shown: {counted}"


def _unmeasured(standing: Standing) -> str:
    if not standing.observed:
        return "never probed"
    if not standing.graded:
        return f"probed {standing.observed} times, and no pair of arms could be graded"
    return f"{standing.begun} moments were gone through too few times to count"


def _cost(standing: Standing, limits: Policy) -> str | None:
    """Why a rule earns no credit although its arm passes: it does less work, or costs too much."""
    without, with_rule = standing.calls
    if without and with_rule < limits.min_work * without:
        return f"the arm with the rule does less work ({with_rule} calls for {without})"
    without, with_rule = standing.tokens
    if without and with_rule > limits.max_tokens * without:
        return f"the arm with the rule costs too much ({with_rule} tokens for {without})"
    return None
