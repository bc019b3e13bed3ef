"""One isolated request to a model for one typed value: no history, no tools but the one whose input is the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.models.port import Model, ModelReply, ModelRequest, reply_to
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Author, Json, Message, Text, ToolUse
from handrail.transcripts.redact import redact

MAX_OUTPUT_TOKENS = 4096
"""Room for the answer and for models that reason before it, in tokens."""

Answer = TypeVar("Answer")


class AnswerTool(Struct, frozen=True, kw_only=True):
    """The one tool: its input is the answer."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


class Asked(Struct, frozen=True, kw_only=True):
    """One request as a value, so that it can be shown instead of sent."""

    instructions: str
    prompt: str
    tool: AnswerTool


async def answer_of(model: Model, asked: Asked, kind: type[Answer], *, run: str) -> tuple[Answer | None, ModelReply]:
    """The answer as ``kind``, None where the reply holds none, and the reply, for what it cost.

    Raises the ``ModelError`` of a model that cannot be reached. ``run`` names the request for models that play a part.
    """
    request = ModelRequest(
        messages=(Message(role="user", content=(Text(asked.prompt, Author.HOST),)),),
        instructions=asked.instructions,
        tools=(asked.tool,),
        tool_choice=asked.tool.name,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        run=run,
        replies=0,
    )
    reply = await reply_to(model, request)
    for candidate in _candidates(reply.message, asked.tool.name):
        try:
            return msgspec.convert(candidate, kind), reply
        except msgspec.ValidationError:
            continue
    return None, reply


def section(name: str, text: str) -> str:
    """A tagged part of a prompt, redacted. What could close the tag is taken apart, so the text cannot leave it."""
    return f"<{name}>\n{redact(text).text.replace('</', '< /')}\n</{name}>"


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a struct, whole in itself."""
    (schema,), parts = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}")
    name = schema["$ref"].rpartition("/")[2]
    root = dict(parts.pop(name))
    return {**root, "$defs": parts} if parts else root


def _candidates(message: Message, tool: str) -> Iterator[Json]:
    """What may be the answer: inputs of the tool first, then the first JSON object in the text."""
    for block in message.content:
        if type(block) is ToolUse:
            name, input = render_call(block.call)
            if name == tool:
                yield input
    text = "\n".join(block.text for block in message.content if type(block) is Text)
    found = first_object(text)
    if found is not None:
        yield found


def first_object(text: str) -> Json:
    """The first balanced JSON object in ``text``, whatever stands around it; None where there is none.

    Braces within strings do not count, and an object that is cut off is none.
    """
    start = text.find("{")
    while start >= 0:
        end = _end_of(text, start)
        if end is None:
            return None
        try:
            return jsonio.decode(text[start:end])
        except jsonio.NotJson:
            start = text.find("{", start + 1)
    return None


def _end_of(text: str, start: int) -> int | None:
    depth = 0
    is_quoted = is_escaped = False
    for index in range(start, len(text)):
        char = text[index]
        if is_quoted:
            is_quoted = is_escaped or char != '"'
            is_escaped = char == "\\" and not is_escaped
        elif char == '"':
            is_quoted = True
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if not depth:
                return index + 1
    return None
