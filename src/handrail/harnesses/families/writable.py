"""What no JSON file can hold of a message, taken out of it and named: for targets that hold everything else.

Two things: numbers that are none have no spelling in JSON, and a person's words inside a model's response are a
contradiction that no reader lets through.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.transcripts.codec import LossItem
from handrail.transcripts.model import Block, Message
from handrail.transcripts.voice import as_response, claims_person

_JSON_FIELDS = {"ToolUse": ("call", "provider"), "ToolResult": ("content",)}
_NO_SPELLING = "numbers that are none (NaN, infinities) have no JSON; they became null"
_NOBODY = "a model's response holds no person's words; the author became unknown"


def writable(message: Message, index: int, items: list[LossItem]) -> Message:
    """``message`` as it can be written; what had to change is added to ``items`` with its place ``index``.

    ``RecursionError`` when it holds JSON that is nested too deeply to be written at all.
    """
    if message.role == "assistant":
        for position, block in enumerate(message.content):
            if claims_person(block):
                items.append(LossItem(what="text.author", why=_NOBODY, message=index, block=position))
        message = replace(message, content=as_response(message.content))
    if _has_spelling(message):
        return message
    if not _has_spelling(message.provider):
        message = replace(message, provider=_plain(message.provider))
        items.append(LossItem(what="message.provider", why=_NO_SPELLING, message=index))
    content = tuple(_writable_block(block, index, position, items) for position, block in enumerate(message.content))
    return replace(message, content=content)


def _writable_block(block: Block, index: int, position: int, items: list[LossItem]) -> Block:
    for field in _JSON_FIELDS.get(type(block).__name__, ()):
        value = getattr(block, field)
        if not _has_spelling(value):
            plain = _plain(value)
            kept = msgspec.convert(plain, type(value)) if isinstance(value, Struct) else plain
            block = replace(block, **{field: kept})
            what = f"{block.__struct_config__.tag}.{field}"
            items.append(LossItem(what=what, why=_NO_SPELLING, message=index, block=position))
    return block


def _has_spelling(value: Any) -> bool:
    try:
        jsonio.canonical(value)
    except ValueError:
        return False
    return True


def _plain(value: Any) -> Any:
    return jsonio.decode(jsonio.encode(value))
