"""The tests keep their level, the intervals cover, and the always-valid one holds under nightly peeking."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, exp, factorial, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.learning.statistics import (
    Tally,
    Trial,
    by_cluster,
    count_interval,
    evidence_that_better,
    evidence_that_worse,
    is_held_out,
    power_of_sign_test,
    rate_interval,
    share_sequence,
    sign_test,
)

ALPHA = 0.05
_NIGHTS = 120

_counts = st.integers(0, 60)


def _chance_of_ever(rejects: Callable[[Tally], bool], nights: int) -> float:
    """How likely a fair coin makes ``rejects`` true on at least one of ``nights`` looks, one pair a night: exact."""
    paths = {0: 1.0}
    rejected = 0.0
    for night in range(1, nights + 1):
        after: dict[int, float] = {}
        for better, chance in paths.items():
            for gained in (0, 1):
                after[better + gained] = after.get(better + gained, 0.0) + chance / 2
        paths = {}
        for better, chance in after.items():
            if rejects(Tally(better, night - better)):
                rejected += chance
            else:
                paths[better] = chance
    return rejected


def test_looking_every_night_keeps_the_level_of_the_always_valid_test() -> None:
    level = _chance_of_ever(lambda tally: evidence_that_better(tally) >= 1 / ALPHA, _NIGHTS)

    assert 0 < level <= ALPHA


def test_looking_every_night_breaks_the_level_of_a_test_for_one_look() -> None:
    assert _chance_of_ever(lambda tally: sign_test(tally) <= ALPHA, _NIGHTS) > 2 * ALPHA


@pytest.mark.parametrize("pairs", [1, 5, 6, 20, 61])
def test_one_look_keeps_the_level_of_the_exact_test(pairs: int) -> None:
    level = sum(
        comb(pairs, better) / 2**pairs
        for better in range(pairs + 1)
        if sign_test(Tally(better, pairs - better)) <= ALPHA
    )

    assert level <= ALPHA


@given(_counts, _counts)
def test_the_evidence_is_a_fair_bet_where_both_are_equally_likely(better: int, worse: int) -> None:
    after = (evidence_that_better(Tally(better + 1, worse)) + evidence_that_better(Tally(better, worse + 1))) / 2

    assert isclose(after, evidence_that_better(Tally(better, worse)), rel_tol=1e-9)


@given(_counts, _counts)
def test_evidence_for_one_side_is_evidence_for_the_other_mirrored(better: int, worse: int) -> None:
    assert evidence_that_better(Tally(better, worse)) == evidence_that_worse(Tally(worse, better))


def test_nothing_discordant_is_no_evidence_either_way() -> None:
    nothing = Tally(0, 0, 40)

    assert sign_test(nothing) == 1.0
    assert evidence_that_better(nothing) == evidence_that_worse(nothing) == 1.0
    assert (share_sequence(nothing).low, share_sequence(nothing).high) == (0.0, 1.0)


def test_five_wins_and_no_loss_are_not_enough_and_six_are() -> None:
    assert sign_test(Tally(5, 0)) == 0.0625
    assert sign_test(Tally(6, 0)) == 0.03125


@given(st.integers(1, 40), st.floats(0.01, 0.99))
def test_the_interval_of_a_share_covers_at_least_as_often_as_it_says(trials: int, share: float) -> None:
    covered = sum(
        comb(trials, hits) * share**hits * (1 - share) ** (trials - hits)
        for hits in range(trials + 1)
        if rate_interval(hits, trials).low <= share <= rate_interval(hits, trials).high
    )

    assert covered >= 0.95 - 1e-9


@pytest.mark.parametrize("mean", [0.1, 0.7, 3.0, 12.5])
def test_the_interval_of_a_count_covers_at_least_as_often_as_it_says(mean: float) -> None:
    covered = sum(
        exp(-mean) * mean**count / factorial(count)
        for count in range(60)
        if count_interval(count).low <= mean <= count_interval(count).high
    )

    assert covered >= 0.95 - 1e-9


def test_no_event_still_leaves_room_above_and_none_below() -> None:
    interval = count_interval(0)

    assert interval.low == 0.0
    assert isclose(interval.high, 3.6889, rel_tol=1e-3)
    assert rate_interval(0, 0) == rate_interval(0, 0, 0.95)
    assert (rate_interval(0, 0).low, rate_interval(0, 0).high) == (0.0, 1.0)


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_the_sequence_of_intervals_holds_at_every_look_at_once(share: float) -> None:
    paths = {0: 1.0}
    missed = 0.0
    for night in range(1, 61):
        after: dict[int, float] = {}
        for better, chance in paths.items():
            after[better + 1] = after.get(better + 1, 0.0) + chance * share
            after[better] = after.get(better, 0.0) + chance * (1 - share)
        paths = {}
        for better, chance in after.items():
            interval = share_sequence(Tally(better, night - better))
            if interval.low <= share <= interval.high:
                paths[better] = chance
            else:
                missed += chance

    assert missed <= 0.05


@given(_counts, _counts)
def test_the_sequence_holds_the_share_that_was_seen(better: int, worse: int) -> None:
    interval = share_sequence(Tally(better, worse))
    seen = better / (better + worse) if better + worse else 0.5

    assert 0.0 <= interval.low <= seen <= interval.high <= 1.0


def test_repeats_of_one_moment_are_one_moment() -> None:
    nightly = [Trial("flaky", control=True, treatment=False)] * 30

    assert by_cluster(nightly) == Tally(0, 1, 0)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans())))
def test_the_order_of_the_trials_does_not_matter(rows: list[tuple[str, bool, bool]]) -> None:
    trials = [Trial(*row) for row in rows]

    assert by_cluster(trials) == by_cluster(reversed(trials))


def test_power_grows_with_the_effect_and_with_the_pairs() -> None:
    assert power_of_sign_test(0.9, 20) > power_of_sign_test(0.7, 20) > power_of_sign_test(0.6, 20)
    assert power_of_sign_test(0.8, 30) > power_of_sign_test(0.8, 10)
    assert power_of_sign_test(0.5, 25) <= ALPHA


@given(st.text(), st.floats(0, 1), st.floats(0, 1))
def test_who_is_held_out_at_a_share_is_held_out_at_every_larger_one(key: str, one: float, other: float) -> None:
    small, large = sorted((one, other))

    assert is_held_out(key, large) or not is_held_out(key, small)


def test_about_the_share_that_was_asked_for_is_held_out() -> None:
    held = sum(is_held_out(f"moment-{number}", 0.25) for number in range(4000))

    assert 900 < held < 1100
    assert not is_held_out("any", 0.0)
    assert is_held_out("any", 1.0)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 2.0])
def test_a_level_that_is_none_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        rate_interval(1, 2, level)


def test_more_hits_than_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="no share"):
        rate_interval(3, 2)
