"""The two logs of a rollout while they are written: lines in Codex's spelling, the same bytes every time.

Every line is four pieces of bytes (stamp, opening, body, end) that are joined once, at the end: most of a line is
the same in all lines of its kind, and only its body has to be encoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.harnesses.codex.rowids import RowIds
from handrail.transcripts.model import Json

_ITEM = b'response_item","payload":'
_EVENT = b'event_msg","payload":'
_END = b"}\n"
_PIECES = 4
_OUTPUT = b'{"type":"function_call_output"'
_KNOWN = (b"response_item", b"compacted")

_encode = msgspec.json.Encoder().encode


class _Head(Struct, gc=False):
    """How a line begins."""

    timestamp: datetime


_NO_TIME = b'{"timestamp":"","type":"'
_SECONDS = len(b'{"timestamp":"2026-05-04T08:00:00Z"}')


class Logs:
    """The lines so far, where each message begins, and which events stand for a row."""

    __slots__ = ("_call_ids", "_names", "_pieces", "_stamp", "_starts")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._stamp = b""
        self._starts: list[int] = []
        self._call_ids: list[str] = []
        self._names: dict[int, str] = {}

    def begin(self, instant: datetime | None) -> None:
        """What is written next happened at ``instant``: first the session's own lines, then each message's.

        Codex writes UTC with milliseconds (finer only where it is finer), and nothing for no time.
        """
        self._starts.append(len(self._pieces))
        if instant is None:
            self._stamp = _NO_TIME
            return
        head = _encode(_Head(instant if instant.tzinfo is UTC else instant.astimezone(UTC)))
        if head.endswith(b'000Z"}'):
            self._stamp = head[:-6] + b'Z","type":"'
        elif len(head) == _SECONDS:
            self._stamp = head[:-3] + b'.000Z","type":"'
        else:
            self._stamp = head[:-1] + b',"type":"'

    @property
    def time(self) -> str:
        """When what is written next happened, as Codex spells it."""
        return self._stamp.split(b'"')[3].decode()

    def line(self, opening: bytes, body: bytes, end: bytes = _END) -> None:
        """Append a line: its type and what stands before ``body``, the body (JSON), and what closes it."""
        self._pieces += (self._stamp, opening, body, end)

    def said(self, shown: bytes, opening: bytes, text: bytes, end: bytes) -> None:
        """Append an event that opens with ``shown`` and the item of the same ``text`` that it shows."""
        stamp = self._stamp
        self._pieces += (stamp, shown, text, b"}}\n", stamp, opening, text, end)

    def typed(self, opening: bytes, text: bytes, end: bytes, proof: bytes, proof_end: bytes) -> None:
        """Append an item and the event of the same ``text`` that proves that it was typed."""
        stamp = self._stamp
        self._pieces += (stamp, opening, text, end, stamp, proof, text, proof_end)

    def event(self, payload: Json, name: str | None = None) -> None:
        """Append an event; ``name`` is the id of the row that it stands for, if it does."""
        if name is not None:
            self._names[len(self._pieces)] = name
        self._pieces += (self._stamp, _EVENT, jsonio.encode(payload), _END)

    def item(self, payload: Json, call_id: str = "") -> None:
        """Append an item; ``call_id`` is the id that stands in it, without which it is known by its bytes."""
        self._call_ids.append(call_id)
        self._pieces += (self._stamp, _ITEM, jsonio.encode(payload), _END)

    def finish(self) -> bytes:
        """The file."""
        # Joining so many pieces at once would take twice the memory of the file beside it.
        file = BytesIO()
        file.writelines(self._pieces)
        return file.getvalue()

    def uids(self) -> list[str]:
        """The uid a reader gives the first row of each message."""
        starts = self._starts[1:]
        found: list[str] = []
        for at, uid in self._rows():
            while len(found) < len(starts) and starts[len(found)] <= at:
                found.append(uid)
        return found

    def _rows(self) -> Iterator[tuple[int, str]]:
        """Every row that a reader gives a uid: items, marks of compactions and events that stand for a row."""
        pieces = self._pieces
        ids = RowIds(lambda row: b"".join(pieces[row : row + _PIECES]))
        call_ids = iter(self._call_ids)
        for line, opening in enumerate(pieces[1::_PIECES]):
            at = line * _PIECES
            if opening == _ITEM:
                call_id = next(call_ids)
                is_output = pieces[at + 2].startswith(_OUTPUT)
                name = f"{call_id}:output" if call_id and is_output else call_id
                yield at, ids.named(name or None, at)
            elif opening.startswith(_KNOWN) or at in self._names:
                yield at, ids.named(self._names.get(at), at)
