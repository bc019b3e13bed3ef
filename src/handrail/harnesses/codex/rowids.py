"""The uid of every Codex record that becomes part of a message.

Newer items have an ``id``, calls and outputs a ``call_id``. Everything else is known by a hash of its bytes. Where
one comes twice in a file, its occurrence is added, so that no two rows of a session share a uid.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b


class RowIds:
    """Gives out the uids of one file, in file order; ``raw`` gives the bytes of a row."""

    __slots__ = ("_raw", "_seen")

    def __init__(self, raw: Callable[[int], bytes]) -> None:
        self._raw = raw
        self._seen: dict[str, int] = {}

    def named(self, name: str | None, row: int) -> str:
        """The uid of ``row``, which is known by ``name``, or by its bytes where it has none."""
        if name is None:
            name = hashed(self._raw(row))
        if name in self._seen:
            return self.unique(name)
        self._seen[name] = 1
        return name

    def unique(self, name: str) -> str:
        """``name``, with its occurrence when it was given out before."""
        seen = self._seen
        if name not in seen:
            seen[name] = 1
            return name
        seen[name] += 1
        return self.unique(f"{name}#{seen[name]}")


def hashed(raw: bytes) -> str:
    """What a record without an id is known by; white space around it does not count."""
    return blake2b(raw.strip()).hexdigest()[:16]
