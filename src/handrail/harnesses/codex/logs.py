"""The two logs of a rollout while they are written: lines in Codex's spelling, the same bytes every time.

Every line is four pieces of bytes (stamp, opening, body, end) that are joined once, at the end: most of a line is
the same in all lines of its kind, and only its body has to be encoded.
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from handrail import jsonio
from handrail.harnesses.codex.rowids import RowIds
from handrail.transcripts.model import Json

_ITEM = b'response_item","payload":'
_EVENT = b'event_msg","payload":'
_END = b"}\n"
_PIECES = 4

_encode_time = msgspec.json.Encoder().encode
_WITH_MICROSECONDS = len(b'"2026-05-04T08:00:00.120300Z"')


class Logs:
    """The lines so far, and which of them a reader knows by an id (``rows``: the id or None, and the line)."""

    __slots__ = ("_pieces", "_stamp", "rows")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._stamp = b""
        self.rows: list[tuple[str | None, int]] = []

    def at(self, instant: datetime | None) -> None:
        """What is written next happened at ``instant``."""
        self._stamp = b'{"timestamp":"' + spell_time(instant) + b'","type":"'

    def line(self, opening: bytes, body: bytes, end: bytes = _END) -> None:
        """Append a line: its type and what stands before ``body``, the body (JSON), and what closes it."""
        self._pieces += (self._stamp, opening, body, end)

    def said(self, shown: bytes, opening: bytes, text: bytes, end: bytes) -> None:
        """Append an event that opens with ``shown`` and the item of the same ``text`` that it shows."""
        stamp = self._stamp
        self.rows.append((None, len(self._pieces) + _PIECES))
        self._pieces += (stamp, shown, text, b"}}\n", stamp, opening, text, end)

    def typed(self, opening: bytes, text: bytes, end: bytes, proof: bytes, proof_end: bytes) -> None:
        """Append an item and the event of the same ``text`` that proves that it was typed."""
        stamp = self._stamp
        self.rows.append((None, len(self._pieces)))
        self._pieces += (stamp, opening, text, end, stamp, proof, text, proof_end)

    def event(self, payload: Json) -> None:
        """Append an event."""
        self._pieces += (self._stamp, _EVENT, jsonio.encode(payload), _END)

    def item(self, payload: Json, name: str | None = None) -> None:
        """Append an item; ``name`` is its own id, without which it is known by a hash of its bytes."""
        self.rows.append((name, len(self._pieces)))
        self._pieces += (self._stamp, _ITEM, jsonio.encode(payload), _END)

    def known(self, name: str | None = None) -> None:
        """The next line is one that a reader knows by an id, or an id stands for a row that another line tells."""
        self.rows.append((name, len(self._pieces)))

    def finish(self) -> bytes:
        """The file."""
        return b"".join(self._pieces)

    def uids(self) -> list[str]:
        """The uid a reader gives each of ``rows``, in their order."""
        ids = RowIds(lambda row: b"".join(pieces[row : row + _PIECES]))
        pieces = self._pieces
        return [ids.named(name, at) for name, at in self.rows]


def spell_time(instant: datetime | None) -> bytes:
    """An instant as Codex writes it: UTC with milliseconds (finer only where it is finer), nothing for none."""
    if instant is None:
        return b""
    spelled = _encode_time(instant if instant.tzinfo is UTC else instant.astimezone(UTC))
    if len(spelled) != _WITH_MICROSECONDS:
        return spelled[1:-2] + b".000Z"
    return spelled[1:-5] + b"Z" if spelled[-5:-2] == b"000" else spelled[1:-1]
