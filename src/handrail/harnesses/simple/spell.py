"""From the canonical model to a document: short where a thing is as usual, with optional keys where it is not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from handrail.transcripts.calls import parse_call, render_call
from handrail.transcripts.codec import LossItem
from handrail.transcripts.model import (
    Artifact,
    Author,
    Block,
    Common,
    Image,
    Message,
    Meta,
    Role,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
)

_WORDS = frozenset({"end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "aborted", "error"})
_SOURCES = (("text", "text"), ("data", "base64"), ("path", "path"))

Items = list[LossItem]


def spell(common: Transcript[Common], items: Items) -> dict[str, Any]:
    """The document of ``common`` as plain JSON; what it cannot say is added to ``items``."""
    document = _meta(common.meta)
    document["messages"] = [_message(message, index, items) for index, message in enumerate(common.body)]
    return document


def _meta(meta: Meta) -> dict[str, Any]:
    texts = {key: getattr(meta, key) for key in ("cwd", "git_branch", "title", "cli_version", "model")}
    fields = {
        "id": meta.id or None,
        "timestamp": _instant(meta.timestamp),
        "parent": None if meta.parent is None else msgspec.to_builtins(meta.parent),
        **texts,
    }
    return _given(fields)


def _message(message: Message, index: int, items: Items) -> dict[str, Any]:
    fields = _given(
        {
            "role": message.role,
            "timestamp": _instant(message.timestamp),
            "model": message.model,
            "stop_reason": _stop_reason(message.stop_reason),
            "usage": None if message.usage is None else msgspec.to_builtins(message.usage),
            "taint": None if message.taint is None else msgspec.to_builtins(message.taint),
            "provider": message.provider,
            "origin": message.origin,
            "uid": message.uid or None,
            "uids": list(message.uids) if message.uids not in ((), (message.uid,)) else None,
            "is_bridged": True if message.is_bridged else None,
        }
    )
    if message.content:
        fields["content"] = _content(message, index, items)
    return fields


def _content(message: Message, index: int, items: Items) -> Any:
    blocks = []
    for position, block in enumerate(message.content):
        blocks.append(_block(block, message.role))
        if type(block) is ToolUse and parse_call(*render_call(block.call)) != block.call:
            why = "a call is written by name and input, which read as a call of another kind"
            items.append(LossItem(what="tool_use.call", why=why, message=index, block=position))
    only = blocks[0]
    return only["text"] if len(blocks) == 1 and only.keys() == {"type", "text"} and only["type"] == "text" else blocks


def _block(block: Block, role: Role) -> dict[str, Any]:
    match block:
        case Text():
            return _text(block, role)
        case ToolUse():
            name, input = render_call(block.call)
            fields = {"type": "tool_use", "id": block.id, "name": name, "input": input}
            return fields if block.provider is None else {**fields, "provider": block.provider}
        case ToolResult():
            fields = {"type": "tool_result", "tool_use_id": block.tool_use_id, "content": block.content}
            if block.is_error:
                fields["is_error"] = True
            if block.refusal is not None:
                fields["refusal"] = msgspec.to_builtins(block.refusal)
            return fields
        case Image():
            kind = "base64" if block.url is None else "url"
            return {"type": "image", "source": {"type": kind, **_plain(block)}}
        case Artifact():
            return {"type": "artifact", "artifact": _artifact(block)}
        case _:
            return {"type": block.__struct_config__.tag, **_plain(block)}


def _text(block: Text, role: Role) -> dict[str, Any]:
    usual = Author.MODEL if role == "assistant" else Author.UNKNOWN
    author = None if block.author is usual else block.author.value
    via = None if block.via is None else block.via.value
    return {"type": "text", "text": block.text, **_given({"author": author, "by": block.by, "via": via})}


def _artifact(block: Artifact) -> dict[str, Any]:
    source = _given({key: getattr(block, key) for key in ("text", "data", "path", "media_type")})
    kind = next((word for key, word in _SOURCES if key in source), None)
    return {"id": block.id, "name": block.name, "source": {**_given({"type": kind}), **source}}


def _plain(block: Block) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(block)
    del fields["type"]
    return fields


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _stop_reason(reason: str | None) -> Any:
    return reason if reason is None or reason in _WORDS else {"other": reason}


def _instant(instant: datetime | None) -> str | None:
    """Milliseconds and ``Z``; microseconds where there are any, for nothing is to be lost."""
    if instant is None:
        return None
    if instant.tzinfo is not None:
        instant = instant.astimezone(UTC)
    precision = "microseconds" if instant.microsecond % 1000 else "milliseconds"
    return instant.replace(tzinfo=None).isoformat(timespec=precision) + "Z"
