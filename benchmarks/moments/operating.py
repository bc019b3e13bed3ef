"""Operating points, and precision and recall with their intervals."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import groupby
from math import exp, log, sqrt
from typing import NamedTuple

CANDIDATE_RECALL = 0.92
STEPIN_LIKELIHOOD = 0.70
"""What the points are set to on turns that a fit has not seen: see ``choose``. Recall 0.90 and precision 0.80 are
wanted; both fall a little on people nobody has read, and these are the margins for it.
"""

_NEWTON_STEPS = 25
_Z95 = 1.959964
_RESAMPLES = 2000


class Scored(NamedTuple):
    """A turn with the log-odds it got from a fit that has not seen its project."""

    project: str
    log_odds: float
    is_stepin: bool


class Points(NamedTuple):
    """Log-odds from which a turn is a candidate, and from which it is a step-in."""

    candidate: float
    stepin: float


class Share(NamedTuple):
    """``hits`` of ``total``; None as a value where there is nothing to divide by."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        return self.hits / self.total if self.total else None

    def wilson(self) -> tuple[float, float] | None:
        """The 95% interval, as if turns were independent of one another."""
        if not self.total:
            return None
        share, count = self.hits / self.total, self.total
        middle = (share + _Z95**2 / (2 * count)) / (1 + _Z95**2 / count)
        half = _Z95 * sqrt(share * (1 - share) / count + _Z95**2 / (4 * count**2)) / (1 + _Z95**2 / count)
        return middle - half, middle + half


class Outcome(NamedTuple):
    """One turn of an unseen project: what was said of it and what is so."""

    project: str
    is_flagged: bool
    is_stepin: bool


def precision(outcomes: Sequence[Outcome]) -> Share:
    flagged = [outcome for outcome in outcomes if outcome.is_flagged]
    return Share(sum(outcome.is_stepin for outcome in flagged), len(flagged))


def recall(outcomes: Sequence[Outcome]) -> Share:
    real = [outcome for outcome in outcomes if outcome.is_stepin]
    return Share(sum(outcome.is_flagged for outcome in real), len(real))


def by_project(
    outcomes: Sequence[Outcome], figure: Callable[[Sequence[Outcome]], Share], seed: int = 7
) -> tuple[float, float] | None:
    """The 95% interval of ``figure`` when whole projects are drawn again and again (percentile bootstrap)."""
    grouped: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        grouped[outcome.project].append(outcome)
    names, draw = sorted(grouped), random.Random(seed)
    values: list[float] = []
    for _ in range(_RESAMPLES):
        drawn = [outcome for name in draw.choices(names, k=len(names)) for outcome in grouped[name]]
        value = figure(drawn).value
        if value is not None:
            values.append(value)
    if not values:
        return None
    values.sort()
    return values[int(0.025 * len(values))], values[int(0.975 * len(values))]


def calibrate(scored: Sequence[Scored]) -> tuple[float, float]:
    """``slope`` and ``shift`` that make ``slope * log_odds + shift`` true log-odds on turns a fit has not seen.

    A strongly regularised fit is too timid about them; this is logistic regression on one number (Platt), by Newton.
    """
    slope, shift = 1.0, 0.0
    for _ in range(_NEWTON_STEPS):
        slopes, shifts, curve_aa, curve_ab, curve_bb = 0.0, 0.0, 1e-9, 0.0, 1e-9
        for turn in scored:
            chance = _chance(slope * turn.log_odds + shift)
            miss, weight = chance - turn.is_stepin, chance * (1 - chance)
            slopes += miss * turn.log_odds
            shifts += miss
            curve_aa += weight * turn.log_odds**2
            curve_ab += weight * turn.log_odds
            curve_bb += weight
        whole = curve_aa * curve_bb - curve_ab**2
        slope -= (curve_bb * slopes - curve_ab * shifts) / whole
        shift -= (curve_aa * shifts - curve_ab * slopes) / whole
    return slope, shift


def choose(scored: Sequence[Scored]) -> Points:
    """The points for ``scored``, whose log-odds are calibrated.

    The candidate point is the highest that keeps the recall. The step-in point asks the same likelihood of every turn,
    whatever the labels above it say: one that is read off the precision reached, or expected, in the training projects
    moves with whoever speaks there most, and does worse on projects that were held out.
    """
    stepin = log(STEPIN_LIKELIHOOD / (1 - STEPIN_LIKELIHOOD))
    real = sum(turn.is_stepin for turn in scored)
    found, candidate = 0, stepin
    for log_odds, alike in groupby(sorted(scored, key=lambda turn: -turn.log_odds), key=lambda turn: turn.log_odds):
        found += sum(turn.is_stepin for turn in alike)
        candidate = log_odds
        if found >= CANDIDATE_RECALL * real:
            break
    return Points(min(candidate, stepin), stepin)


def _chance(log_odds: float) -> float:
    return 1 / (1 + exp(-log_odds))


def curve(scored: Sequence[Scored]) -> dict[str, float]:
    """What the whole ranking is worth, and the best points read off it afterwards (an upper bound, not a promise)."""
    ranked = sorted(scored, key=lambda turn: -turn.log_odds)
    real = sum(turn.is_stepin for turn in ranked)
    found, average, pairs = 0, 0.0, 0
    precise, recalled = 0.0, 0.0
    for count, turn in enumerate(ranked, 1):
        found += turn.is_stepin
        if turn.is_stepin:
            average += found / count
        else:
            pairs += found
        if found >= 0.9 * real:
            precise = max(precise, found / count)
        if found >= 0.8 * count:
            recalled = max(recalled, found / real)
    return {
        "auc": round(pairs / (real * (len(ranked) - real)), 3),
        "average_precision": round(average / real, 3),
        "best_precision_at_recall_0.90": round(precise, 3),
        "best_recall_at_precision_0.80": round(recalled, 3),
    }
