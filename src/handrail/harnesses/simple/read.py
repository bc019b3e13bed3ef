"""From a document to the canonical model. Nothing raises; what does not fit costs itself and is told.

A wrong field costs the field, a block of no known shape the block, and a message without a usable role or content
the message. Words without a named author are the model's in an assistant message and nobody's in a user message.
"""

from __future__ import annotations

from collections import Counter, deque
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from handrail.ids import stable_uuid
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import (
    Artifact,
    Author,
    Block,
    Compaction,
    Decision,
    Image,
    Interrupt,
    Message,
    Meta,
    Parent,
    Refusal,
    Role,
    Taint,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from handrail.transcripts.voice import as_response

Notes = list[str]
"""What did not fit, in words; one list a message."""

_PLAIN_BLOCKS: dict[str, type[Struct]] = {
    "text": Text,
    "thinking": Thinking,
    "interrupt": Interrupt,
    "compaction": Compaction,
    "decision": Decision,
}
_META_TEXTS = ("id", "cwd", "git_branch", "title", "cli_version", "model")
_MESSAGE_TEXTS = ("uid", "model", "origin")


class Reading(Struct, frozen=True):
    """What a document holds, and what did not fit.

    ``notes`` go by the index of the raw message (None: the top of the document); ``unknown`` counts blocks by type.
    """

    meta: Meta
    body: tuple[Message, ...]
    notes: tuple[tuple[int | None, str], ...]
    unknown: dict[str, int]


def read_document(fields: dict[str, Any], messages: list[Any]) -> Reading:
    """The session that ``fields`` describes."""
    top: Notes = []
    meta = _meta(fields, top)
    notes: list[tuple[int | None, str]] = [(None, note) for note in top]
    reader = _Reader(meta.id)
    body: list[Message] = []
    for index, raw in enumerate(messages):
        found: Notes = []
        message = reader.message(raw, index, found)
        if message is not None:
            body.append(message)
        notes += ((index, note) for note in found)
    return Reading(meta, tuple(body), tuple(notes), dict(reader.unknown))


def _meta(fields: dict[str, Any], notes: Notes) -> Meta:
    known = {key: fields[key] for key in _META_TEXTS if _is_text(fields, key, notes)}
    return Meta(
        **known,
        timestamp=_instant(fields.get("timestamp"), notes),
        parent=_struct(fields.get("parent"), Parent, "parent", notes),
    )


class _Reader:
    """Reads messages in order; remembers which calls still wait for a result without an id."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._waiting: deque[str] = deque()
        self.unknown: Counter[str] = Counter()

    def message(self, raw: Any, index: int, notes: Notes) -> Message | None:
        if type(raw) is not dict:
            notes.append("a message is no object")
            return None
        role = _role(raw.get("role"))
        content = raw.get("content", [])
        if role is None or type(content) not in (str, list):
            notes.append("a message has no role" if role is None else "content is neither text nor a list of blocks")
            return None
        return Message(
            role=role,
            content=self._content(content, role, index, notes),
            **self._fields(raw, notes),
        )

    def _fields(self, raw: dict[str, Any], notes: Notes) -> dict[str, Any]:
        known: dict[str, Any] = {key: raw[key] for key in _MESSAGE_TEXTS if _is_text(raw, key, notes)}
        uids = raw.get("uids")
        if type(uids) is list and all(type(uid) is str for uid in uids):
            known["uids"] = tuple(uids)
        elif known.get("uid"):
            known["uids"] = (known["uid"],)
        return known | {
            "timestamp": _instant(raw.get("timestamp"), notes),
            "stop_reason": _stop_reason(raw.get("stop_reason"), notes),
            "usage": _struct(raw.get("usage"), Usage, "usage", notes),
            "taint": _struct(raw.get("taint"), Taint, "taint", notes),
            "provider": raw.get("provider"),
            "is_bridged": raw.get("is_bridged") is True,
        }

    def _content(self, content: Any, role: Role, index: int, notes: Notes) -> tuple[Block, ...]:
        default = Author.MODEL if role == "assistant" else Author.UNKNOWN
        if type(content) is str:
            return (Text(content, default),)
        blocks = (self._block(raw, default, index, position, notes) for position, raw in enumerate(content))
        found = tuple(block for block in blocks if block is not None)
        return as_response(found) if role == "assistant" else found

    def _block(self, raw: Any, default: Author, index: int, position: int, notes: Notes) -> Block | None:
        kind = raw.get("type") if type(raw) is dict else None
        if kind == "tool_use":
            return self._call(raw, index, position, notes)
        if kind == "tool_result":
            return self._result(raw, index, position, notes)
        if kind == "image":
            return _image(raw, notes)
        if kind == "artifact":
            return _artifact(raw, notes)
        plain = _PLAIN_BLOCKS.get(kind) if type(kind) is str else None
        if plain is None:
            if type(kind) is str:
                self.unknown[kind] += 1
            else:
                notes.append("a block has no type")
            return None
        given = {"author": default, **raw} if plain is Text else raw
        block: Block | None = _struct(given, plain, str(kind), notes)
        return block

    def _call(self, raw: dict[str, Any], index: int, position: int, notes: Notes) -> Block | None:
        name = raw.get("name")
        if type(name) is not str:
            notes.append("a tool call has no name")
            return None
        call_id = raw.get("id")
        if type(call_id) is not str:
            call_id = stable_uuid(self._session, index, position)
        self._waiting.append(call_id)
        return ToolUse(call_id, parse_call(name, raw.get("input")), raw.get("provider"))

    def _result(self, raw: dict[str, Any], index: int, position: int, notes: Notes) -> Block:
        call_id = raw.get("tool_use_id")
        if type(call_id) is str:
            if call_id in self._waiting:
                self._waiting.remove(call_id)
        else:
            call_id = self._waiting.popleft() if self._waiting else stable_uuid(self._session, index, position)
        refusal = _struct(raw.get("refusal"), Refusal, "refusal", notes)
        return ToolResult(call_id, raw.get("content", ""), raw.get("is_error") is True, refusal)


def _image(raw: dict[str, Any], notes: Notes) -> Block | None:
    source = raw.get("source")
    if type(source) is not dict:
        notes.append("an image has no source")
        return None
    image: Image | None = _struct(source, Image, "image", notes, drop="type")
    return image


def _artifact(raw: dict[str, Any], notes: Notes) -> Block | None:
    inner = raw.get("artifact")
    if type(inner) is not dict or type(inner.get("source", {})) is not dict:
        notes.append("an artifact is no object, or its source is none")
        return None
    fields = {**inner.get("source", {}), **inner}
    artifact: Artifact | None = _struct(fields, Artifact, "artifact", notes, drop="type")
    return artifact


def _struct(value: Any, kind: type[Any], what: str, notes: Notes, *, drop: str | None = None) -> Any:
    """``value`` as ``kind``; None where it is absent or does not fit."""
    if value is None:
        return None
    try:
        if drop is not None:
            value = {key: item for key, item in value.items() if key != drop}
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as problem:
        notes.append(f"{what} does not fit: {problem}"[:200])
        return None


def _role(value: Any) -> Role | None:
    word = value.strip().lower() if type(value) is str else None
    return word if word in ("user", "assistant") else None  # type: ignore[return-value]


def _stop_reason(value: Any, notes: Notes) -> str | None:
    if type(value) is dict and type(value.get("other")) is str:
        value = value["other"]
    if value is not None and type(value) is not str:
        notes.append("stop_reason is no text")
        return None
    return value


def _is_text(fields: dict[str, Any], key: str, notes: Notes) -> bool:
    value = fields.get(key)
    if value is not None and type(value) is not str:
        notes.append(f"{key} is no text")
    return type(value) is str


def _instant(value: Any, notes: Notes) -> datetime | None:
    """An instant with its zone, in UTC; a time without a zone, or no time at all, is unknown."""
    if value is None:
        return None
    try:
        instant = msgspec.convert(value, datetime)
        if instant.tzinfo is not None:
            return instant.astimezone(UTC)
    except (msgspec.ValidationError, UnicodeEncodeError, OverflowError):
        pass
    notes.append("timestamp is no instant with a time zone")
    return None
