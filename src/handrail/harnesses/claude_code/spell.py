"""Canonical blocks in Claude Code's own spelling, and what that spelling cannot say.

Each function returns what goes into the file and the names of the fields that were left out, by their dotted name
in the model, with why. What reads back otherwise although it was written is found by ``check``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from handrail import ids, jsonio
from handrail.harnesses.claude_code.blocks import SERVER_TOOL
from handrail.harnesses.families.markers import CLAUDE_CODE_REFUSALS, find_refusal
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import (
    Artifact,
    Author,
    Bash,
    Block,
    Image,
    Refusal,
    RefusalKind,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolUse,
    Usage,
)

Lost = tuple[tuple[str, str], ...]
"""What was left out: ``(dotted name, why)``."""

_SAFE_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_RESULT_BLOCKS = ("text", "image", "document", "search_result", "tool_reference", "browser_state")
"""No set: what a foreign block has for a type may be a list, which no set can be asked for."""
_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file)."
)
_SAID = " To tell you how to proceed, the user said:\n"


class Spelled(NamedTuple):
    """A block as it is written (None when it is not), and what was left out of it."""

    block: dict[str, Any] | None
    lost: Lost = ()


def native_id(value: str) -> str:
    """``value`` where the provider takes it as the id of a call, else one made from it."""
    return value if _SAFE_ID.match(value) else f"toolu_{ids.short_hash(value)}"


def native_call(call: ToolCall) -> tuple[str, Any, Lost]:
    """Name and input of ``call`` as Claude Code writes them. The input is an object whatever it was."""
    name, value = render_call(call)
    if type(call) is Bash and "timeout_ms" in value:
        value = {"timeout" if key == "timeout_ms" else key: item for key, item in value.items()}
    if not isinstance(value, Mapping):
        return name, {"input": value}, (("tool_use.call.input", "an input is an object here: put under the key input"),)
    return name, value, ()


def _text(block: Text) -> Spelled:
    if not block.text:
        return Spelled(None, (("text", "an empty text is refused by the provider"),))
    lost: list[tuple[str, str]] = []
    if block.author is not Author.MODEL:
        lost.append(("text.author", "text of a response is the model's"))
    if block.by is not None:
        lost.append(("text.by", "a response names no author"))
    if block.via is not None:
        lost.append(("text.via", "a response has no way in"))
    return Spelled({"type": "text", "text": block.text}, tuple(lost))


def _thinking(block: Thinking) -> Spelled:
    if block.encrypted is not None and not block.text:
        lost = (("thinking.signature", "encrypted thinking has none here"),) if block.signature is not None else ()
        return Spelled({"type": "redacted_thinking", "data": block.encrypted}, lost)
    lost = (
        (("thinking.encrypted", "thinking in plain has no encrypted form here"),) if block.encrypted is not None else ()
    )
    spelled = {"type": "thinking", "thinking": block.text}
    if block.signature is not None:
        spelled["signature"] = block.signature
    return Spelled(spelled, lost)


def _tool_use(block: ToolUse) -> Spelled:
    name, value, lost = native_call(block.call)
    call = native_id(block.id)
    if call != block.id:
        lost += (("tool_use.id", f"not an id the provider takes: written as {call}"),)
    kind = "tool_use"
    if block.provider == SERVER_TOOL:
        kind = "server_tool_use"
    elif block.provider is not None:
        lost += (("tool_use.provider", "state of another provider"),)
    return Spelled({"type": kind, "id": call, "name": name, "input": value}, lost)


def _other(what: str) -> Callable[[Any], Spelled]:
    return lambda block: Spelled(None, ((what, "a response cannot hold one here"),))


_RESPONSE: dict[type, Callable[[Any], Spelled]] = {Text: _text, Thinking: _thinking, ToolUse: _tool_use}
_NAMES: dict[type, str] = {ToolResult: "tool_result", Image: "image", Artifact: "artifact"}


def response_block(block: Block) -> Spelled:
    """A block of an assistant message."""
    spell = _RESPONSE.get(type(block))
    return spell(block) if spell is not None else _other(_NAMES.get(type(block), type(block).__name__.lower()))(block)


def image(block: Image) -> Spelled:
    """A picture of a user message."""
    source: dict[str, Any] = {"type": "base64", "media_type": block.media_type, "data": block.data}
    if block.url is not None:
        source |= {"url": block.url}
        if not block.data:
            source["type"] = "url"
    return Spelled({"type": "image", "source": source})


def document(block: Artifact) -> Spelled:
    """An artifact of a user message, when its text or data is at hand."""
    lost: Lost = ()
    if block.text is not None:
        source: dict[str, Any] = {"type": "text", "media_type": block.media_type or "text/plain", "data": block.text}
        if block.data is not None:
            lost += (("artifact.data", "a document has one source: its text was kept"),)
    elif block.data is not None:
        source = {"type": "base64", "media_type": block.media_type or "application/octet-stream", "data": block.data}
    else:
        return Spelled(None, (("artifact", "a document needs its text or data, a path is not enough"),))
    if block.media_type is None:
        lost += (("artifact.media_type", f"written as {source['media_type']}"),)
    if block.path is not None:
        lost += (("artifact.path", "a document has no path here"),)
    if block.id != block.name:
        lost += (("artifact.id", "a document has a title only"),)
    return Spelled({"type": "document", "title": block.name, "source": source}, lost)


def result_content(content: Any) -> tuple[Any, Lost]:
    """What a result holds: a text, or a list of blocks of kinds that load again; anything else as JSON text."""
    if isinstance(content, str):
        return content, ()
    if isinstance(content, (list, tuple)) and all(
        isinstance(item, Mapping) and item.get("type") in _RESULT_BLOCKS for item in content
    ):
        return content, ()
    text = jsonio.encode(content).decode()
    return text, (("tool_result.content", "content of this shape does not load here: written as JSON text"),)


class SpelledResult(NamedTuple):
    """A result as it is written; ``denial`` is the row's ``toolDenialKind``."""

    block: dict[str, Any]
    denial: str | None
    lost: Lost


def result(block: ToolResult, call: str) -> SpelledResult:
    """The result ``block`` for the call that is written as ``call``."""
    content, lost = result_content(block.content)
    is_error = block.is_error
    denial: str | None = None
    refusal = block.refusal
    if refusal is not None and not (is_error and find_refusal(_plain(content), CLAUDE_CODE_REFUSALS) == refusal):
        spell = _DENIALS.get((refusal.kind, refusal.by))
        if refusal.kind is RefusalKind.DENIED and refusal.by == "person" and refusal.reason is not None:
            content, denial, is_error = _REJECTED + _SAID + refusal.reason, "user-rejected", True
            lost += (("tool_result.content", "a refusal with words is written in Claude Code's own"),)
        elif spell is not None:
            denial = spell
        else:
            lost += (("tool_result.refusal", f"{refusal.kind.value} has no spelling here"),)
        lost += _refusal_loss(refusal, denial)
    spelled: dict[str, Any] = {"tool_use_id": call, "type": "tool_result", "content": content}
    if is_error:
        spelled["is_error"] = True
    if call != block.tool_use_id:
        lost += (("tool_result.tool_use_id", f"written as {call}"),)
    return SpelledResult(spelled, denial, lost)


_DENIALS: dict[tuple[RefusalKind, str | None], str] = {
    (RefusalKind.DENIED, "person"): "user-rejected",
    (RefusalKind.BLOCKED, "policy"): "permission-rule",
    (RefusalKind.BLOCKED, "hook"): "hook-denied",
}
"""How a refusal without words is named beside the result."""


def _refusal_loss(refusal: Refusal, denial: str | None) -> Lost:
    if denial is not None and refusal.reason is not None and refusal.kind is not RefusalKind.DENIED:
        return (("tool_result.refusal.reason", "only a person's refusal carries words here"),)
    return ()


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else ""


def native_usage(found: Usage) -> tuple[dict[str, int], Lost]:
    """Tokens as the provider counts them."""
    counts = {"input_tokens": found.input_tokens, "output_tokens": found.output_tokens}
    if found.cache_creation_input_tokens is not None:
        counts["cache_creation_input_tokens"] = found.cache_creation_input_tokens
    if found.cache_read_input_tokens is not None:
        counts["cache_read_input_tokens"] = found.cache_read_input_tokens
    lost = (("usage.reasoning_tokens", "counted as output here"),) if found.reasoning_tokens is not None else ()
    return counts, lost
