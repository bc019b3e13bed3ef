"""The native body: the document as it was given, decoded once, and where in its bytes a message stands."""

from __future__ import annotations

from typing import Any

import msgspec

from handrail import jsonio
from handrail.transcripts.codec import Fault, Parts


class Document:
    """A document; equal when the bytes are. ``given`` is what ``render`` gives back, ``fields`` the top-level object.

    ``fields`` is empty where the bytes hold no object; ``fault`` says then what is wrong.
    """

    __slots__ = ("data", "fault", "fields", "given", "part")

    def __init__(self, given: bytes | Parts) -> None:
        self.given = given if isinstance(given, bytes) else dict(given)
        self.part, self.data = ("", given) if isinstance(given, bytes) else _main_part(given)
        self.fields, reason = _read(self.data)
        end = len(self.data)
        self.fault = (
            Fault(code="not_a_document", start=0, end=end, message=reason, part=self.part) if reason and end else None
        )

    @property
    def messages(self) -> list[Any]:
        """The raw messages, whatever they are."""
        found = self.fields.get("messages")
        return found if type(found) is list else []

    def message_spans(self) -> list[tuple[int, int]]:
        """Byte offsets of every message; the whole document for each where they cannot be told apart."""
        try:
            pieces = msgspec.json.decode(self.data.removeprefix(jsonio.BOM), type=_Pieces).messages
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return [(0, len(self.data))] * len(self.messages)
        spans = []
        start = max(0, self.data.find(b'"messages"'))
        for piece in map(bytes, pieces):
            start = self.data.find(piece, start)
            spans.append((start, start + len(piece)))
            start += len(piece)
        return spans

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self.given == other.given

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        return f"<document, {len(self.messages)} messages, {len(self.data)} bytes>"


class _Pieces(msgspec.Struct):
    messages: list[msgspec.Raw] = []


def _main_part(parts: Parts) -> tuple[str, bytes]:
    """The first part that is not empty; a document is one file."""
    return next(((name, data) for name, data in parts.items() if data), ("", b""))


def _read(data: bytes) -> tuple[dict[str, Any], str | None]:
    """The top-level object, or what is wrong with the bytes."""
    try:
        value = jsonio.decode(data.removeprefix(jsonio.BOM))
    except jsonio.NotJson as problem:
        return {}, f"no JSON document: {problem}"
    if type(value) is not dict:
        return {}, "the document is no JSON object"
    if type(value.get("messages")) is not list:
        return value, "the document has no list of messages"
    return value, None


def recognises(data: bytes) -> float:
    """Sure when one JSON object has a list of messages that all have a role; nothing else looks like that."""
    fields, reason = _read(data)
    if reason is not None:
        return 0.0
    messages = fields["messages"]
    has_role = [type(message) is dict and "role" in message and "uuid" not in message for message in messages]
    return sum(has_role) / len(has_role) if has_role else 0.5
