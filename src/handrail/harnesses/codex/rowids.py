"""The uid of every Codex record that becomes part of a message.

Newer items have an ``id``, calls and outputs a ``call_id``. Everything else is known by a hash of its bytes. Where
one comes twice in a file, its occurrence is added, so that no two rows of a session share a uid.
"""

from __future__ import annotations

from hashlib import blake2b

from handrail.harnesses.codex.wire import Payload


class RowIds:
    """Gives out the uids of one file, in file order."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def uid(self, payload: Payload, raw: bytes) -> str:
        """The uid of the record ``raw`` with ``payload``."""
        if payload.id:
            return self.unique(payload.id)
        if payload.call_id:
            return self.unique(f"{payload.call_id}:output" if payload.type.endswith("output") else payload.call_id)
        return self.unique(hashed(raw))

    def unique(self, name: str) -> str:
        """``name``, with its occurrence when it was given out before."""
        count = self._seen.get(name, 0) + 1
        self._seen[name] = count
        return name if count == 1 else f"{name}#{count}"


def hashed(raw: bytes) -> str:
    """What a record without an id is known by; white space around it does not count."""
    return blake2b(raw.strip(), digest_size=8).hexdigest()
