"""The two logs of a rollout while they are written: lines in Codex's spelling, the same bytes every time.

Every line is four pieces of bytes (stamp, opening, body, end) that are joined once, at the end: most of a line is
the same in all lines of its kind, and only its body has to be encoded.
"""

from __future__ import annotations

from collections.abc import Iterable
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
_OUTPUT = b'{"type":"function_call_output"'
_KNOWN = (b"response_item", b"compacted")
"""How the openings of lines begin that a reader gives a uid."""
_PIECES = 4
_MANY = 1024
"""How many pieces are joined at a time: a join takes 80 bytes for each of them, beside what it makes."""

_encode_lines = msgspec.json.Encoder().encode_lines


class _Head(Struct, gc=False):
    """How a line begins."""

    timestamp: datetime | None


_NO_TIME = b'{"timestamp":null}'
_SECONDS = len(b'{"timestamp":"2026-05-04T08:00:00Z"}')


def spell_stamps(instants: Iterable[datetime | None]) -> list[bytes]:
    """How the lines of each instant begin, up to their type.

    Codex writes UTC with milliseconds (finer only where it is finer), and nothing for no time.
    """
    times = [time if time is None or time.tzinfo is UTC else time.astimezone(UTC) for time in instants]
    heads = _encode_lines([_Head(time) for time in times]).splitlines()
    return [head[:-6] + b'Z","type":"' if head.endswith(b'000Z"}') else _odd_stamp(head) for head in heads]


def _odd_stamp(head: bytes) -> bytes:
    """The stamp that is made of a ``head`` whose time has no milliseconds, or more than them."""
    if head == _NO_TIME:
        return b'{"timestamp":"","type":"'
    if len(head) == _SECONDS:
        return head[:-3] + b'.000Z","type":"'
    return head[:-1] + b',"type":"'


class Logs:
    """The lines so far, where each message begins, and which events stand for a row."""

    __slots__ = ("_call_ids", "_names", "_pieces", "_stamp", "_starts")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._stamp = b""
        self._starts: list[int] = []
        self._call_ids: list[str] = []
        self._names: dict[int, str] = {}

    def begin(self, stamp: bytes) -> None:
        """Lines that begin with ``stamp`` are written next: first the session's own, then each message's."""
        self._starts.append(len(self._pieces))
        self._stamp = stamp

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
        file = BytesIO()
        for start in range(0, len(self._pieces), _MANY):
            file.write(b"".join(self._pieces[start : start + _MANY]))
        return file.getvalue()

    def uids(self) -> list[str]:
        """The uid a reader gives the first row of each message.

        It gives one to items, to marks of compactions and to events that stand for a row.
        """
        pieces = self._pieces
        ids = RowIds(lambda row: b"".join(pieces[row : row + _PIECES]))
        call_ids = iter(self._call_ids)
        starts = [*self._starts[1:], len(pieces)]
        found: list[str] = []
        for line, opening in enumerate(pieces[1::_PIECES]):
            at = line * _PIECES
            name = self._names.get(at)
            if opening == _ITEM:
                name = next(call_ids) or None
                if name and pieces[at + 2].startswith(_OUTPUT):
                    name += ":output"
            elif name is None and not opening.startswith(_KNOWN):
                continue
            uid = ids.named(name, at)
            while starts[len(found)] <= at:
                found.append(uid)
        return found
