"""What can be said from few paired trials and small counts, exactly and without assuming that anything is normal.

Two tests of "does it help": an exact one for a sample whose size was settled beforehand, and an always-valid one that
keeps its level however often somebody looks. Both look only at discordant pairs (one arm passed where the other
failed); concordant ones say nothing about a difference. Repeats of one moment are no new moments: ``by_cluster``
makes one pair of each moment before anything is tested.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from hashlib import sha256
from math import comb, exp, inf, lgamma, log

from msgspec import Struct

_STEPS = 60
"""Halvings of an interval that holds a bound: more than a float can tell apart."""


class Interval(Struct, frozen=True, gc=False):
    """From ``low`` to ``high``, both included; ``level`` is the confidence, 0 to 1."""

    low: float
    high: float
    level: float


class Trial(Struct, frozen=True, gc=False):
    """One paired repeat: the moment it belongs to, and whether each arm passed."""

    cluster: str
    control: bool
    treatment: bool


class Tally(Struct, frozen=True, gc=False):
    """How many moments went better with the treatment, worse, or the same either way."""

    better: int = 0
    worse: int = 0
    same: int = 0

    @property
    def discordant(self) -> int:
        return self.better + self.worse


def by_cluster(trials: Iterable[Trial]) -> Tally:
    """One verdict a moment: better where the treatment passed more of its repeats than the control did."""
    difference: dict[str, int] = defaultdict(int)
    for trial in trials:
        difference[trial.cluster] += int(trial.treatment) - int(trial.control)
    better = sum(value > 0 for value in difference.values())
    worse = sum(value < 0 for value in difference.values())
    return Tally(better, worse, len(difference) - better - worse)


def sign_test(tally: Tally) -> float:
    """The exact two-sided p-value of "better and worse are equally likely"; 1.0 where no pair is discordant.

    Holds for one look at a sample whose size did not depend on what was seen.
    """
    n = tally.discordant
    tail = sum(comb(n, k) for k in range(min(tally.better, tally.worse) + 1))
    return float(min(Fraction(2 * tail, 2**n), Fraction(1)))


def evidence_that_better(tally: Tally) -> float:
    """An e-value for "better is likelier than worse": how many times over the data favour it.

    A bet on every share above one half, uniformly spread, against one half. It is a nonnegative martingale where
    both are equally likely, so the chance that it ever exceeds ``1 / alpha`` is at most ``alpha``, however often one
    looks and whenever one stops (Ville's inequality). 1.0 before any discordant pair.
    """
    return _one_sided(tally.better, tally.worse)


def evidence_that_worse(tally: Tally) -> float:
    """The same for "worse is likelier than better"."""
    return _one_sided(tally.worse, tally.better)


def _one_sided(wins: int, losses: int) -> float:
    # 2^(n+1) times the integral of p^wins (1-p)^losses over (1/2, 1). The incomplete beta of whole numbers is a
    # binomial tail, and the powers of two cancel, so this is exact until the last division.
    n = wins + losses
    return float(Fraction(sum(comb(n + 1, k) for k in range(wins + 1)), (n + 1) * comb(n, wins)))


def rate_interval(hits: int, trials: int, level: float = 0.95) -> Interval:
    """The Clopper-Pearson interval of a share: covers at least ``level`` of the time. ``(0, 1)`` without a trial."""
    _check_level(level)
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} of {trials} is no share")
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else _solve(lambda p: 1 - _binomial_cdf(hits - 1, trials, p), tail, 0.0, 1.0)
    high = 1.0 if hits == trials else _solve(lambda p: -_binomial_cdf(hits, trials, p), -tail, 0.0, 1.0)
    return Interval(low, high, level)


def count_interval(count: int, level: float = 0.95) -> Interval:
    """The exact (Garwood) interval of the mean of a Poisson count; divide by the exposure for a rate.

    It takes the events for independent. Step-ins of one session are not quite, so it is too narrow where few sessions
    hold most of them.
    """
    _check_level(level)
    if count < 0:
        raise ValueError(f"{count} is no count")
    tail = (1 - level) / 2
    ceiling = count + 12.0 * (count + 1) ** 0.5 + 40.0
    low = 0.0 if count == 0 else _solve(lambda mean: 1 - _poisson_cdf(count - 1, mean), tail, 0.0, ceiling)
    return Interval(low, _solve(lambda mean: -_poisson_cdf(count, mean), -tail, 0.0, ceiling), level)


def share_sequence(tally: Tally, level: float = 0.95) -> Interval:
    """An interval for the share of better among discordant pairs that holds at every look at once.

    All shares that a uniform bet has not refuted by ``1 / (1 - level)``.
    """
    _check_level(level)
    wins, losses = tally.better, tally.worse
    if not tally.discordant:
        return Interval(0.0, 1.0, level)
    # The bet's own capital against a share p: B(wins+1, losses+1) / (p^wins (1-p)^losses).
    limit = -log(1 - level)
    bet = lgamma(wins + 1) + lgamma(losses + 1) - lgamma(wins + losses + 2)

    def capital(p: float) -> float:
        return bet - _power(p, wins) - _power(1 - p, losses)

    peak = wins / (wins + losses)
    low = 0.0 if capital(0.0) < limit else _solve(lambda p: -capital(p), -limit, 0.0, peak)
    high = 1.0 if capital(1.0) < limit else _solve(capital, limit, peak, 1.0)
    return Interval(low, high, level)


def power_of_sign_test(share: float, pairs: int, alpha: float = 0.05) -> float:
    """How likely ``pairs`` discordant pairs, of which ``share`` go better in the long run, end below ``alpha``."""
    return sum(
        exp(_log_binomial(k, pairs, share))
        for k in range(pairs + 1)
        if sign_test(Tally(k, pairs - k)) <= alpha and 2 * k > pairs
    )


def chance_of_crediting(share: float, pairs: int, alpha: float = 0.05) -> float:
    """How likely the always-valid test says "better" at some look at the first ``pairs`` discordant pairs, of which
    ``share`` go better in the long run, when it is looked at after each. At one half this is its type I error."""
    _check_level(1 - alpha)
    reached = 0.0
    standing = {0: 1.0}
    for count in range(1, pairs + 1):
        ahead: dict[int, float] = defaultdict(float)
        for wins, chance in standing.items():
            ahead[wins + 1] += chance * share
            ahead[wins] += chance * (1 - share)
        standing = {}
        for wins, chance in ahead.items():
            if evidence_that_better(Tally(wins, count - wins)) >= 1 / alpha:
                reached += chance
            else:
                standing[wins] = chance
    return reached


def is_held_out(key: str, share: float, salt: str = "") -> bool:
    """Whether ``key`` belongs to the part that is kept back: by its hash, so membership never drifts with the rest."""
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is no share")
    digest = sha256(f"{salt}\0{key}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, {level} does not")


def _power(base: float, exponent: int) -> float:
    """The logarithm of ``base ** exponent``, with ``0 ** 0`` one."""
    if exponent == 0:
        return 0.0
    return -inf if base <= 0 else exponent * log(base)


def _log_binomial(k: int, n: int, p: float) -> float:
    return log(comb(n, k)) + _power(p, k) + _power(1 - p, n - k)


def _binomial_cdf(k: int, n: int, p: float) -> float:
    return min(1.0, sum(exp(_log_binomial(i, n, p)) for i in range(k + 1)))


def _poisson_cdf(k: int, mean: float) -> float:
    if mean <= 0:
        return 1.0
    return min(1.0, sum(exp(i * log(mean) - mean - lgamma(i + 1)) for i in range(k + 1)))


def _solve(rising: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Where ``rising``, a function that does not fall from ``low`` to ``high``, comes to ``wanted``."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if rising(middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2
