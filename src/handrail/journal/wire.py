"""Events as bytes: one canonical JSON object an event, the same in a file and in a database row.

``{"at":…,"body":{…},"by":{…},"seq":…,"type":…,"v":…}`` and ``"inbox"`` where there is one; keys sorted, no white
space. ``type`` and ``v`` stand outside the body, so that a reader that does not know them still has place, cause
and fields. Digests are SHA-256 of these bytes.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.errors import JournalError
from handrail.journal.events import KINDS, VERSION, Body, Event, Known, Unknown
from handrail.journal.vocabulary import Actor

_CAPITAL = re.compile("(?<!^)(?=[A-Z])")
_TYPE_OF: dict[type[Known], str] = {kind: _CAPITAL.sub("_", kind.__name__).lower() for kind in KINDS}
KIND_OF = {name: kind for kind, name in _TYPE_OF.items()}
"""Every kind by its stored name."""


_Instant = datetime | None
_Number = int | None


class NotAnEvent(JournalError, ValueError):
    """The bytes are no event."""

    code = "not_an_event"


class EventRow(Struct, frozen=True):
    """The envelope as it is stored, with everything in it still plain JSON.

    ``type`` ``""`` or ``seq`` 0 say that the row is no event.
    """

    type: str = ""
    seq: int = 0
    v: int = VERSION
    by: Any = None
    at: Any = None
    inbox: Any = None
    body: Any = None


def type_of(body: Body) -> str:
    """The stored name of an event's kind (``tool_finished``)."""
    return body.type if isinstance(body, Unknown) else _TYPE_OF[type(body)]


def encode_event(event: Event) -> bytes:
    """The canonical bytes, without a line feed. ``ValueError`` for a float that is no number."""
    body = event.body
    row: dict[str, Any] = {"at": event.at, "body": body, "by": event.by, "seq": event.seq, "v": VERSION}
    if type(body) is Unknown:
        row["body"], row["type"], row["v"] = body.fields, body.type, body.v
    else:
        row["type"] = type_of(body)
    if event.inbox is not None:
        row["inbox"] = event.inbox
    return jsonio.canonical(row)


def decode_event(data: bytes) -> Event:
    """The event of one line; ``NotAnEvent`` when it is none. A kind that is not known is no error."""
    try:
        value = jsonio.decode(data)
        return read_row(msgspec.convert(value, EventRow))
    except (jsonio.NotJson, msgspec.ValidationError, UnicodeEncodeError) as problem:
        raise NotAnEvent(f"no event: {problem}") from problem


def read_row(row: EventRow) -> Event:
    """The event of a row that was read already; ``NotAnEvent`` when a known kind does not fit its shape."""
    if not row.type or row.seq < 1:
        raise NotAnEvent("no event: it has no type or no sequence number")
    try:
        return Event(
            seq=row.seq,
            by=msgspec.convert(row.by, Actor),
            at=msgspec.convert(row.at, _Instant),
            inbox=msgspec.convert(row.inbox, _Number),
            body=_read_body(row),
        )
    except (msgspec.ValidationError, UnicodeEncodeError, RecursionError) as problem:
        raise NotAnEvent(f"no {row.type}: {problem}") from problem


def _read_body(row: EventRow) -> Body:
    kind = KIND_OF.get(row.type)
    if kind is None or row.v != VERSION:
        return Unknown(type=row.type, v=row.v, fields=row.body)
    body: Known = msgspec.convert(row.body, kind)
    return body


def digest(*events: Event) -> str:
    """SHA-256 (hexadecimal) of the canonical bytes, one line an event."""
    total = hashlib.sha256()
    for event in events:
        total.update(encode_event(event))
        total.update(b"\n")
    return total.hexdigest()
