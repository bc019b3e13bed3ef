"""A clock for tests: it stands still until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

DEFAULT_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class ManualClock:
    """Fulfils ``handrail.clock.Clock``. ``advance`` moves both of its faces, ``set`` moves the wall clock only.

    The wall clock may be set back, as real ones are; the monotonic one never goes back.
    """

    def __init__(self, start: datetime = DEFAULT_START) -> None:
        self._now = _aware(start)
        self._monotonic_s = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic_s(self) -> float:
        return self._monotonic_s

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass; ``ValueError`` when negative."""
        if seconds < 0:
            raise ValueError("time passes forwards; use set() for a wall clock that is put back")
        self._now += timedelta(seconds=seconds)
        self._monotonic_s += seconds

    def set(self, instant: datetime) -> None:
        """Put the wall clock to ``instant`` (aware), forwards or back."""
        self._now = _aware(instant)


def _aware(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    return instant.astimezone(UTC)
