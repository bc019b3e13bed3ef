"""The tools that train and measure the scorer: signs, calibration, points, intervals, and nothing leaking."""

from __future__ import annotations

from math import exp

import pytest
from benchmarks.moments import measuring
from benchmarks.moments.collecting import Example, load_labels
from benchmarks.moments.fitting import fit
from benchmarks.moments.operating import (
    STEPIN_LIKELIHOOD,
    Outcome,
    Scored,
    Share,
    by_project,
    calibrate,
    choose,
    precision,
    recall,
)

from handrail.learning.pushback_judge import Case
from handrail.learning.pushback_turn import Turn

SIGNS = {"good": 1, "bad": -1, "either": 0}


def example(project: str, *, is_stepin: bool, words: str = "x", **features: float) -> Example:
    return Example(
        project=project,
        owner=project,
        file="f",
        line=0,
        lang="en",
        trigger="followup",
        is_persons=True,
        is_stepin=is_stepin,
        found_stepin=False,
        turn=Turn(words),
        features=features,
    )


def test_a_fit_tells_apart_what_its_features_tell_apart() -> None:
    rows = [{"good": 1.0}] * 40 + [{"bad": 1.0}] * 40
    learned = fit(rows, [True] * 40 + [False] * 40, SIGNS, penalty=0.01)
    assert learned.log_odds({"good": 1.0}) > 2 > -2 > learned.log_odds({"bad": 1.0})


def test_a_weight_never_points_the_other_way() -> None:
    rows = [{"good": 1.0}] * 40 + [{"bad": 1.0}] * 40
    learned = fit(rows, [False] * 40 + [True] * 40, SIGNS)
    assert learned.weights == {}


def test_the_fit_is_where_the_loss_is_least() -> None:
    rows = [{"either": 1.0}] * 30 + [{}] * 70
    truths = [True] * 24 + [False] * 6 + [True] * 7 + [False] * 63
    learned = fit(rows, truths, SIGNS, penalty=1e-9, passes=3000)
    assert 1 / (1 + exp(-learned.log_odds({"either": 1.0}))) == pytest.approx(24 / 30, abs=0.01)
    assert 1 / (1 + exp(-learned.log_odds({}))) == pytest.approx(7 / 70, abs=0.01)


def test_the_same_rows_give_the_same_fit_in_any_order() -> None:
    rows = [{"good": 1.0, "either": 0.5}, {"bad": 1.0}, {"either": 2.0}, {}] * 10
    truths = [True, False, True, False] * 10
    one, other = fit(rows, truths, SIGNS), fit(rows[::-1], truths[::-1], SIGNS)
    assert one.weights == pytest.approx(other.weights, abs=2e-4)


def test_calibration_undoes_timidity() -> None:
    timid = [Scored("p", value, index < hits) for value, hits in ((0.5, 9), (-0.5, 1)) for index in range(10)]
    slope, shift = calibrate(timid)
    assert 1 / (1 + exp(-(slope * 0.5 + shift))) == pytest.approx(0.9, abs=0.01)
    assert 1 / (1 + exp(-(slope * -0.5 + shift))) == pytest.approx(0.1, abs=0.01)


def test_the_candidate_point_is_the_highest_that_keeps_the_recall() -> None:
    likely = [Scored("p", 3.0, True)] * 19
    doubtful = [Scored("p", -2.0 - rank / 10, rank in (0, 1, 2, 3, 4, 8)) for rank in range(20)]
    assert choose([*likely, *doubtful]).candidate == -2.3


def test_the_step_in_point_asks_the_same_likelihood_whatever_the_labels() -> None:
    for truth in (True, False):
        stepin = choose([Scored("p", 3.0, truth)] * 9 + [Scored("p", -3.0, True)] * 30).stepin
        assert 1 / (1 + exp(-stepin)) == pytest.approx(STEPIN_LIKELIHOOD)


def test_a_step_in_is_always_a_candidate() -> None:
    points = choose([Scored("p", 3.0, True)] * 9 + [Scored("p", 2.0, True)] + [Scored("p", -3.0, False)] * 30)
    assert points.candidate == points.stepin < 2.0


def test_shares_and_their_intervals() -> None:
    assert Share(0, 0).value is None
    assert Share(0, 0).wilson() is None
    low, high = Share(8, 10).wilson() or (0, 0)
    assert (round(low, 3), round(high, 3)) == (0.49, 0.943)


def test_precision_and_recall_count_what_they_say() -> None:
    outcomes = [
        Outcome("p", True, True),
        Outcome("p", True, False),
        Outcome("p", False, True),
        Outcome("q", True, True),
    ]
    assert (precision(outcomes), recall(outcomes)) == (Share(2, 3), Share(2, 3))
    assert by_project(outcomes, precision) == (0.5, 1.0)


def test_a_projects_own_turns_never_decide_about_it() -> None:
    """In project ``odd`` the sign is the other way round; a fit that had seen it would know."""
    flags = (True, False) * 12
    plain = [example(name, is_stepin=flag, says_but=float(flag)) for name in ("p", "q", "r") for flag in flags]
    odd = [example("odd", is_stepin=not flag, says_but=float(flag)) for flag in flags]
    scored = measuring.scored_unseen([*plain, *odd], lambda example: example.project)
    assert all((turn.log_odds > 0) != turn.is_stepin for turn in scored if turn.project == "odd")


def test_a_stand_in_judge_gives_the_same_report() -> None:
    """A third of what looks like push-back is none; the judge knows which by its words."""
    kinds = ((True, "push", 2.0), (True, "push", 2.0), (False, "go", 2.0), (False, "go", 0.0), (False, "go", 0.0))
    examples = [
        example(name, is_stepin=flag, words=words, says_but=value + number / 100)
        for name in ("p", "q", "r")
        for number in range(20)
        for flag, words, value in kinds
    ]

    def judge(case: Case) -> bool:
        return case.turn == "push"

    plain = measuring.figures(examples, lambda example: example.project)
    judged = measuring.figures(examples, lambda example: example.project, judge)
    assert plain.keys() == judged.keys()
    assert plain["candidate"] == judged["candidate"]
    assert plain["candidate"]["precision"]["value"] == 0.667
    assert judged["stepin"]["precision"]["value"] == 1.0
    assert judged["stepin"]["recall"]["hits"] == plain["candidate"]["recall"]["hits"] > 100


def test_small_projects_are_held_out_together() -> None:
    examples = [example("large", is_stepin=True)] * 10 + [
        example("tiny", is_stepin=True),
        example("mini", is_stepin=True),
    ]
    group = measuring.group_by_project(examples)
    assert {example.project: group(example) for example in examples} == {
        "large": "large",
        "tiny": measuring.SMALL_PROJECTS,
        "mini": measuring.SMALL_PROJECTS,
    }


def test_kappa_is_agreement_beyond_chance() -> None:
    assert measuring.kappa([(1, 1), (0, 0), (1, 1), (0, 0)]) == (1.0, 1.0)
    assert measuring.kappa([(1, 1), (1, 0), (0, 1), (0, 0)]) == (0.5, 0.0)


def test_the_labels_hold_places_and_judgements_and_no_words() -> None:
    labels = load_labels()
    assert len(labels) == len({(label.file, label.line) for label in labels}) == 1016
    assert {label.harness for label in labels} == {"claude_code", "codex"}
    assert {type(value).__name__ for label in labels for value in (label.file, label.line)} == {"str", "int"}
