"""Canonical messages as the provider library's.

Provider-bound state (signatures, encrypted reasoning, item ids) goes back to the origin it came from and to no
other: for another it is dropped whole, reasoning with it. Who wrote a text is nothing to a provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace
from pydantic_ai.messages import (
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

from handrail import ids
from handrail.models.adapter.state import BlockState, ReplyState, call_details, reply_state
from handrail.models.adapter.telling import result_content, told
from handrail.models.errors import BadRequest
from handrail.models.port import ModelRequest
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import (
    Block,
    Command,
    Decision,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

_SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def library_messages(
    request: ModelRequest, origin: str, system: str, *, results_hold_pictures: bool = True
) -> list[ModelMessage]:
    """``request.messages`` for the library. ``origin`` is whose state is sent back, ``system`` its name there.

    Where results cannot hold pictures, those follow the results of their delivery.
    Raises ``BadRequest`` when the last message is not one to be answered.
    """
    mapping = _Mapping(origin, system, results_hold_pictures)
    found: list[ModelMessage] = [one for message in request.messages if (one := mapping.message(message)) is not None]
    last = found[-1] if found else None
    if not isinstance(last, LibraryRequest):
        raise BadRequest("the conversation does not end with something to answer")
    last.instructions = request.instructions or None
    return found


class _Mapping:
    """One walk over a conversation: which tool an id belongs to, and by which id the provider knows it."""

    def __init__(self, origin: str, system: str, results_hold_pictures: bool) -> None:
        self._origin = origin
        self._system = system
        self._results_hold_pictures = results_hold_pictures
        self._tools: dict[str, str] = {}
        self._wire_ids: dict[str, str] = {}
        self._taken: set[str] = set()

    def message(self, message: Message) -> ModelMessage | None:
        if message.role == "assistant":
            state = reply_state(message.provider, self._origin)
            parts = [part for index, block in enumerate(message.content) for part in self._said(block, index, state)]
            return self._response(message, parts, state) if parts else None
        given = [*self._results(message), *self._prompt(message)]
        return LibraryRequest(parts=given) if given else None

    # What the model said

    def _response(self, message: Message, parts: list[ModelResponsePart], state: ReplyState | None) -> ModelResponse:
        if state is None:
            return ModelResponse(parts=parts, model_name=message.model)
        return ModelResponse(
            parts=parts,
            model_name=message.model,
            provider_name=self._system,
            provider_response_id=state.id,
            provider_details=dict(state.details) or None,
        )

    def _said(self, block: Block, index: int, state: ReplyState | None) -> Iterator[ModelResponsePart]:
        own = None if state is None else state.block(index)
        match block:
            case Text() if block.text:
                yield TextPart(block.text, **self._bound(own))
            case Thinking() if own is not None:
                signature = block.signature if block.encrypted is None else block.encrypted
                # Anthropic takes no reasoning back without its signature, and the library would make it a text.
                if signature is not None or self._system != "anthropic":
                    yield ThinkingPart(block.text, signature=signature, **self._bound(own))
            case ToolUse() if type(block.call) is not Command:
                name, input = render_call(block.call)
                args = input if isinstance(input, str | dict) else {"input": input}
                if own is not None:
                    own = replace(own, details=call_details(block.provider, self._origin))
                yield ToolCallPart(name, args, self._new_id(block.id, name), **self._bound(own))

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
                content = result_content(block)
                if isinstance(content, list) and not self._results_hold_pictures:
                    content = "\n".join(one for one in content if isinstance(one, str))
                yield ToolReturnPart(
                    self._tools[block.tool_use_id],
                    content,
                    self._wire_ids[block.tool_use_id],
                    outcome="failed" if block.is_error else "success",
                )

    def _prompt(self, message: Message) -> Iterator[ModelRequestPart]:
        content = [one for block in message.content for one in self._told(block)]
        if not self._results_hold_pictures:
            content = [*self._pictures(message), *content]
        if content:
            yield UserPromptPart(content)

    def _pictures(self, message: Message) -> Iterator[UserContent]:
        """The pictures of the results, each after the name of its tool."""
        for block in message.content:
            if type(block) is ToolResult and block.tool_use_id in self._wire_ids:
                content = result_content(block)
                for one in content if isinstance(content, list) else ():
                    if not isinstance(one, str):
                        yield f"From {self._tools[block.tool_use_id]}:"
                        yield one

    def _told(self, block: Block) -> Iterator[UserContent]:
        if type(block) is ToolResult:
            # One whose call the model never made is told all the same.
            return told(block) if block.tool_use_id not in self._wire_ids else iter(())
        # An answer to a call stands in the call's result already.
        return iter(()) if type(block) is Decision and block.ask in self._tools else told(block)
