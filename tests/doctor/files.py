"""Files row by row, what a medic says of them, and copies that are checked as every repair must be."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any, Literal

import handrail
from handrail.transcripts.model import Common
from handrail.transcripts.repair import (
    Bytes,
    Diagnosis,
    Finding,
    Medic,
    Remedy,
    Severity,
    Wishes,
    is_spliced,
    splice,
)

SESSION = "3f1c8a52-6f0e-4b7d-9a41-5d2be07c1001"
Row = dict[str, Any]


def turn(kind: str, uuid: str, parent: str | None, content: Any, *, minute: int = 0, **more: Any) -> Row:
    """A row of Claude Code; a prompt that is a text carries the proof that it was typed."""
    message: Row = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{uuid}", "model": "claude-sonnet-4-5", "stop_reason": "end_turn"}
    proof = {"permissionMode": "default", "promptSource": "typed"} if isinstance(content, str) else {}
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": kind,
        "message": message,
        "uuid": uuid,
        "timestamp": f"2026-05-01T08:{minute:02}:00.000Z",
        "sessionId": SESSION,
        "version": "2.1.217",
        "cwd": "/srv/shop",
        **proof,
        **more,
    }


def said(text: str) -> list[Row]:
    return [{"type": "text", "text": text}]


def call(id: str, command: str = "ls") -> Row:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}


def result(id: str, content: Any = "ok") -> Row:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def chain(length: int, start: int = 0, parent: str | None = None) -> list[Row]:
    """``length`` prompts and answers in turn, each the child of the one before: ``u0, u1, …``."""
    rows = []
    for number in range(start, start + length):
        kind = "assistant" if number % 2 else "user"
        content: Any = said(f"answer {number}") if number % 2 else f"prompt {number}"
        rows.append(turn(kind, f"u{number}", parent, content, minute=number % 60))
        parent = f"u{number}"
    return rows


def codex(kind: str, payload: Row, minute: int = 0) -> Row:
    return {"timestamp": f"2026-05-03T08:{minute:02}:00.000Z", "type": kind, "payload": payload}


def header() -> Row:
    meta = {"id": SESSION, "timestamp": "2026-05-03T08:00:00.000Z", "cwd": "/srv/bank", "cli_version": "0.142.4"}
    return codex("session_meta", {**meta, "source": "cli", "originator": "codex-tui"})


def prompted(text: str, minute: int = 1) -> list[Row]:
    """A typed prompt: the item and its event."""
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return [codex("response_item", item, minute), codex("event_msg", {"type": "user_message", "message": text}, minute)]


def replied(text: str, minute: int = 2) -> list[Row]:
    """An answer: the event and the item."""
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    event = {"type": "agent_message", "message": text}
    return [codex("event_msg", event, minute), codex("response_item", item, minute)]


def ran(id: str, output: str | None = "ok", minute: int = 3) -> list[Row]:
    """A call and, where there is one, its output."""
    made = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"ls"}', "call_id": id}
    rows = [codex("response_item", made, minute)]
    if output is not None:
        answer = {"type": "function_call_output", "call_id": id, "output": output}
        rows.append(codex("response_item", answer, minute))
    return rows


def lines(rows: Sequence[Row]) -> bytes:
    return b"".join(line(row) for row in rows)


def line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def png(width: int, height: int, size: int = 24) -> str:
    """The base64 text of something that has the head of a PNG, ``size`` bytes in all."""
    head = b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return base64.b64encode(head.ljust(size, b"\x01")).decode()


def medic(harness: str) -> Medic:
    found = handrail.harness(harness).medic
    assert found is not None
    return found


def look(data: bytes, harness: str = "claude_code", chunk: int = 1 << 16) -> Diagnosis:
    """The diagnosis of ``data`` as a stream of chunks."""
    return medic(harness).diagnose(data[at : at + chunk] for at in range(0, len(data), chunk))


def codes(data: bytes, harness: str = "claude_code", severity: Severity = Severity.DAMAGE) -> set[str]:
    """The codes of what is found of that severity."""
    return {finding.code for finding in look(data, harness).findings if finding.severity is severity}


def the(code: str, data: bytes, harness: str = "claude_code") -> Finding:
    """The one finding of that code."""
    (found,) = [finding for finding in look(data, harness).findings if finding.code == code]
    return found


def mend(
    data: bytes,
    harness: str = "claude_code",
    *,
    branch: str | None = None,
    images: Literal["placeholder"] | None = None,
) -> bytes:
    """The repaired copy, held to all that a repair promises: no damage left, only named bytes changed, idempotent."""
    wishes = Wishes(branch=branch, images=images)
    source = Bytes(data)
    edits = medic(harness).edits(source, wishes)
    copy = b"".join(splice(source.chunks(), edits))
    assert is_spliced(source, Bytes(copy), edits)
    left = [finding for finding in look(copy, harness).findings if finding.severity is not Severity.NOTE]
    assert [finding for finding in left if images is not None or finding.remedy is not Remedy.IMAGES] == []
    assert medic(harness).edits(Bytes(copy), Wishes(images=images)) == ()
    return copy


def body(data: bytes, harness: str = "claude_code") -> Common:
    """The live line as the reader has it."""
    codec = handrail.harness(harness).codec
    return codec.to_common(codec.parse(data)).body


def texts(data: bytes, harness: str = "claude_code") -> list[str]:
    """The texts of the live line in order."""
    return [
        text for message in body(data, harness) for block in message.content if (text := getattr(block, "text", ""))
    ]
