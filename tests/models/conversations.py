"""Small requests and a run that is driven by hand."""

from __future__ import annotations

from collections.abc import Sequence

from handrail.models.port import Model, ModelReply, ModelRequest, reply_to
from handrail.transcripts.model import Author, Block, Message, Text, ToolResult, ToolUse, Via


def said(*texts: str) -> Message:
    """What a person put in."""
    return Message(role="user", content=tuple(Text(text, Author.PERSON, via=Via.PROMPT) for text in texts))


def delivered(*blocks: Block) -> Message:
    return Message(role="user", content=blocks)


def asked(*messages: Message, run: str | None = None, replies: int | None = None) -> ModelRequest:
    return ModelRequest(messages=messages, run=run, replies=replies)


async def driven(
    model: Model, prompt: str, *, run: str | None = None, before: Sequence[Message] = ()
) -> tuple[Message, ...]:
    """The messages of one run: asked until a reply calls nothing, every call answered with its own id."""
    messages = [*before, said(prompt)]
    replies = 0
    while True:
        reply = await _asked(model, messages, run, replies)
        messages.append(reply.message)
        replies += 1
        calls = [block for block in reply.message.content if type(block) is ToolUse]
        if not calls:
            return tuple(messages)
        messages.append(delivered(*(ToolResult(call.id, f"result of {call.id}") for call in calls)))


async def _asked(model: Model, messages: Sequence[Message], run: str | None, replies: int) -> ModelReply:
    return await reply_to(model, ModelRequest(messages=tuple(messages), run=run, replies=replies))


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.content if type(block) is Text)


def call_ids(messages: Sequence[Message]) -> list[str]:
    return [block.id for message in messages for block in message.content if type(block) is ToolUse]
