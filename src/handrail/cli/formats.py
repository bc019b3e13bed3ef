"""Sizes, times and counts as people read them, and the times they type."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

import click

UNKNOWN = "unknown"
_AGO = re.compile(r"(?P<count>[0-9]{1,6})(?P<unit>[hdw])", re.ASCII)


def size(size_bytes: int) -> str:
    """``size_bytes`` in bytes, kB, MB or GB (powers of 1000)."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    value = float(size_bytes)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.5 or unit == "GB":
            return f"{value:.1f} {unit}" if value < 99.5 else f"{value:.0f} {unit}"
    raise AssertionError("unreachable")


def when(moment: datetime | None, zone: tzinfo | None) -> str:
    """``moment`` to the minute in ``zone`` (None: this machine's), ``unknown`` for None."""
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M") if moment else UNKNOWN


def instant(moment: datetime | None, zone: tzinfo | None) -> str:
    """The time of day of ``moment`` to the second in ``zone``, ``unknown`` for None."""
    return moment.astimezone(zone).strftime("%H:%M:%S") if moment else UNKNOWN


def day(moment: datetime | None, zone: tzinfo | None) -> str:
    """The day of ``moment`` in ``zone``, ``unknown`` for None."""
    return moment.astimezone(zone).strftime("%Y-%m-%d") if moment else UNKNOWN


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """``1 session``, ``2 sessions``, ``1,200 sessions``; ``nouns`` where the plural is not the noun and an s."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def amount(number: int) -> str:
    """``number`` in three figures: ``999``, ``1.20k``, ``34.5M``, ``124G``."""
    value = float(number)
    if value < 1000:
        return str(number)
    for unit in ("k", "M", "G", "T"):
        value /= 1000
        if value < 999.5 or unit == "T":
            places = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:.{places}f}{unit}"
    raise AssertionError("unreachable")


def parse_since(text: str, now: datetime, zone: tzinfo | None) -> datetime:
    """The instant that ``text`` means: ``7d``, ``12h``, ``2w`` ago, a day (from its midnight in ``zone``) or a time.

    Days and weeks are counted on the calendar of ``zone``, so a day with 23 or 25 hours is one day. A time
    without a zone is read in ``zone``. Raises ``click.BadParameter``.
    """
    try:
        if ago := _AGO.fullmatch(text.strip()):
            return _before(now, int(ago["count"]), ago["unit"], zone)
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else _aware(moment, zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{text!r} is no time: say 7d, 12h, 2w, 2026-05-01 or 2026-05-01T08:00Z") from None


def _before(now: datetime, number: int, unit: str, zone: tzinfo | None) -> datetime:
    if unit == "h":
        return now - timedelta(hours=number)
    local = now.astimezone(zone).replace(tzinfo=None)
    return _aware(local - timedelta(days=number * (7 if unit == "w" else 1)), zone)


def _aware(local: datetime, zone: tzinfo | None) -> datetime:
    return (local.replace(tzinfo=zone) if zone else local.astimezone()).astimezone(UTC)


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago ``moment`` was, in its largest unit: ``12s``, ``3m``, ``5h``, ``2d``; ``unknown`` for None."""
    if moment is None:
        return UNKNOWN
    seconds = max(int((now - moment).total_seconds()), 0)
    for unit, length_s in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length_s:
            return f"{seconds // length_s}{unit}"
    return f"{seconds}s"
