"""Tiny canonical bodies, written as one letter a message."""

from __future__ import annotations

from handrail.transcripts.model import Author, Bash, Block, Common, Message, Meta, Text, ToolResult, ToolUse, Transcript


def call(*ids: str) -> Message:
    """A model's message that asks for one call per id."""
    return Message(role="assistant", content=tuple(ToolUse(name, Bash("ls")) for name in ids))


def result(*ids: str) -> Message:
    """A delivery of one result per id."""
    return Message(role="user", content=tuple(ToolResult(name, "ok") for name in ids))


def user(words: str = "go on") -> Message:
    """A prompt."""
    return Message(role="user", content=(Text(words, Author.PERSON),))


def model(words: str = "done") -> Message:
    """A model's answer without calls."""
    return Message(role="assistant", content=(Text(words, Author.MODEL),))


def mixed(role: str, *content: Block) -> Message:
    """A message of these blocks."""
    return Message(role="user" if role == "user" else "assistant", content=content)


def session(*body: Message) -> Transcript[Common]:
    """A session with metadata worth keeping."""
    return Transcript(Meta(id="s1", title="A title", cwd="/srv/orchard"), body)
