"""OpenAI's Chat Completions API as it streams, and what compatible servers put beside it.

Written from the published reference: "The chat completion chunk object" and "Error codes" in OpenAI's API
documentation, as of 2026. ``reasoning_content`` is no part of it: DeepSeek, vLLM and llama.cpp publish it.
"""

from __future__ import annotations

from collections.abc import Iterator

from handrail import jsonio
from handrail.testing.wire.server import Played, failure
from handrail.testing.wire.turns import RETRY_AFTER_S, Fault, Turn, pieces, spelled_input
from handrail.transcripts.model import Json, Text, Thinking, ToolUse

MODEL = "some-local-model"

_FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}


def error(fault: Fault) -> Played | None:
    """The response to a request that fails before it is answered; both APIs of OpenAI share it."""
    match fault:
        case Fault.OVERLOADED:
            return _error(503, "The engine is currently overloaded, please try again later", "server_error")
        case Fault.SERVER_ERROR:
            return _error(500, "The server had an error while processing your request", "server_error")
        case Fault.RATE_LIMITED:
            named = {"retry_after": f"{RETRY_AFTER_S:g}"}
            return _error(429, "Rate limit reached", "requests", "rate_limit_exceeded", **named)
        case Fault.BAD_KEY:
            return _error(401, "Incorrect API key provided", "invalid_request_error", "invalid_api_key")
        case Fault.QUOTA_SPENT:
            return _error(429, "You exceeded your current quota", "insufficient_quota", "insufficient_quota")
        case Fault.BAD_REQUEST:
            return _error(400, "Unsupported value", "invalid_request_error", "unsupported_value")
        case Fault.CONTEXT_TOO_LONG:
            text = "This model's maximum context length is 8192 tokens."
            return _error(400, text, "invalid_request_error", "context_length_exceeded")
        case Fault.MALFORMED:
            return Played(chunks=(b"data: {not json\n\n",))
        case _:
            return None


def spell(turn: Turn) -> Played:
    """``turn`` as a response to ``POST /chat/completions`` with ``stream``."""
    if turn.fault is not None and (played := error(turn.fault)) is not None:
        return played
    chunks = tuple(b"data: %b\n\n" % jsonio.encode(body) for body in _stream(turn))
    half = chunks[: len(chunks) // 2]
    if turn.fault in (Fault.CUT, Fault.UNFINISHED):
        return Played(chunks=half, is_cut=turn.fault is Fault.CUT)
    if turn.fault is Fault.OVERLOADED_MID_WAY:
        body = {"error": {"message": "The server is overloaded", "type": "server_error", "code": "overloaded"}}
        return Played(chunks=(*half, b"data: %b\n\n" % jsonio.encode(body)))
    if turn.hangs:
        return Played(chunks=half, hangs=True)
    return Played(chunks=(*chunks, b"data: [DONE]\n\n"))


def _error(status: int, message: str, kind: str, code: str | None = None, **headers: str) -> Played:
    return failure(status, {"error": {"message": message, "type": kind, "param": None, "code": code}}, **headers)


def _stream(turn: Turn) -> Iterator[Json]:
    yield _chunk({"role": "assistant", "content": ""})
    calls = 0
    for block in turn.content:
        match block:
            case Text():
                field = "refusal" if turn.stop_reason == "refusal" else "content"
                for piece in pieces(block.text):
                    yield _chunk({field: piece})
            case Thinking():
                for piece in pieces(block.text):
                    yield _chunk({"reasoning_content": piece})
            case ToolUse():
                name, input = spelled_input(block)
                start = {"id": block.id, "type": "function", "function": {"name": name, "arguments": ""}}
                yield _chunk({"tool_calls": [{"index": calls, **start}]})
                for piece in pieces(input):
                    yield _chunk({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]})
                calls += 1
            case _:
                raise ValueError(f"OpenAI streams no {type(block).__name__}")
    yield _chunk({}, _FINISH[turn.stop_reason])
    usage = turn.usage
    cached = usage.cache_read_input_tokens or 0
    counted = {
        "prompt_tokens": usage.input_tokens + cached,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + cached + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }
    yield {**_chunk({}), "choices": [], "usage": counted}


def _chunk(delta: Json, finish: str | None = None) -> dict[str, Json]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1767603600, "model": MODEL}
    return {**head, "choices": [choice]}
