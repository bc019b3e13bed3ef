"""Google's Gemini API as it streams.

Written from the published reference: "streamGenerateContent", "Thought signatures" and "Troubleshooting" (error
codes) in the Gemini API documentation, as of 2026. A call is never split over chunks here.
"""

from __future__ import annotations

from collections.abc import Iterator

from handrail import jsonio
from handrail.testing.wire.server import Played, failure
from handrail.testing.wire.turns import RETRY_AFTER_S, Fault, Turn, pieces
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Json, Text, Thinking, ToolUse

MODEL = "gemini-3-pro-preview"

_FINISH = {"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}


def spell(turn: Turn) -> Played:
    """``turn`` as a response to ``POST …:streamGenerateContent?alt=sse``."""
    match turn.fault:
        case Fault.OVERLOADED:
            return _error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
        case Fault.SERVER_ERROR:
            return _error(500, "INTERNAL", "An internal error has occurred.")
        case Fault.RATE_LIMITED:
            info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{RETRY_AFTER_S:g}s"}
            return _error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted.", info)
        case Fault.BAD_KEY:
            return _error(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.")
        case Fault.BAD_REQUEST:
            return _error(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
        case Fault.CONTEXT_TOO_LONG:
            text = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
            return _error(400, "INVALID_ARGUMENT", text)
        case Fault.MALFORMED:
            return Played(chunks=(b"data: {not json\n\n",))
        case Fault.QUOTA_SPENT | Fault.OVERLOADED_MID_WAY:
            raise ValueError(f"Google's published format has no {turn.fault}")
    chunks = tuple(b"data: %b\r\n\r\n" % jsonio.encode(body) for body in _stream(turn))
    half = chunks[: len(chunks) // 2]
    if turn.fault in (Fault.CUT, Fault.UNFINISHED):
        return Played(chunks=half, is_cut=turn.fault is Fault.CUT)
    return Played(chunks=half, hangs=True) if turn.hangs else Played(chunks=chunks)


def _error(status: int, name: str, message: str, *details: Json) -> Played:
    body = {"error": {"code": status, "message": message, "status": name, "details": list(details)}}
    return failure(status, body)


def _stream(turn: Turn) -> Iterator[Json]:
    for block in turn.content:
        match block:
            case Text():
                for piece in pieces(block.text):
                    yield _chunk(turn, [{"text": piece}])
            case Thinking():
                for piece in pieces(block.text):
                    yield _chunk(turn, [{"text": piece, "thought": True}])
            case ToolUse():
                name, input = render_call(block.call)
                part: dict[str, Json] = {"functionCall": {"id": block.id, "name": name, "args": input}}
                if block.provider is not None:
                    part["thoughtSignature"] = block.provider
                yield _chunk(turn, [part])
            case _:
                raise ValueError(f"Google streams no {type(block).__name__}")
    yield _chunk(turn, [{"text": ""}], _FINISH[turn.stop_reason])


def _chunk(turn: Turn, parts: list[Json], finish: str | None = None) -> Json:
    usage = turn.usage
    cached = usage.cache_read_input_tokens or 0
    counted = {
        "promptTokenCount": usage.input_tokens + cached,
        "cachedContentTokenCount": cached,
        "candidatesTokenCount": usage.output_tokens,
        "totalTokenCount": usage.input_tokens + cached + usage.output_tokens,
    }
    candidate: dict[str, Json] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": counted, "modelVersion": MODEL, "responseId": "r1"}
