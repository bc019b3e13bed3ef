"""Conversations for tests, message by message."""

from __future__ import annotations

from handrail.transcripts.model import Author, Bash, Message, Text, ToolResult, ToolUse


def prompt(text: str) -> Message:
    """A person's turn; its uid is its text."""
    return Message(role="user", content=(Text(text, Author.PERSON),), uid=text)


def reply(text: str) -> Message:
    """A turn in which the model only speaks."""
    return Message(role="assistant", content=(Text(text, Author.MODEL),), uid=text)


def call(*ids: str) -> Message:
    """A response that makes one call an id."""
    uses = tuple(ToolUse(id, Bash(f"echo {id}")) for id in ids)
    return Message(role="assistant", content=uses, uid=f"call {' '.join(ids)}")


def results(*ids: str, size: int = 4) -> Message:
    """The delivery of the results of those calls, each of about ``size`` bytes."""
    given = tuple(ToolResult(id, f"{id} {'.' * size}") for id in ids)
    return Message(role="user", content=given, uid=f"results {' '.join(ids)}")


def rounds(count: int, size: int = 4) -> list[Message]:
    """A prompt, then ``count`` calls with their results."""
    messages = [prompt("do it")]
    for at in range(count):
        messages += [call(f"c{at}"), results(f"c{at}", size=size)]
    return messages


def said(messages: tuple[Message, ...]) -> list[str]:
    """The uid of each message, or its words where it has none."""
    return [
        message.uid or " ".join(block.text for block in message.content if isinstance(block, Text))
        for message in messages
    ]
