"""Whether a follow-up pushes back on the agent's work, with the reasons: offline, and a sum that anyone can check.

The log-odds of a step-in are a bias and, for every feature of the turn (``pushback_features``), a weight times its
value. The weights, the bias and the two operating points are data beside this module, made by
``benchmarks/moments``; there is no model to download and nothing leaves the process.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from math import exp

import msgspec
from msgspec import Struct

from handrail.learning.moment import Intervention, Verdict
from handrail.learning.pushback_features import REASONS, features_of
from handrail.learning.pushback_turn import Turn, turn_at
from handrail.transcripts.model import Common

WEIGHTS = "pushback_weights.json"
_TOLD = 4
_WORTH_TELLING = 0.15


class PushbackModel(Struct, frozen=True, kw_only=True):
    """The learned part. ``candidate`` and ``stepin`` are the log-odds from which a turn is one or the other.

    ``trained_on`` counts the turns and step-ins it was made from, for people to read.
    """

    version: int
    bias: float
    weights: dict[str, float]
    candidate: float
    stepin: float
    trained_on: dict[str, int] = {}

    def judge(self, turn: Turn) -> Verdict:
        """The verdict on ``turn`` and the weightiest reasons for and against it."""
        features = features_of(turn)
        shares = {name: self.weights[name] * value for name, value in features.items() if name in self.weights}
        log_odds = self.bias + sum(shares.values())
        told = sorted((name for name in shares if abs(shares[name]) >= _WORTH_TELLING), key=lambda n: -abs(shares[n]))
        return Verdict(
            likelihood=round(1 / (1 + exp(-log_odds)), 3),
            is_candidate=log_odds >= self.candidate,
            is_stepin=log_odds >= self.stepin,
            reasons=tuple(REASONS[name] for name in told if shares[name] > 0)[:_TOLD],
            doubts=tuple(REASONS[name] for name in told if shares[name] < 0)[:_TOLD],
        )


@cache
def shipped_model() -> PushbackModel:
    """The model that comes with this package; read once."""
    data = files("handrail.learning").joinpath(WEIGHTS).read_bytes()
    return msgspec.json.decode(data, type=PushbackModel)


def score_pushback(moment: Intervention, line: Common, at: int) -> Verdict:
    """What the shipped model says of the follow-up ``moment``, whose words stand in ``line[at]``."""
    return shipped_model().judge(turn_at(line, at, moment.words))
