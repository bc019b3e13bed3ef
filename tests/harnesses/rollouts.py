"""Small rollouts made up line by line, for tests of one rule each."""

from __future__ import annotations

import json
from typing import Any

from handrail.harnesses.codex import HARNESS
from handrail.transcripts.model import Block, Common, Message, Transcript

CODEC = HARNESS.codec
START = "2026-01-05T09:00:00.000Z"


def row(kind: str, payload: dict[str, Any], at: str = START) -> dict[str, Any]:
    return {"timestamp": at, "type": kind, "payload": payload}


def item(kind: str, /, **fields: Any) -> dict[str, Any]:
    return row("response_item", {"type": kind, **fields})


def event(kind: str, /, **fields: Any) -> dict[str, Any]:
    return row("event_msg", {"type": kind, **fields})


def meta(**fields: Any) -> dict[str, Any]:
    return row("session_meta", {"id": "s-1", "cwd": "/srv", "source": "cli", **fields})


def user(*texts: str) -> dict[str, Any]:
    return item("message", role="user", content=[{"type": "input_text", "text": text} for text in texts])


def typed(text: str) -> list[dict[str, Any]]:
    """A text that was submitted as a prompt: the item and its event."""
    return [user(text), event("user_message", message=text)]


def said(text: str) -> dict[str, Any]:
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}])


def call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return item("function_call", call_id=call_id, name=name, arguments=json.dumps(arguments))


def shell(call_id: str, command: str = "ls") -> dict[str, Any]:
    return call(call_id, "exec_command", {"cmd": command})


def output(call_id: str, text: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=text)


def tokens(total: int, last: int) -> dict[str, Any]:
    def usage(count: int) -> dict[str, int]:
        return {"input_tokens": count, "output_tokens": count // 10, "cached_input_tokens": 0}

    return event("token_count", info={"total_token_usage": usage(total), "last_token_usage": usage(last)})


def turn(number: int) -> dict[str, Any]:
    return event("task_started", turn_id=f"t-{number}")


def done(number: int) -> dict[str, Any]:
    return event("task_complete", turn_id=f"t-{number}")


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in rows)


def read(*rows: dict[str, Any]) -> Transcript[Common]:
    return CODEC.to_common(CODEC.parse(lines(*rows)))


def blocks(*rows: dict[str, Any]) -> list[Block]:
    return [block for message in read(*rows).body for block in message.content]


def outline(session: Transcript[Common]) -> list[str]:
    """A word for each block, messages apart: ``user:text``, ``assistant:thinking+tool_use``."""
    return [_outlined(message) for message in session.body]


def _outlined(message: Message) -> str:
    tags = (str(type(block).__struct_config__.tag) for block in message.content)
    return f"{message.role}:{'+'.join(tags)}"
