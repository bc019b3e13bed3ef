"""Clocks: the machine's and the one that is moved by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from handrail.clock import Clock, SystemClock
from handrail.testing.clock import DEFAULT_START, ManualClock


def test_the_system_clock_is_aware_and_in_utc() -> None:
    clock: Clock = SystemClock()
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.monotonic_s() <= clock.monotonic_s()


def test_a_manual_clock_stands_still_until_it_is_moved() -> None:
    clock: Clock = ManualClock()
    assert clock.now() == clock.now() == DEFAULT_START
    assert clock.monotonic_s() == 0


def test_a_wall_clock_may_be_put_back_and_the_other_is_not() -> None:
    clock = ManualClock()
    clock.advance(1.5)
    clock.set(datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))))
    assert clock.now() == datetime(2020, 1, 1, tzinfo=UTC)
    assert clock.monotonic_s() == 1.5


def test_time_does_not_run_backwards_or_without_a_zone() -> None:
    with pytest.raises(ValueError, match="forwards"):
        ManualClock().advance(-1)
    with pytest.raises(ValueError, match="time zone"):
        ManualClock(datetime(2020, 1, 1))  # noqa: DTZ001
