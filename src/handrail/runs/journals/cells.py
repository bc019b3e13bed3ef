"""Values as they stand in a cell of a table, and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypeVar

import msgspec

from handrail import jsonio
from handrail.journal.broken import BrokenJournal
from handrail.journal.events import Event
from handrail.journal.port import Entry, entry_of
from handrail.journal.wire import NotAnEvent, decode_event, encode_event

Row = TypeVar("Row")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def event_of(cell: bytes, session: str) -> Event:
    """The event of a cell; ``BrokenJournal`` when it holds none."""
    try:
        return decode_event(cell)
    except NotAnEvent as problem:
        raise BrokenJournal(f"session {session}: {problem}") from problem


def entry_cell(entry: Entry) -> bytes:
    """An inbox entry: in the bytes of the event that it will be."""
    return encode_event(Event(seq=entry.number, by=entry.by, body=entry.body, at=entry.at))


def entry_from(cell: bytes, key: bytes, session: str) -> Entry:
    """The inbox entry of a cell; ``BrokenJournal`` when it holds none."""
    return entry_of(event_of(cell, session), key_from(key))


def key_cell(key: str) -> bytes:
    """Any text as bytes that every database can hold and compare."""
    return key.encode("utf-8", "surrogatepass")


def key_from(cell: bytes) -> str:
    """The text of ``key_cell``."""
    return cell.decode("utf-8", "surrogatepass")


def row_cell(row: msgspec.Struct) -> bytes:
    """A row of the board as canonical JSON."""
    return jsonio.canonical(row)


def row_from(cell: bytes, kind: type[Row]) -> Row:
    """The row of ``row_cell``."""
    return msgspec.convert(jsonio.decode(cell), kind)


def instant_cell(instant: datetime) -> int:
    """Microseconds since 1970."""
    return (instant - _EPOCH) // _MICROSECOND


def instant_from(cell: int) -> datetime:
    """The instant of ``instant_cell``."""
    return _EPOCH + cell * _MICROSECOND
