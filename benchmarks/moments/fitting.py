"""A logistic regression whose weights keep their sign, in plain Python so that anyone can train it again.

Minimises the mean logistic loss plus ``penalty / 2`` times the squared weights (of features divided by their spread),
by cyclic descent on one coordinate at a time with the curvature's upper bound, which never overshoots. The same
input gives the same weights on every machine up to rounding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp, sqrt

PENALTY = 0.2
PASSES = 120
MIN_SPREAD = 0.12
"""A feature seen in one turn of seventy or fewer is not blown up beyond this."""
_DECIMALS = 4


class Fit:
    """Weights per raw feature value and the bias: ``bias + sum(weight * value)`` is the log-odds of a step-in."""

    def __init__(self, weights: Mapping[str, float], bias: float) -> None:
        self.weights = dict(weights)
        self.bias = bias

    def scaled(self, slope: float, shift: float) -> Fit:
        """This fit with ``slope * log_odds + shift`` for its log-odds."""
        weights = {name: round(slope * weight, _DECIMALS) for name, weight in self.weights.items()}
        return Fit(weights, round(slope * self.bias + shift, _DECIMALS))

    def log_odds(self, features: Mapping[str, float]) -> float:
        return self.bias + sum(self.weights.get(name, 0.0) * value for name, value in features.items())


def fit(
    rows: Sequence[Mapping[str, float]],
    truths: Sequence[bool],
    signs: Mapping[str, int],
    *,
    penalty: float = PENALTY,
    passes: int = PASSES,
) -> Fit:
    """The fit to ``rows`` of features and whether each is a step-in; ``signs`` as in ``pushback_features.SIGNS``."""
    count = len(rows)
    columns = _columns(rows, signs)
    spreads = {name: _spread(column, count) for name, column in columns.items()}
    weights = dict.fromkeys(columns, 0.0)
    bias = 0.0
    margins = [0.0] * count
    curvature = {
        name: sum((value / spreads[name]) ** 2 for _, value in column) / (4 * count) + penalty
        for name, column in columns.items()
    }
    for _ in range(passes):
        shift = -4 * sum(_sigmoid(margin) - truth for margin, truth in zip(margins, truths, strict=True)) / count
        bias += shift
        margins = [margin + shift for margin in margins]
        for name, column in columns.items():
            spread = spreads[name]
            slope = sum((_sigmoid(margins[row]) - truths[row]) * value for row, value in column) / (count * spread)
            wanted = weights[name] - (slope + penalty * weights[name]) / curvature[name]
            change = _signed(wanted, signs[name]) - weights[name]
            if change:
                weights[name] += change
                for row, value in column:
                    margins[row] += change * value / spread
    learned = {name: round(weight / spreads[name], _DECIMALS) for name, weight in weights.items()}
    return Fit({name: weight for name, weight in sorted(learned.items()) if weight}, round(bias, _DECIMALS))


def _columns(rows: Sequence[Mapping[str, float]], signs: Mapping[str, int]) -> dict[str, list[tuple[int, float]]]:
    columns: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for index, row in enumerate(rows):
        for name, value in row.items():
            columns[name].append((index, float(value)))
    return {name: columns[name] for name in signs if name in columns}


def _spread(column: Sequence[tuple[int, float]], count: int) -> float:
    mean = sum(value for _, value in column) / count
    square = sum(value * value for _, value in column) / count
    return max(MIN_SPREAD, sqrt(max(0.0, square - mean * mean)))


def _signed(weight: float, sign: int) -> float:
    return max(0.0, weight) if sign > 0 else min(0.0, weight) if sign < 0 else weight


def _sigmoid(margin: float) -> float:
    return 1 / (1 + exp(-margin)) if margin > -500 else 0.0
