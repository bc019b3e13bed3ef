"""OpenAI's Responses API as it streams.

Written from the published reference: "Streaming events", "The response object" and "Reasoning models" (encrypted
reasoning items) in OpenAI's API documentation, as of 2026.
"""

from __future__ import annotations

from collections.abc import Iterator

from handrail import jsonio
from handrail.testing.wire import openai_chat
from handrail.testing.wire.server import Played
from handrail.testing.wire.turns import Fault, Turn, pieces, spelled_input
from handrail.transcripts.model import Block, Json, Text, Thinking, ToolUse

MODEL = "gpt-5.4"


def spell(turn: Turn) -> Played:
    """``turn`` as a response to ``POST /responses`` with ``stream``."""
    if turn.fault is not None and (played := openai_chat.error(turn.fault)) is not None:
        return played
    bodies = [{**body, "sequence_number": number} for number, body in enumerate(_stream(turn))]
    chunks = tuple(map(_event, bodies))
    half = chunks[: len(chunks) // 2]
    if turn.fault in (Fault.CUT, Fault.UNFINISHED):
        return Played(chunks=half, is_cut=turn.fault is Fault.CUT)
    if turn.fault is Fault.OVERLOADED_MID_WAY:
        error = {"code": "server_is_overloaded", "message": "Our servers are currently overloaded."}
        failed = {"type": "response.failed", "sequence_number": 99, "response": _response(turn, "failed", error=error)}
        return Played(chunks=(*half, _event(failed)))
    if turn.hangs:
        return Played(chunks=half, hangs=True)
    return Played(chunks=chunks)


def _event(body: Json) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (body["type"].encode(), jsonio.encode(body))


def _stream(turn: Turn) -> Iterator[dict[str, Json]]:
    yield {"type": "response.created", "response": _response(turn, "in_progress")}
    yield {"type": "response.in_progress", "response": _response(turn, "in_progress")}
    output: list[Json] = []
    for index, block in enumerate(turn.content):
        start, done = _item(turn, index, block, is_done=False), _item(turn, index, block, is_done=True)
        output.append(done)
        yield {"type": "response.output_item.added", "output_index": index, "item": start}
        for body in _inside(turn, block, done):
            yield {**body, "output_index": index, "item_id": done["id"]}
        yield {"type": "response.output_item.done", "output_index": index, "item": done}
    if turn.stop_reason == "max_tokens":
        ending = _response(turn, "incomplete", output=output, incomplete_details={"reason": "max_output_tokens"})
        yield {"type": "response.incomplete", "response": ending}
    else:
        yield {"type": "response.completed", "response": _response(turn, "completed", output=output)}


def _inside(turn: Turn, block: Block, item: Json) -> Iterator[dict[str, Json]]:
    match block:
        case Text():
            kind = "refusal" if turn.stop_reason == "refusal" else "output_text"
            field = "refusal" if kind == "refusal" else "text"
            empty = {"type": kind, field: "", **({} if kind == "refusal" else {"annotations": []})}
            yield {"type": "response.content_part.added", "content_index": 0, "part": empty}
            for piece in pieces(block.text):
                yield {"type": f"response.{kind}.delta", "content_index": 0, "delta": piece, "logprobs": []}
            yield {"type": f"response.{kind}.done", "content_index": 0, field: block.text, "logprobs": []}
            yield {"type": "response.content_part.done", "content_index": 0, "part": item["content"][0]}
        case Thinking() if block.text:
            part = {"type": "summary_text", "text": ""}
            yield {"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": part}
            for piece in pieces(block.text):
                yield {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": piece}
            yield {"type": "response.reasoning_summary_text.done", "summary_index": 0, "text": block.text}
            whole = {"type": "summary_text", "text": block.text}
            yield {"type": "response.reasoning_summary_part.done", "summary_index": 0, "part": whole}
        case ToolUse():
            _, input = spelled_input(block)
            for piece in pieces(input):
                yield {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {"type": "response.function_call_arguments.done", "arguments": input, "name": item["name"]}


def _item(turn: Turn, index: int, block: Block, *, is_done: bool) -> dict[str, Json]:
    status = "completed" if is_done else "in_progress"
    match block:
        case Text():
            if turn.stop_reason == "refusal":
                part: Json = {"type": "refusal", "refusal": block.text}
            else:
                part = {"type": "output_text", "text": block.text, "annotations": [], "logprobs": []}
            content = [part] if is_done else []
            head = {"id": f"msg_{index}", "type": "message", "role": "assistant"}
            return {**head, "status": status, "content": content}
        case Thinking():
            summary = [{"type": "summary_text", "text": block.text}] if block.text and is_done else []
            encrypted = block.encrypted if is_done else ""
            return {"id": f"rs_{index}", "type": "reasoning", "summary": summary, "encrypted_content": encrypted}
        case ToolUse():
            name, input = spelled_input(block)
            head = {"id": f"fc_{index}", "type": "function_call", "call_id": block.id, "name": name}
            return {**head, "status": status, "arguments": input if is_done else ""}
        case _:
            raise ValueError(f"OpenAI streams no {type(block).__name__}")


def _response(turn: Turn, status: str, **more: Json) -> Json:
    usage = turn.usage
    cached = usage.cache_read_input_tokens or 0
    counted = {
        "input_tokens": usage.input_tokens + cached,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": usage.input_tokens + cached + usage.output_tokens,
    }
    head = {"id": "resp_1", "object": "response", "created_at": 1767603600, "model": MODEL, "status": status}
    rest: dict[str, Json] = {
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "output": [],
    }
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "temperature": 1.0, "top_p": 1.0}
    return {**head, **rest, **settings, "usage": None if status == "in_progress" else counted, **more}
