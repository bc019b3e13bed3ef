"""Canonical messages as the provider library's.

Provider-bound state (signatures, encrypted reasoning, item ids) goes back to the origin it came from and to no
other: for another it is dropped whole, reasoning with it. Who wrote a text is nothing to a provider.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as LibraryRequest

from handrail import ids, jsonio
from handrail.models.adapter.state import BlockState, ReplyState, block_state, reply_state
from handrail.models.errors import BadRequest
from handrail.models.port import ModelRequest
from handrail.transcripts.calls import call_name, render_call
from handrail.transcripts.model import (
    Artifact,
    Block,
    Command,
    Compaction,
    Decision,
    Image,
    Interrupt,
    Json,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

_SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def library_messages(request: ModelRequest, origin: str, system: str) -> list[ModelMessage]:
    """``request.messages`` for the library. ``origin`` is whose state is sent back, ``system`` its name there.

    Raises ``BadRequest`` when the last message is not one to be answered.
    """
    mapping = _Mapping(origin, system)
    found: list[ModelMessage] = [one for message in request.messages if (one := mapping.message(message)) is not None]
    last = found[-1] if found else None
    if not isinstance(last, LibraryRequest):
        raise BadRequest("the conversation does not end with something to answer")
    last.instructions = request.instructions or None
    return found


class _Mapping:
    """One walk over a conversation: which tool an id belongs to, and by which id the provider knows it."""

    def __init__(self, origin: str, system: str) -> None:
        self._origin = origin
        self._system = system
        self._tools: dict[str, str] = {}
        self._wire_ids: dict[str, str] = {}
        self._taken: set[str] = set()

    def message(self, message: Message) -> ModelMessage | None:
        if message.role == "assistant":
            parts = [part for index, block in enumerate(message.content) for part in self._said(message, index, block)]
            return self._response(message, parts) if parts else None
        given = [*self._results(message), *self._prompt(message)]
        return LibraryRequest(parts=given) if given else None

    # What the model said

    def _response(self, message: Message, parts: list[ModelResponsePart]) -> ModelResponse:
        state = reply_state(message.provider, self._origin) or ReplyState()
        return ModelResponse(
            parts=parts,
            model_name=message.model,
            provider_name=self._system if state.blocks else None,
            provider_response_id=state.id,
            provider_details=dict(state.details) or None,
        )

    def _said(self, message: Message, index: int, block: Block) -> Iterator[ModelResponsePart]:
        state = block_state(message.provider, self._origin, index)
        match block:
            case Text() if block.text:
                yield TextPart(block.text, **self._bound(state))
            case Thinking() if state is not None:
                signature = block.signature if block.encrypted is None else block.encrypted
                yield ThinkingPart(block.text, signature=signature, **self._bound(state))
            case ToolUse() if type(block.call) is not Command:
                name, input = render_call(block.call)
                args = input if isinstance(input, str | dict) else {"input": input}
                yield ToolCallPart(name, args, self._new_id(block.id, name), **self._bound(state))

    def _bound(self, state: BlockState | None) -> dict[str, Any]:
        """What the library keeps of the provider's own on a part."""
        if state is None:
            return {}
        return {"id": state.id, "provider_name": self._system, "provider_details": dict(state.details) or None}

    def _new_id(self, id: str, tool: str) -> str:
        """The id of a call on the wire: its own, unless a provider would refuse it or it was used before."""
        wire = id if _SAFE_ID.fullmatch(id) else f"call_{ids.short_hash(id)}"
        number = 1
        base = wire
        while wire in self._taken:
            number += 1
            wire = f"{base[:56]}_{number}"
        self._taken.add(wire)
        self._wire_ids[id] = wire
        self._tools[id] = tool
        return wire

    # What the model is told

    def _results(self, message: Message) -> Iterator[ModelRequestPart]:
        """Results come first: providers want them right after the calls."""
        for block in message.content:
            if type(block) is ToolResult and block.tool_use_id in self._wire_ids:
                yield ToolReturnPart(
                    self._tools[block.tool_use_id],
                    _result_content(block),
                    self._wire_ids[block.tool_use_id],
                    outcome="failed" if block.is_error else "success",
                )

    def _prompt(self, message: Message) -> Iterator[ModelRequestPart]:
        content = [one for block in message.content for one in self._told(block)]
        if content:
            yield UserPromptPart(content)

    def _told(self, block: Block) -> Iterator[UserContent]:
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
                # An answer to a call stands in the call's result already.
                if block.ask not in self._tools:
                    yield from _nonempty(_decided(block))
            case ToolUse():
                if type(block.call) is Command:
                    yield " ".join(filter(None, (call_name(block.call), block.call.args)))
            case ToolResult() if block.tool_use_id not in self._wire_ids:
                yield from _nonempty(_as_text(block.content))
            case ToolResult() | Thinking():
                return
            case _:
                assert_never(block)


def _nonempty(text: str) -> Iterator[str]:
    if text:
        yield text


def _decided(block: Decision) -> str:
    lines = [f"{block.ask}: {block.choice}" if block.choice else block.ask, block.comment]
    if block.after is not None and block.after != block.before:
        lines.append(f"It now reads:\n{block.after}")
    return "\n".join(line for line in lines if line)


def _attached(block: Artifact) -> Iterator[UserContent]:
    if block.text is not None:
        yield f"{block.name}:\n{block.text}"
    elif block.data is not None and block.media_type is not None:
        yield f"{block.name}:"
        yield _binary(block.media_type, block.data)
    else:
        yield f"{block.name} ({block.path})" if block.path else block.name


def _result_content(block: ToolResult) -> Any:
    """A result as the library takes it: a text, or a list of texts and pictures."""
    if isinstance(block.content, list) and all(_is_typed(one) for one in block.content):
        return [_piece(one) for one in block.content]
    text = _as_text(block.content)
    if not text and block.refusal is not None:
        return " ".join(filter(None, (f"not run: {block.refusal.kind}", block.refusal.reason)))
    return text


def _is_typed(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _piece(value: Mapping[str, Json]) -> Any:
    """One object of mixed output: a text, a picture in any of its spellings, or itself as JSON."""
    if value["type"] == "text" and isinstance(value.get("text"), str):
        return value["text"]
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


def _picture(media_type: str, data: str, url: str | None) -> BinaryContent | ImageUrl:
    return ImageUrl(url, media_type=media_type or None) if url and not data else _binary(media_type, data)


def _binary(media_type: str, data: str) -> BinaryContent:
    try:
        return BinaryContent(base64.b64decode(data, validate=True), media_type=media_type)
    except binascii.Error as problem:
        raise BadRequest(f"an attachment of type {media_type} is not base64: {problem}") from problem
