"""What a probe sends, without secrets and personal marks: the same in what is sent and in what it is told by.

A call is looked up in the record by its arguments. Redacting both sides alike keeps that true: who is shown a path
with a name taken out calls for it under that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec.structs import replace

from handrail.learning.probes.branching import Branch, RecordedCall
from handrail.transcripts.calls import parse_call, render_call
from handrail.transcripts.model import (
    Artifact,
    Block,
    Compaction,
    Image,
    Json,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from handrail.transcripts.redact import redact

Cleaning: TypeAlias = Callable[[str], str]
"""Takes out of a text what may not leave the machine."""

_NO_PICTURE = "[a picture stood here; it is left out]"


def redacted(branch: Branch, clean: Cleaning | None = None) -> Branch:
    """``branch`` as it may leave the machine. Pictures and data are left out, and so is reasoning, whose signature
    would not fit it any more and whose reader may be another model.

    ``clean`` is for who redacts many branches of one session and remembers its texts (None: ``redacted_text``).
    """
    clean = clean or redacted_text
    return replace(
        branch,
        prefix=tuple(message for one in branch.prefix if (message := _message(one, clean)).content),
        tail=tuple(_call(one, clean) for one in branch.tail),
        unwanted=tuple(_call(one, clean) for one in branch.unwanted),
        wanted=tuple(_call(one, clean) for one in branch.wanted),
    )


def redacted_text(text: str) -> str:
    """``text`` as it may leave the machine."""
    return redact(text).text


def _message(message: Message, clean: Cleaning) -> Message:
    # What a provider keeps of its own is bound to the bytes that it was made of.
    return replace(message, content=tuple(_blocks(message, clean)), provider=None)


def _blocks(message: Message, clean: Cleaning) -> Iterator[Block]:
    for block in message.content:
        match block:
            case Text():
                yield replace(block, text=clean(block.text))
            case Thinking():
                continue
            case ToolUse():
                name, input = render_call(block.call)
                yield ToolUse(block.id, parse_call(name, _json(input, clean)))
            case ToolResult():
                yield replace(block, content=_json(block.content, clean))
            case Image() | Artifact(text=None):
                yield Text(_NO_PICTURE)
            case Artifact():
                yield replace(block, text=clean(block.text or ""), data=None)
            case Compaction():
                yield replace(block, summary=None if block.summary is None else clean(block.summary))
            case _:
                yield block


def _call(call: RecordedCall, clean: Cleaning) -> RecordedCall:
    return replace(call, input=_json(call.input, clean), content=_json(call.content, clean))


def _json(value: Json, clean: Cleaning) -> Json:
    """``value`` with its texts redacted; a picture in a result is taken out whole."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_json(item, clean) for item in value]
    if isinstance(value, dict):
        if value.get("type") == "image":
            return {"type": "text", "text": _NO_PICTURE}
        return {key: _json(item, clean) for key, item in value.items()}
    return value
