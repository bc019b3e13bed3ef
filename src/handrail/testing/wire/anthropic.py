"""Anthropic's Messages API as it streams.

Written from the published reference: "Streaming messages", "Extended thinking" (signature deltas, redacted
thinking) and "Errors" in Anthropic's API documentation, as of 2026.
"""

from __future__ import annotations

from collections.abc import Iterator

from handrail import jsonio
from handrail.testing.wire.server import Played, failure
from handrail.testing.wire.turns import RETRY_AFTER_S, Fault, Turn, pieces, spelled_input
from handrail.transcripts.model import Block, Json, Text, Thinking, ToolUse

MODEL = "claude-sonnet-4-6"


def spell(turn: Turn) -> Played:
    """``turn`` as a response to ``POST /v1/messages`` with ``stream``."""
    match turn.fault:
        case Fault.OVERLOADED:
            return _error(529, "overloaded_error", "Overloaded")
        case Fault.SERVER_ERROR:
            return _error(500, "api_error", "Internal server error")
        case Fault.RATE_LIMITED:
            return _error(429, "rate_limit_error", "Rate limited", retry_after=f"{RETRY_AFTER_S:g}")
        case Fault.BAD_KEY:
            return _error(401, "authentication_error", "invalid x-api-key")
        case Fault.QUOTA_SPENT:
            return _error(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")
        case Fault.BAD_REQUEST:
            return _error(400, "invalid_request_error", "messages: at least one message is required")
        case Fault.CONTEXT_TOO_LONG:
            return _error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
        case Fault.MALFORMED:
            return Played(chunks=(b"event: message_start\ndata: {not json\n\n",))
    chunks = tuple(_event(body) for body in _stream(turn))
    half = chunks[: len(chunks) // 2]
    if turn.fault in (Fault.CUT, Fault.UNFINISHED):
        return Played(chunks=half, is_cut=turn.fault is Fault.CUT)
    if turn.fault is Fault.OVERLOADED_MID_WAY:
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        return Played(chunks=(*half, _event(error)))
    if turn.hangs:
        return Played(chunks=half, hangs=True)
    return Played(chunks=chunks)


def _error(status: int, kind: str, message: str, **headers: str) -> Played:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return failure(status, body, **headers)


def _event(body: Json) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (body["type"].encode(), jsonio.encode(body))


def _stream(turn: Turn) -> Iterator[Json]:
    usage = turn.usage
    counted = {
        "input_tokens": usage.input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens or 0,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens or 0,
        "output_tokens": 1,
    }
    message: Json = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counted,
    }
    yield {"type": "message_start", "message": message}
    yield {"type": "ping"}
    for index, block in enumerate(turn.content):
        start, deltas = _block(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": turn.stop_reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": usage.output_tokens}}
    yield {"type": "message_stop"}


def _block(block: Block) -> tuple[Json, list[Json]]:
    match block:
        case Text():
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": one} for one in pieces(block.text)]
        case Thinking(encrypted=str() as data):
            return {"type": "redacted_thinking", "data": data}, []
        case Thinking():
            deltas: list[Json] = [{"type": "thinking_delta", "thinking": one} for one in pieces(block.text)]
            deltas.append({"type": "signature_delta", "signature": block.signature or ""})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case ToolUse():
            name, input = spelled_input(block)
            parts = ["", *pieces(input)]
            start = {"type": "tool_use", "id": block.id, "name": name, "input": {}}
            return start, [{"type": "input_json_delta", "partial_json": one} for one in parts]
        case _:
            raise ValueError(f"Anthropic streams no {type(block).__name__}")
