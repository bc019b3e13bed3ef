"""What measurements allow: levels held under nightly looks, two answers that never look alike, a shorter leash."""

from __future__ import annotations

import asyncio
import random
from functools import cache

import pytest

from handrail.learning.probes.bisection import charged
from handrail.learning.probes.ledger import Arm, Standing
from handrail.learning.probes.tenure import Move, Policy, finding_of
from handrail.learning.rules.model import Life, Rule
from handrail.learning.statistics import Tally

_P, _F, _I = Arm.PASSED, Arm.FAILED, Arm.INCONCLUSIVE


def _rule(life: Life = Life.ACTIVE, *, is_guarded: bool = False) -> Rule:
    return Rule(id="r1", text="Run the tests first.", life=life, is_guarded=is_guarded)


def _standing(better: int, worse: int, same: int = 0, **more: object) -> Standing:
    graded = better + worse + same
    return Standing(rule="r1", observed=graded, graded=graded, tally=Tally(better, worse, same), **more)  # type: ignore[arg-type]


def test_not_measured_and_no_effect_never_look_alike() -> None:
    unmeasured = finding_of(_rule(), Standing(rule="r1"))
    ungraded = finding_of(_rule(), Standing(rule="r1", observed=4))
    nothing = finding_of(_rule(), _standing(0, 0, 12))

    assert [one.outcome for one in (unmeasured, ungraded, nothing)] == ["not_measured", "not_measured", "no_effect"]
    assert len({unmeasured.reason, ungraded.reason, nothing.reason}) == 3


def test_benefit_is_credited_as_harm_is_charged() -> None:
    assert finding_of(_rule(), _standing(8, 0)).move is Move.CREDIT
    assert finding_of(_rule(), _standing(0, 8)).move is Move.RETIRE
    assert finding_of(_rule(), _standing(4, 4)).move is Move.KEEP


def test_a_rule_on_trial_without_a_measurement_is_on_a_shorter_leash() -> None:  # J 65
    losing = _standing(0, 4)

    assert finding_of(_rule(Life.TRIAL, is_guarded=True), losing).move is Move.RETIRE
    assert finding_of(_rule(Life.TRIAL), losing).move is Move.KEEP
    charged_twice = Standing(rule="r1", convictions=("a", "b"))
    assert finding_of(_rule(Life.TRIAL, is_guarded=True), charged_twice).move is Move.RETIRE
    assert finding_of(_rule(), charged_twice).move is Move.KEEP


@pytest.mark.parametrize("policy", [Policy(leash=0.01), Policy(leash_convictions=9)])
def test_a_stricter_policy_never_makes_the_leash_longer_than_the_rule_without_one(policy: Policy) -> None:  # J 65
    leashed = _rule(Life.TRIAL, is_guarded=True)
    for standing in (_standing(0, 6), Standing(rule="r1", convictions=("a", "b", "c"))):
        if finding_of(_rule(), standing, policy).move is Move.RETIRE:
            assert finding_of(leashed, standing, policy).move is Move.RETIRE


def test_coverage_by_its_own_convictions_does_not_end_the_leash() -> None:  # J 55
    only_convicted = _standing(0, 2, convictions=("a", "b"))

    assert finding_of(_rule(Life.TRIAL, is_guarded=True), only_convicted).move is Move.RETIRE


def test_doing_less_is_not_doing_better() -> None:  # J 67
    lazy = _standing(9, 0, calls=(20, 1))

    found = finding_of(_rule(), lazy)

    assert found.move is Move.KEEP
    assert "less work" in found.reason


def test_no_calls_in_either_arm_is_neutral() -> None:  # J 67
    assert finding_of(_rule(), _standing(9, 0, calls=(0, 0))).move is Move.CREDIT


def test_a_rule_that_costs_too_much_earns_no_credit() -> None:
    assert finding_of(_rule(), _standing(9, 0, tokens=(1000, 1600))).move is Move.KEEP


def test_useless_rules_are_convicted_and_credited_no_more_often_than_the_levels_say() -> None:
    """Two thousand rules without any effect, each looked at on a hundred nights."""
    chance = random.Random(20260301)
    moves = [_watched(chance) for _ in range(2000)]

    assert sum(move is Move.CREDIT for move in moves) / len(moves) <= 0.05 + 0.015
    assert sum(move is Move.RETIRE for move in moves) / len(moves) <= 0.1 + 0.02
    assert Move.CREDIT in moves and Move.RETIRE in moves


@cache
def _move(better: int, worse: int) -> Move:
    return finding_of(_rule(), _standing(better, worse)).move


def _watched(chance: random.Random) -> Move:
    better = worse = 0
    for _ in range(100):
        if chance.random() < 0.5:
            better += 1
        else:
            worse += 1
        move = _move(better, worse)
        if move is not Move.KEEP:
            return move
    return Move.KEEP


# Bisection


def _fails_with(*guilty: str) -> object:
    async def attempt(rules: tuple[str, ...]) -> Arm:
        return _F if set(guilty) <= set(rules) else _P

    return attempt


@pytest.mark.parametrize("count", [1, 2, 3, 8, 13])
def test_the_one_rule_that_harms_is_found_in_about_two_log_n_drives(count: int) -> None:
    rules = [f"r{number}" for number in range(count)]
    for guilty in rules:
        found = asyncio.run(charged(rules, _fails_with(guilty)))  # type: ignore[arg-type]
        assert found.rule == guilty
        assert found.drives <= 2 + 2 * count.bit_length()


def test_rules_that_harm_only_together_are_not_charged() -> None:
    assert asyncio.run(charged(["a", "b", "c", "d"], _fails_with("a", "d"))).rule is None  # type: ignore[arg-type]


def test_nothing_is_charged_where_it_goes_wrong_without_any_rule() -> None:
    assert asyncio.run(charged(["a", "b"], _fails_with())).rule is None  # type: ignore[arg-type]


def test_an_arm_that_cannot_be_told_charges_nothing() -> None:
    async def attempt(rules: tuple[str, ...]) -> Arm:
        return {0: _P, 3: _F}.get(len(rules), _I)

    assert asyncio.run(charged(["a", "b", "c"], attempt)).rule is None


def test_a_charge_does_not_stand_against_a_moment_that_went_better() -> None:
    charged_thrice = _standing(1, 3, convictions=("a", "b", "c"))

    assert finding_of(_rule(), charged_thrice).move is Move.KEEP
    assert finding_of(_rule(), _standing(0, 3, convictions=("a", "b", "c"))).move is Move.RETIRE
