"""Rollouts from before the envelope (May to early September 2025): a line is a header, an item, or the mark of a batch.

The header is what ``session_meta`` holds today, an item what ``response_item`` holds, both with nothing round them; a
line ``{"record_type":"state"}`` stands before what was written together. They are read into the rows of ``wire``, so
that what comes after need not care. Which kind of rollout a file is, its first record tells; a line with an envelope in
it is read all the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from msgspec import Struct

from handrail import jsonio
from handrail.harnesses.codex.item_kinds import AnyItem
from handrail.harnesses.codex.wire import (
    EVENT,
    ITEM,
    ITEM_KINDS,
    KNOWN_ENVELOPES,
    STARTS,
    STATE,
    Batch,
    EnvelopeDecoder,
    ItemRow,
    OtherRow,
    Row,
    SessionMeta,
    SessionMetaRow,
    StateRow,
    reader,
)
from handrail.harnesses.families.decoding import RowDecoder
from handrail.harnesses.families.jsonl import RowReader, Rows
from handrail.harnesses.families.rescue import rescue_line

BARE_STARTS = (*STARTS, b'{"id"', b'{"type"', b'{"record_type"')
"""What a record of such a rollout begins with."""

STATE_LINE = b'{"record_type":"state"}'
"""The mark of a batch, as it is nearly always spelled."""

_PAYLOAD = b'"payload":'
"""What stands in the first bytes of an envelope, and never there without one."""
_PAYLOAD_BYTES = 128

_FIRST_LINES = 64
_FIRST_BYTES = 1 << 22
"""Where no record up to here tells, none will."""

_EDGE = b" \t\r\n\x00" + jsonio.BOM


class HeaderRow(SessionMetaRow):
    """The first line: whose session it is."""


class BareRow(ItemRow):
    """An item with nothing round it."""


_ENVELOPES = frozenset({ITEM, EVENT}) | KNOWN_ENVELOPES
_ROWS = frozenset({HeaderRow, BareRow, StateRow})

# Which kind of rollout ----------------------------------------------------------------------------------------


def is_bare(data: bytes) -> bool | None:
    """Whether ``data`` is a rollout from before the envelope; None while no record in it tells."""
    if _opens_enveloped(data):
        return False
    for count, (start, end) in enumerate(jsonio.iter_lines(data)):
        record = _record_at_start(data[start:end])
        if record is not None and stands_alone(record):
            return True
        if record is not None and _is_enveloped(record.get("type"), record.get("payload")):
            return False
        if count == _FIRST_LINES or end > _FIRST_BYTES:
            return False
    return None


def _opens_enveloped(data: bytes) -> bool:
    """Whether the first line of ``data`` is plainly an envelope."""
    feed = data.find(b"\n", 0, _PAYLOAD_BYTES)
    return data.find(_PAYLOAD, 0, _PAYLOAD_BYTES if feed < 0 else feed) > 0


def stands_alone(record: Mapping[str, Any]) -> bool:
    """Whether ``record`` is one that has no envelope."""
    if record.get("payload") is not None:
        return False
    kind = record.get("type")
    return _is_item(kind) or (kind is None and (record.get("record_type") == STATE or _is_header(record)))


def are_bare(rows: list[Row]) -> bool:
    """Whether ``rows`` are those of a rollout from before the envelope."""
    for row in rows:
        if type(row) in _ROWS:
            return True
        if not isinstance(row, OtherRow) or _is_enveloped(row.type, row.payload):
            return False
    return False


def reader_of(data: bytes) -> RowReader[Row]:
    """What reads the rows of ``data``."""
    return bare_reader if is_bare(data) else reader


def read_part(data: bytes, part: str = "") -> Rows[Row]:
    """The rows of a rollout of either kind; ``part`` names it in the faults."""
    # Asked here as well, so that files of today cost no more than that.
    if _opens_enveloped(data):
        return reader.read(data, part)
    return reader_of(data).read(data, part)


def peeked(chunks: Iterable[bytes]) -> tuple[bool, Iterator[bytes]]:
    """Whether a stream is a rollout from before the envelope, and the whole stream."""
    stream = iter(chunks)
    seen: list[bytes] = []
    for chunk in stream:
        seen.append(chunk)
        # A record that is not whole yet tells nothing.
        if b"\n" in chunk and (verdict := is_bare(b"".join(seen))) is not None:
            return verdict, itertools.chain(seen, stream)
    return bool(is_bare(b"".join(seen))), iter(seen)


def _record_at_start(line: bytes) -> dict[str, Any] | None:
    """The record that a line begins with; None where that is damaged."""
    try:
        value = jsonio.decode(line)
    except jsonio.NotJson:
        objects, _ = rescue_line(line, BARE_STARTS, is_last=False)
        value, (start, _) = objects[0] if objects else (None, (0, 0))
        return None if line[:start].strip(_EDGE) else value
    return value if isinstance(value, dict) else None


def _is_enveloped(kind: object, payload: object) -> bool:
    return payload is not None or (isinstance(kind, str) and kind in _ENVELOPES)


def _is_item(kind: object) -> bool:
    return isinstance(kind, str) and kind in ITEM_KINDS


def _is_header(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("id"), str) and isinstance(record.get("timestamp"), str)


# Reading ------------------------------------------------------------------------------------------------------


class _Stamp(Struct, gc=False):
    timestamp: str | None = None


_items: RowDecoder[Any] = RowDecoder(cast("type[Any]", AnyItem))
_stamps = RowDecoder(_Stamp)
_headers = RowDecoder(SessionMeta)


class BareDecoder(EnvelopeDecoder):
    """Decodes lines with nothing round them, and envelopes among them."""

    def decode_lines(self, lines: memoryview) -> list[Row] | None:
        """None: three kinds of lines alternate, which no one struct holds."""
        return None

    def decode(self, line: memoryview) -> Row | None:
        """The row that ``line`` is, None where it is damaged."""
        if line == STATE_LINE:
            return StateRow(payload=Batch())
        item = _items.decode(line)
        if item is not None:
            stamp = _stamps.decode(line)
            return None if stamp is None else BareRow(stamp.timestamp, item)
        row = super().decode(line)
        if not isinstance(row, OtherRow) or row.payload is not None:
            return row
        if row.type in ITEM_KINDS:
            return None
        return row if row.type else self._untyped(line, row)

    def _untyped(self, line: memoryview, row: OtherRow) -> Row | None:
        if row.record_type == STATE:
            return StateRow(payload=Batch())
        header = _headers.decode(line)
        if header is None:
            return None
        return row if header.id is None or header.timestamp is None else HeaderRow(header.timestamp, header)

    def fill(self, value: dict[str, Any]) -> tuple[Row, list[str]]:
        """The row that a damaged object is, and the names of the fields that are not what they should be."""
        if value.get("payload") is not None:
            return super().fill(value)
        kind = value.get("type")
        if kind is None and value.get("record_type") == STATE:
            return StateRow(payload=Batch()), []
        if _is_item(kind):
            row, lost = self._fill_inside(ITEM, value)
            return (BareRow(row.timestamp, row.payload) if isinstance(row, ItemRow) else row), lost
        if kind is None and "id" in value and "timestamp" in value:
            row, lost = self._fill_inside("session_meta", value)
            return (HeaderRow(row.timestamp, row.payload) if isinstance(row, SessionMetaRow) else row), lost
        return super().fill(value)

    def _fill_inside(self, envelope: str, value: dict[str, Any]) -> tuple[Row, list[str]]:
        """``value`` read as the payload of an envelope."""
        stamp = {"timestamp": value["timestamp"]} if "timestamp" in value else {}
        row, lost = super().fill({**stamp, "type": envelope, "payload": value})
        return row, list(dict.fromkeys(name.removeprefix("payload.") for name in lost))


bare_reader: RowReader[Row] = RowReader(BareDecoder(), BARE_STARTS)
