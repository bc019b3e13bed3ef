"""The end of a session that somebody else is writing, whether it is a file or stands in a database."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from handrail.app.machine import Machine
from handrail.errors import StoreError
from handrail.harnesses.handrail.store import HandrailStore
from handrail.library.tail import Growth, Tail


class Look(Protocol):
    """Gives what is new since the last look."""

    def look(self) -> Growth: ...


class TableTail:
    """Follows a journal in the table of ``store``. Events are never rewritten there, so it only ever grows."""

    def __init__(self, store: HandrailStore, locator: str) -> None:
        self._store = store
        self._locator = locator
        self._seq = 0

    def look(self) -> Growth:
        """What is new since the last look; ``StoreError`` when the database cannot be read."""
        if not self._store.holds(self._locator):
            return Growth(is_missing=True)
        lines = self._store.lines(self._locator, self._seq) or []
        self._seq += len(lines)
        return Growth(data=b"".join(line + b"\n" for line in lines))


def table_tail(machine: Machine, harness: str, locator: str) -> TableTail | None:
    """The tail of a session that stands in a table; None where ``locator`` names a file, or nothing."""
    store = machine.stores.get(harness)
    try:
        is_there = isinstance(store, HandrailStore) and store.holds(locator)
    except StoreError:
        is_there = False
    return TableTail(store, locator) if is_there and isinstance(store, HandrailStore) else None


def tail_of(machine: Machine, harness: str, locator: str) -> Look:
    """The tail of a session, wherever it stands."""
    return table_tail(machine, harness, locator) or Tail(Path(locator))
