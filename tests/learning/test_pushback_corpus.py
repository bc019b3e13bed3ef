"""The shipped scorer over the labelled turns of the corpus. It was trained on them: this guards against slips, and
``benchmarks/moments`` measures.
"""

from __future__ import annotations

from functools import cache

import pytest
from benchmarks.moments.collecting import Example, collect, load_labels
from benchmarks.moments.measuring import usable

from handrail.learning.moment import Verdict
from handrail.learning.pushback import shipped_model
from tests.corpus import CORPUS

_IS_LABELLED = CORPUS is not None and all((CORPUS / label.file).exists() for label in load_labels())
pytestmark = pytest.mark.skipif(not _IS_LABELLED, reason="the labelled corpus is not here")


@cache
def judged() -> list[tuple[Example, Verdict]]:
    assert CORPUS is not None
    examples, _ = collect(CORPUS)
    model = shipped_model()
    return [(example, model.judge(example.turn)) for example in usable(examples) if example.turn is not None]


def test_nine_of_ten_labelled_step_ins_are_candidates() -> None:
    found = [verdict.is_candidate for example, verdict in judged() if example.is_stepin]
    assert sum(found) >= 0.9 * len(found) > 100


def test_four_of_five_turns_called_step_ins_are_some() -> None:
    real = [bool(example.is_stepin) for example, verdict in judged() if verdict.is_stepin]
    assert sum(real) >= 0.8 * len(real) > 50


def test_likelihoods_are_about_as_frequent_as_they_say() -> None:
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 1.01)):
        group = [(e, v.likelihood) for e, v in judged() if v.likelihood is not None and low <= v.likelihood < high]
        expected = sum(likelihood for _, likelihood in group) / len(group)
        assert sum(bool(example.is_stepin) for example, _ in group) / len(group) == pytest.approx(expected, abs=0.12)


def test_what_is_called_a_step_in_says_why() -> None:
    assert all(verdict.reasons for _, verdict in judged() if verdict.is_stepin)
