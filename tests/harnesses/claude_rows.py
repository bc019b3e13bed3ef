"""Rows of made-up Claude Code sessions, as its files spell them."""

from __future__ import annotations

import json
from typing import Any

from handrail.harnesses.claude_code import HARNESS
from handrail.transcripts.codec import Branch
from handrail.transcripts.model import Common, Text, Transcript

CODEC = HARNESS.codec
SESSION = "5e55104e-0000-4000-8000-000000000001"
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file)."
)


class Rows:
    """A chain of rows; each follows the one before unless ``parent`` says otherwise."""

    def __init__(self, version: str = "2.1.200") -> None:
        self.version = version
        self.rows: list[dict[str, Any]] = []
        self.last: str | None = None
        self.count = 0

    def row(self, kind: str, *, parent: str | None = "", uuid: str | None = None, **fields: Any) -> str:
        """Append a row with an id and return the id."""
        self.count += 1
        uuid = uuid or f"u{self.count}"
        row = {"parentUuid": self.last if parent == "" else parent, "isSidechain": False, "sessionId": SESSION}
        row |= {"version": self.version, "cwd": "/w", "type": kind, "uuid": uuid}
        row["timestamp"] = f"2026-03-01T10:00:{self.count % 60:02}.000Z"
        self.rows.append(row | fields)
        self.last = uuid
        return uuid

    def bare(self, **fields: Any) -> None:
        """Append a row without an id."""
        self.rows.append(fields)

    def prompt(self, content: Any, **fields: Any) -> str:
        """What a person submitted."""
        return self.user(content, **{"permissionMode": "default", **fields})

    def user(self, content: Any, **fields: Any) -> str:
        """A user row without any proof."""
        return self.row("user", message={"role": "user", "content": content}, **fields)

    def says(self, *blocks: dict[str, Any] | str, id: str | None = None, **fields: Any) -> str:
        """A row of a response; ``id`` is the response's."""
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        envelope = {"id": id or f"msg{self.count}", "role": "assistant", "model": "m", "content": content}
        message = envelope | {key: fields.pop(key) for key in ("usage", "stop_reason") if key in fields}
        return self.row("assistant", message=message, **fields)

    def result(self, call: str, content: Any = "ok", *, error: bool = False, **fields: Any) -> str:
        """The result of a call."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.user([block | ({"is_error": True} if error else {})], **fields)

    def data(self) -> bytes:
        """The file."""
        return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in self.rows)

    def session(self) -> Transcript[Common]:
        """The live line."""
        return CODEC.to_common(CODEC.parse(self.data()))

    def body(self) -> Common:
        """The messages of the live line."""
        return self.session().body

    def branches(self) -> tuple[Branch, ...]:
        """The other lines."""
        return CODEC.branches(CODEC.parse(self.data()))


def call(id: str, name: str = "Bash", **input: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": input or {"command": "ls"}}


def texts(body: Common) -> list[str]:
    """All texts in order."""
    return [block.text for message in body for block in message.content if type(block) is Text]


def speakers(body: Common) -> list[tuple[str, str]]:
    """``(author, text)`` of all texts in user messages."""
    return [
        (block.author.value, block.text)
        for message in body
        if message.role == "user"
        for block in message.content
        if type(block) is Text
    ]
