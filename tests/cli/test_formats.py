"""Sizes, times and what people type for times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import click
import pytest

from handrail.cli.formats import count, day, parse_since, size, when

NOW = datetime(2026, 5, 10, 12, 0, tzinfo=UTC)
TOKYO = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("size_bytes", "expected"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (99_499, "99.5 kB"),
        (123_456, "123 kB"),
        (999_600, "1.0 MB"),
        (4_200_000, "4.2 MB"),
        (5_000_000_000_000, "5000 GB"),
    ],
)
def test_sizes_have_at_most_one_decimal(size_bytes: int, expected: str) -> None:
    assert size(size_bytes) == expected


def test_times_are_shown_in_the_zone_that_was_asked_for() -> None:
    moment = datetime(2026, 5, 1, 20, 0, tzinfo=UTC)
    assert (when(moment, UTC), when(moment, TOKYO)) == ("2026-05-01 20:00", "2026-05-02 05:00")
    assert (day(moment, UTC), day(moment, TOKYO)) == ("2026-05-01", "2026-05-02")


def test_an_unknown_time_is_said_to_be_unknown() -> None:
    assert (when(None, UTC), day(None, UTC)) == ("unknown", "unknown")


@pytest.mark.parametrize(
    ("typed", "zone", "expected"),
    [
        ("7d", UTC, datetime(2026, 5, 3, 12, tzinfo=UTC)),
        ("2w", UTC, datetime(2026, 4, 26, 12, tzinfo=UTC)),
        ("12h", UTC, datetime(2026, 5, 10, 0, tzinfo=UTC)),
        ("2026-05-01", UTC, datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01", TOKYO, datetime(2026, 4, 30, 15, tzinfo=UTC)),
        ("2026-05-01T08:00Z", TOKYO, datetime(2026, 5, 1, 8, tzinfo=UTC)),
        ("2026-05-01T08:00+02:00", UTC, datetime(2026, 5, 1, 6, tzinfo=UTC)),
    ],
)
def test_since_reads_spans_days_and_times(typed: str, zone: timezone, expected: datetime) -> None:
    assert parse_since(typed, NOW, zone) == expected


def test_a_day_of_23_hours_counts_as_one_day() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    noon_after_the_change = datetime(2026, 3, 29, 12, 0, tzinfo=berlin)
    assert parse_since("1d", noon_after_the_change, berlin) == datetime(2026, 3, 28, 12, 0, tzinfo=berlin)


@pytest.mark.parametrize("typed", ["", "yesterday", "7", "7x", "999999d", "2026-13-01"])
def test_what_is_no_time_is_refused_with_examples(typed: str) -> None:
    with pytest.raises(click.BadParameter, match="7d"):
        parse_since(typed, NOW, UTC)


def test_counts_agree_with_their_noun() -> None:
    assert [count(number, "session") for number in (0, 1, 1200)] == ["0 sessions", "1 session", "1,200 sessions"]
