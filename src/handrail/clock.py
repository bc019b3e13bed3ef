"""The only reader of time.

Everything else is handed a ``Clock``; tests hand in one they move by hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol, TypeAlias

Sleeper: TypeAlias = Callable[[float], None]
"""Lets that many seconds pass before it returns."""


class Clock(Protocol):
    """Where instants and durations come from."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        return time.monotonic()


def sleep(seconds: float) -> None:
    """The machine's own ``Sleeper``."""
    time.sleep(seconds)
