"""Rows of probes and what they come to: the order does not matter, repeats are no new moments."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from handrail.learning.probes.ledger import Arm, ProbeRow, parse_rows, render_row, standings
from handrail.learning.statistics import Tally

_P, _F, _I = Arm.PASSED, Arm.FAILED, Arm.INCONCLUSIVE
AT = datetime(2026, 3, 1, tzinfo=UTC)


def row(moment: str, control: Arm, treatment: Arm, **more: object) -> ProbeRow:
    given: dict[str, object] = {"rule": "r1", "words": "w1", "repeat": 0, "trigger": "steer", "model": "m", **more}
    return ProbeRow(moment=moment, control=control, treatment=treatment, **given)  # type: ignore[arg-type]


_rows = st.builds(
    row,
    st.sampled_from("abc"),
    st.sampled_from(list(Arm)),
    st.sampled_from(list(Arm)),
    rule=st.sampled_from(("r1", "r2")),
    words=st.sampled_from(("w1", "w2")),
    repeat=st.integers(0, 3),
    convicted=st.sampled_from((None, "r1", "r2")),
    convicted_words=st.sampled_from((None, "w1", "w2")),
    calls=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    at=st.sampled_from((None, AT)),
)


@given(st.lists(_rows, max_size=12), st.randoms())
def test_the_order_of_arrival_does_not_matter_and_a_row_twice_counts_once(rows: list[ProbeRow], random: Random) -> None:
    words = {"r1": "w1", "r2": "w2"}
    shuffled = [*rows, *rows[:3]]
    random.shuffle(shuffled)

    assert standings(shuffled, words) == standings(rows, words)


@given(st.lists(_rows, max_size=6))
def test_rows_are_read_as_they_were_written(rows: list[ProbeRow]) -> None:
    assert parse_rows(b"".join(map(render_row, rows))).rows == tuple(rows)


def test_three_nights_of_one_flaky_moment_are_one_moment() -> None:
    nightly = [row("a", _P, _F, repeat=night) for night in range(30)]

    assert standings(nightly, {"r1": "w1"})["r1"].tally == Tally(0, 1, 0)


def test_a_verdict_never_turns_once_a_moment_counts() -> None:
    first = [row("a", _P, _F, repeat=0), row("a", _P, _F, repeat=1)]
    assert standings(first, {"r1": "w1"})["r1"].tally == Tally()
    assert standings(first, {"r1": "w1"})["r1"].begun == 1

    counts = [*first, row("a", _I, _P, repeat=2), row("a", _P, _P, repeat=3)]
    later = [*counts, *(row("a", _F, _P, repeat=number) for number in range(4, 40))]

    assert standings(counts, {"r1": "w1"})["r1"].tally == Tally(0, 1, 0)
    assert standings(later, {"r1": "w1"})["r1"].tally == Tally(0, 1, 0)


def test_an_arm_that_cannot_be_told_grades_nothing() -> None:  # J 62
    standing = standings([row("a", _I, _P), row("b", _P, _I), row("c", _I, _I)], {"r1": "w1"})["r1"]

    assert (standing.observed, standing.graded, standing.is_measured) == (3, 0, False)


def test_what_was_measured_of_other_words_is_not_this_rules() -> None:
    standing = standings([row("a", _F, _P, words="old")], {"r1": "w1"})["r1"]

    assert (standing.observed, standing.tally) == (0, Tally())


def test_judged_verdicts_are_told_apart() -> None:
    standing = standings([row("a", _F, _P), row("b", _F, _P, judged=True)], {"r1": "w1"}, counted=1)["r1"]

    assert (standing.tally, standing.structural) == (Tally(2, 0, 0), Tally(1, 0, 0))


def test_a_regression_is_charged_to_the_rule_that_bisection_found() -> None:  # J 64
    charged = {"convicted": "r2", "convicted_words": "w2"}
    rows = [row("a", _P, _F, **charged), row("b", _P, _F, **charged), row("a", _P, _F, repeat=1)]

    found = standings(rows, {"r1": "w1", "r2": "w2"})

    assert found["r1"].convictions == ()
    assert found["r2"].convictions == ("a", "b")


def test_what_other_words_of_a_rule_did_is_not_charged_to_these() -> None:
    own = row("a", _P, _F, words="old", convicted="r1")
    in_the_arm_of_another = row("b", _P, _F, rule="r2", words="w2", convicted="r1", convicted_words="old")

    assert standings([own, in_the_arm_of_another], {"r1": "w1", "r2": "w2"})["r1"].convictions == ()
    assert standings([own, in_the_arm_of_another], {"r1": "old", "r2": "w2"})["r1"].convictions == ("a", "b")


def test_a_torn_line_costs_that_line() -> None:
    data = render_row(row("a", _P, _P)) + b'{"moment":"b"\n\n' + render_row(row("c", _P, _F))

    ledger = parse_rows(data)

    assert [one.moment for one in ledger.rows] == ["a", "c"]
    assert ledger.bad == (2,)
