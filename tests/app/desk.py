"""A machine with one harness, whose sessions are made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from handrail.app import Machine
from handrail.transcripts.model import (
    Author,
    Bash,
    Block,
    Message,
    Meta,
    Refusal,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
    Via,
)
from tests.contracts.echo import EchoCodec, EchoStore, info

START = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)


def person(text: str, via: Via = Via.PROMPT) -> Text:
    return Text(text, Author.PERSON, via=via)


def model(text: str) -> Text:
    return Text(text, Author.MODEL)


def call(id: str, command: str = "ls") -> ToolUse:
    return ToolUse(id, Bash(command))


def denied(id: str, words: str | None = None) -> ToolResult:
    return ToolResult(id, "", is_error=True, refusal=Refusal(RefusalKind.DENIED, by="person", reason=words))


def talk(*contents: Sequence[Block]) -> tuple[Message, ...]:
    """Messages a minute apart; one whose first block is a person's words or a result is the user's."""
    return tuple(
        Message(
            role="user" if _is_delivery(content[0]) else "assistant",
            content=tuple(content),
            uid=f"m{index}",
            timestamp=START + timedelta(minutes=index),
        )
        for index, content in enumerate(contents)
    )


def _is_delivery(block: Block) -> bool:
    return isinstance(block, ToolResult) or (isinstance(block, Text) and block.author is Author.PERSON)


def session(
    id: str, body: tuple[Message, ...], *, cwd: str = "/srv/shop", day: int = 1
) -> Transcript[tuple[Message, ...]]:
    started = datetime(2026, 5, day, 8, tzinfo=UTC)
    return Transcript(Meta(id=id, timestamp=started, cwd=cwd, title=f"About {id}", harness="echo"), body)


def put(root: Path, *sessions: Transcript[tuple[Message, ...]]) -> Machine:
    """A machine whose only store holds ``sessions``."""
    store = EchoStore(root)
    codec = EchoCodec()
    for item in sessions:
        store.save(codec.from_common(item))
    return Machine({"echo": info(codec)}, {"echo": store})


DENIAL = talk(
    [person("tidy the shop")],
    [model("I will delete the old table."), call("c1", "drop")],
    [denied("c1", "keep the table, archive it")],
    [model("Understood, archiving instead."), call("c2", "archive")],
    [ToolResult("c2", "done")],
    [model("Archived.")],
)
"""Six messages, three of them responses, one refusal with words in message 3."""
