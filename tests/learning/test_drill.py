"""The seeded drill: the whole path proves what it promises, holds its levels night after night, and can fail."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.learning.moment import Intervention
from handrail.learning.provenance import Evidence, EvidenceKind, Origin
from handrail.learning.rules.model import Life
from handrail.learning.statistics import chance_of_crediting
from handrail.testing import learning_drill as drill
from handrail.transcripts.model import Taint

PAGE = Path(__file__).resolve().parents[2] / "docs" / "learning.md"


def test_the_bad_rule_is_retired_the_good_credited_the_useless_unproven_and_no_page_becomes_a_rule() -> None:
    report = drill.drilled()

    assert tuple(report.faults()) == ()
    assert (report.bad.life, report.bad.outcome) == (Life.RETIRED, "regressed")
    assert (report.good.life, report.good.outcome) == (Life.ACTIVE, "improved")
    assert (report.useless.life, report.useless.outcome) == (Life.TRIAL, "no_effect")


def test_a_useless_rule_is_decided_on_no_more_often_than_the_levels_say_however_often_one_looks() -> None:
    fates = [asyncio.run(drill.watched(drill.USELESS, seed, nights=20)) for seed in range(40)]

    credited = sum(fate.life is Life.ACTIVE for fate in fates) / len(fates)
    retired = sum(fate.life is Life.RETIRED for fate in fates) / len(fates)
    # The levels are 0.05 and 0.1; what stands above them is chance over so many drills.
    assert credited <= 0.05 + 0.06
    assert retired <= 0.1 + 0.09


@pytest.mark.parametrize(("text", "life"), [(drill.GOOD, Life.ACTIVE), (drill.BAD, Life.RETIRED)])
def test_what_was_planted_is_found_in_almost_every_drill(text: str, life: Life) -> None:
    fates = [asyncio.run(drill.watched(text, seed, nights=30)) for seed in range(8)]

    assert sum(fate.life is life for fate in fates) >= 7


@pytest.mark.parametrize("pairs", [10, 100, 365])
def test_the_chance_to_credit_a_useless_rule_stays_below_the_level_for_a_year_of_nights(pairs: int) -> None:
    assert 0 < chance_of_crediting(0.5, pairs) <= 0.05


def test_more_moments_and_larger_effects_are_found_more_often() -> None:
    for share in (0.6, 0.8):
        chances = [chance_of_crediting(share, pairs) for pairs in (10, 30, 100)]
        assert chances == sorted(chances)
    assert chance_of_crediting(1.0, 7) == 1.0
    assert chance_of_crediting(1.0, 6) == 0.0


def test_the_drill_would_tell_of_a_page_that_was_let_in() -> None:
    assert asyncio.run(drill.poisoned()) == ()
    # With the evidence whole, as if nothing untrusted had entered, the same model makes the page a rule.
    assert asyncio.run(drill.poisoned(_whole)) == (drill.POISON,)


def _whole(_cover: Taint | None, moment: Intervention) -> Evidence:
    return Evidence(kind=EvidenceKind.FULL, origin=Origin.CLEAN, view=moment)


def test_the_drill_would_tell_of_a_loop_that_does_not_keep_its_promises() -> None:
    upside_down = {drill.GOOD: 0.05, drill.BAD: 0.95, drill.USELESS: 0.95}

    faults = tuple(drill.drilled(nights=15, odds=upside_down).faults())

    assert [fault.split(" was ")[0].split(" did ")[0] for fault in faults] == [
        "the good rule",
        "the bad rule",
        "the useless rule",
    ]


def test_the_drill_prints_what_became_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert drill.main([]) == 0
    printed = capsys.readouterr()
    assert [line.split(":")[0] for line in printed.out.splitlines()] == ["good", "bad", "useless", "poisoned page"]
    assert printed.err == ""


def test_an_argument_that_it_does_not_take_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert drill.main(["nights"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "error: the drill takes no argument, or `power`, not 'nights'\n")


def test_the_table_of_power_in_the_docs_is_up_to_date() -> None:
    assert drill.power_table() in PAGE.read_text(encoding="utf-8"), (
        "run python -m handrail.testing.learning_drill power"
    )
