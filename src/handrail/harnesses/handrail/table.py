"""What the store needs of journals that are no files: their sessions, and the lines a file of each would hold.

``app`` passes one in; the room of the harnesses knows no database.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

from msgspec import Struct


class TableSession(Struct, frozen=True, kw_only=True, gc=False):
    """One session of the table: the line of its first event, and what its later events made of it.

    ``size_bytes`` counts every line with its line feed; ``updated_at`` is when the last event was recorded.
    """

    id: str
    first: bytes
    size_bytes: int
    title: str | None = None
    model: str | None = None
    updated_at: datetime | None = None


class SessionTable(Protocol):
    """The sessions of one database. Every method raises ``StoreError`` where it cannot be read."""

    @property
    def name(self) -> str:
        """Where it is, as a path or address: what a locator begins with."""
        ...

    def sessions(self) -> Iterator[TableSession]:
        """Every session that has events, in the order they began."""
        ...

    def lines(self, session: str, after: int = 0, limit: int | None = None) -> list[bytes]:
        """The events after number ``after``, as the lines of a file without their line feeds; none of another."""
        ...

    def fingerprint(self, session: str) -> str:
        """Changes whenever an event is added; ``""`` for a session that is not there."""
        ...

    def remove(self, session: str) -> bool:
        """Take the session out with all that belongs to it; whether it was there."""
        ...
