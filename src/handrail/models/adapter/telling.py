"""What a model is told, block by block, as the provider library takes it: texts and pictures.

Who wrote a text is nothing to a provider.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import TypeAlias, assert_never

from pydantic_ai.messages import BinaryContent, ImageUrl, UserContent

from handrail import jsonio
from handrail.models.errors import BadRequest
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import (
    Artifact,
    Block,
    Command,
    Compaction,
    Decision,
    Image,
    Interrupt,
    Json,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

Picture: TypeAlias = BinaryContent | ImageUrl


def told(block: Block) -> Iterator[UserContent]:
    """What ``block`` of a user message says to a model; nothing for one that says nothing to it."""
    match block:
        case Text():
            yield from _nonempty(block.text)
        case Image():
            yield _picture(block.media_type, block.data, block.url)
        case Artifact():
            yield from _attached(block)
        case Interrupt():
            yield "[The response before this was interrupted.]"
        case Compaction():
            yield from _nonempty(block.summary or "")
        case Decision():
            yield from _nonempty(_decided(block))
        case ToolUse():
            if type(block.call) is Command:
                yield " ".join(filter(None, (call_name(block.call), block.call.args)))
        case ToolResult():
            yield from _nonempty(_as_text(block.content))
        case Thinking():
            return
        case _:
            assert_never(block)


def _nonempty(text: str) -> Iterator[str]:
    if text:
        yield text


def _decided(block: Decision) -> str:
    """What a person decided; nothing where they decided nothing: the question alone would read as words of theirs."""
    is_changed = block.after is not None and block.after != block.before
    if not (block.choice or block.comment or is_changed):
        return ""
    lines = [f"{block.ask}: {block.choice}" if block.choice else block.ask, block.comment]
    if is_changed:
        lines.append(f"It now reads:\n{block.after}")
    return "\n".join(line for line in lines if line)


def _attached(block: Artifact) -> Iterator[UserContent]:
    """A named file: its text, or itself where every provider can look at such; of others only that it is there."""
    kind = block.media_type or ""
    if block.text is not None:
        yield f"{block.name}:\n{block.text}"
    elif block.data is not None and kind.startswith("text/"):
        yield f"{block.name}:\n{_binary(kind, block.data).data.decode('utf-8', 'replace')}"
    elif block.data is not None and (kind == "application/pdf" or kind.startswith("image/")):
        yield f"{block.name}:"
        yield _binary(kind, block.data)
    else:
        details = ", ".join(filter(None, (block.path, kind)))
        yield f"{block.name} ({details})" if details else block.name


def result_content(block: ToolResult) -> str | list[str | Picture]:
    """What a call came to: a text, or texts and pictures where there is a picture among them."""
    if isinstance(block.content, list) and all(_is_typed(one) for one in block.content):
        pieces = [_piece(one) for one in block.content]
        texts = [one for one in pieces if isinstance(one, str)]
        return pieces if len(texts) < len(pieces) else "\n".join(texts)
    text = _as_text(block.content)
    if not text and block.refusal is not None:
        return " ".join(filter(None, (f"not run: {block.refusal.kind}", block.refusal.reason)))
    return text


def _is_typed(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _piece(value: Mapping[str, Json]) -> str | Picture:
    """One object of mixed output: a text, a picture in any of its spellings, or itself as JSON."""
    if value["type"] == "text" and isinstance(value.get("text"), str):
        return str(value["text"])
    if value["type"] == "image":
        source = value["source"] if isinstance(value.get("source"), dict) else value
        media_type = source.get("media_type") or source.get("mimeType")
        data, url = source.get("data"), source.get("url")
        if isinstance(media_type, str) and isinstance(data, str):
            return _picture(media_type, data, None)
        if isinstance(url, str):
            return ImageUrl(url)
    return _as_text(value)


def _as_text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else jsonio.encode(value).decode()


def _picture(media_type: str, data: str, url: str | None) -> Picture:
    return ImageUrl(url, media_type=media_type or None) if url and not data else _binary(media_type, data)


def _binary(media_type: str, data: str) -> BinaryContent:
    try:
        return BinaryContent(base64.b64decode(data, validate=True), media_type=media_type)
    except binascii.Error as problem:
        raise BadRequest(f"an attachment of type {media_type} is not base64: {problem}") from problem
