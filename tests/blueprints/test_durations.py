"""Lengths of time: their spellings, and what is none."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.blueprints.durations import parse_duration, render_duration


@pytest.mark.parametrize(
    ("spelling", "length"),
    [
        ("3d", timedelta(days=3)),
        ("1h30m", timedelta(hours=1, minutes=30)),
        (" 1h 30m ", timedelta(hours=1, minutes=30)),
        ("2w", timedelta(weeks=2)),
        ("45s", timedelta(seconds=45)),
        (90, timedelta(seconds=90)),
        (0.5, timedelta(seconds=0.5)),
    ],
)
def test_a_length_is_read_as_it_is_written(spelling: str | float, length: timedelta) -> None:
    assert length == parse_duration(spelling)


@pytest.mark.parametrize(
    "given_",
    ["", "soon", "3", "3x", "-3d", "0s", 0, -1, True, None, "999999999w", 1e300, float("nan"), float("inf"), "3d,2h"],
)
def test_what_says_no_length_above_zero_is_refused(given_: object) -> None:
    with pytest.raises(ValueError, match="length of time"):
        parse_duration(given_)


@given(st.integers(1, 10**15).map(lambda micro: timedelta(microseconds=micro)))
def test_a_length_written_and_read_is_the_same(length: timedelta) -> None:
    assert abs(length - parse_duration(render_duration(length))) <= timedelta(microseconds=1)


@given(st.integers(1, 10**9).map(lambda seconds: timedelta(seconds=seconds)))
def test_whole_seconds_are_written_exactly(length: timedelta) -> None:
    assert length == parse_duration(render_duration(length))
