"""The provider library's response as a canonical reply, and its events as deltas."""

from __future__ import annotations

import base64
from typing import cast

from pydantic_ai.messages import (
    FilePart,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.usage import RequestUsage
from pydantic_core import to_jsonable_python

from handrail import jsonio
from handrail.models.adapter.state import BlockState, CallState, ReplyState, as_json
from handrail.models.errors import ConnectionLost, MalformedReply
from handrail.models.port import Delta, ModelInfo, ModelReply, TextDelta, ThinkingDelta, ToolCallDelta
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Author, Block, Image, Json, Message, Text, Thinking, ToolUse, Usage

_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "error": "error"}

_UNTOLD = frozenset({"timestamp", "logprobs"})
"""Details of a response that no provider wants back."""


def delta_of(event: ModelResponseStreamEvent) -> Delta | None:
    """What ``event`` adds to a block; None when that is nothing to watch."""
    match event:
        case PartStartEvent(part=TextPart(content=text)) if text:
            return TextDelta(event.index, text)
        case PartStartEvent(part=ThinkingPart(content=text)) if text:
            return ThinkingDelta(event.index, text)
        case PartStartEvent(part=ToolCallPart() as part):
            return ToolCallDelta(event.index, part.tool_call_id, part.tool_name, _fragment(part.args))
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
            return TextDelta(event.index, text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str() as text)) if text:
            return ThinkingDelta(event.index, text)
        case PartDeltaEvent(delta=ToolCallPartDelta() as delta):
            return ToolCallDelta(event.index, None, delta.tool_name_delta or "", _fragment(delta.args_delta))
        case _:
            return None


def _fragment(args: str | dict[str, Json] | None) -> str:
    if args is None:
        return ""
    return args if isinstance(args, str) else jsonio.encode(args).decode()


def reply_of(response: ModelResponse, origin: str, info: ModelInfo) -> ModelReply:
    """The canonical reply; ``ConnectionLost`` when the response was never finished."""
    details = _details(response.provider_details)
    # The library takes some streams that merely end for finished ones; the provider's own word for it is missing then.
    if response.finish_reason is None or details.keys().isdisjoint({"finish_reason", "refusal"}):
        raise ConnectionLost(f"the reply of {info.name} broke off before it was whole")
    content: list[Block] = []
    states: dict[str, BlockState] = {}
    for part in response.parts:
        block = _block(part, origin, info)
        if block is not None:
            states[str(len(content))] = _state_of(part)
            content.append(block)
    refusal = details.get("refusal")
    if isinstance(refusal, str) and not content:
        content.append(Text(refusal, Author.MODEL))
    kept = ReplyState(origin=origin, id=response.provider_response_id, details=details, blocks=_told(states))
    message = Message(
        role="assistant",
        content=tuple(content),
        model=response.model_name or info.id,
        stop_reason=_stop_reason(response, content),
        usage=_usage(response.usage),
        provider=as_json(kept),
    )
    return ModelReply(message=message, cost=_cost(response))


def _told(states: dict[str, BlockState]) -> dict[str, BlockState]:
    return {index: state for index, state in states.items() if state != BlockState()}


def _block(part: ModelResponsePart, origin: str, info: ModelInfo) -> Block | None:
    match part:
        case TextPart(content=""):
            return None
        case TextPart():
            return Text(part.content, Author.MODEL)
        case ThinkingPart():
            return _thinking(part)
        case ToolCallPart():
            input = _input(cast("str | dict[str, Json] | None", part.args))
            details = _details(part.provider_details)
            bound = as_json(CallState(origin=origin, details=details)) if details else None
            return ToolUse(part.tool_call_id, parse_call(part.tool_name, input), bound)
        case FilePart():
            return Image(part.content.media_type, base64.b64encode(part.content.data).decode())
        case _:
            raise MalformedReply(f"{info.name} answered with a part of kind {part.part_kind}, which was not asked for")


def _thinking(part: ThinkingPart) -> Thinking | None:
    """A signature proves words that are there; without words, or from OpenAI, it is the reasoning itself, sealed."""
    if not part.content and not part.signature:
        return None
    is_sealed = bool(part.signature) and (not part.content or part.provider_name == "openai")
    if is_sealed:
        return Thinking(part.content, encrypted=part.signature)
    return Thinking(part.content, signature=part.signature)


def _input(args: str | dict[str, Json] | None) -> Json:
    """The input of a call; text that is no JSON object stays text, for the tool's check to refuse."""
    if not isinstance(args, str):
        return {} if args is None else args
    if not args.strip():
        return {}
    try:
        return jsonio.decode(args.encode("utf-8", "surrogatepass"))
    except jsonio.NotJson:
        return args


def _state_of(part: ModelResponsePart) -> BlockState:
    if isinstance(part, TextPart | ThinkingPart):
        return BlockState(id=part.id, details=_details(part.provider_details))
    # The details of a call ride on the call.
    return BlockState(id=part.id) if isinstance(part, ToolCallPart) else BlockState()


def _details(details: dict[str, Json] | None) -> dict[str, Json]:
    kept = {name: value for name, value in (details or {}).items() if name not in _UNTOLD}
    found: dict[str, Json] = to_jsonable_python(kept)
    return found


def _stop_reason(response: ModelResponse, content: list[Block]) -> str:
    """The canonical reason. A server that calls tools and says it simply stopped has called tools."""
    if (response.provider_details or {}).get("finish_reason") == "stop_sequence":
        return "stop_sequence"
    reason = _STOP_REASONS.get(response.finish_reason or "", "end_turn")
    has_calls = any(type(block) is ToolUse for block in content)
    return "tool_use" if reason == "end_turn" and has_calls else reason


def _usage(usage: RequestUsage) -> Usage | None:
    """Tokens as counted, the cached ones told apart: the library's input holds them, ours does not."""
    if not usage.has_values():
        return None
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    return Usage(
        input_tokens=max(0, usage.input_tokens - read - written),
        output_tokens=usage.output_tokens,
        cache_read_input_tokens=read or None,
        cache_creation_input_tokens=written or None,
        reasoning_tokens=usage.details.get("reasoning_tokens") or None,
    )


def _cost(response: ModelResponse) -> float | None:
    """US dollars by published prices; None for a model without one."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError):
        return None
