"""Homes with sessions in them, written row by row as the tools write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CLAUDE_ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
TORN_ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
CODEX_ID = "019b0c1e-1111-7abc-8def-0123456789ab"
DENIED_WORDS = "keep the table and archive it"
CONTROL = "\x1b[2Jtidy \u202eup"

_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)


def make_home(root: Path) -> dict[str, str]:
    """Two Claude Code sessions (one with a refusal, one torn) and a Codex rollout; the environment that finds them."""
    claude, codex = root / ".claude", root / ".codex"
    projects = claude / "projects" / "-srv-shop"
    _write(projects / f"{CLAUDE_ID}.jsonl", claude_rows(CLAUDE_ID))
    _write(projects / f"{TORN_ID}.jsonl", claude_rows(TORN_ID, day=2), tail=b'{"type":"user","mess')
    day = codex / "sessions" / "2026" / "05" / "03"
    _write(day / f"rollout-2026-05-03T08-00-00-{CODEX_ID}.jsonl", codex_rows())
    return {
        "HOME": str(root),
        "CLAUDE_CONFIG_DIR": str(claude),
        "CODEX_HOME": str(codex),
        "HANDRAIL_HOME": str(root / ".handrail"),
    }


def empty_home(root: Path) -> dict[str, str]:
    """The environment of a machine on which no agent ever ran."""
    return {
        "HOME": str(root),
        "CLAUDE_CONFIG_DIR": str(root / ".claude"),
        "CODEX_HOME": str(root / ".codex"),
        "HANDRAIL_HOME": str(root / ".handrail"),
    }


def claude_rows(session: str, day: int = 1) -> list[dict[str, Any]]:
    """A task, a call that is refused with words, another that runs, an end: six messages, three responses."""
    rows = [
        {"type": "ai-title", "aiTitle": CONTROL, "sessionId": session},
        _claude(session, day, 0, "user", CONTROL, permissionMode="default"),
        _claude(session, day, 1, "assistant", [_text("I will drop it."), _use("toolu_01", "drop table old")]),
        _claude(session, day, 2, "user", [_result("toolu_01", _REJECTED + DENIED_WORDS, is_error=True)]),
        _claude(session, day, 3, "assistant", [_text("Archiving instead."), _use("toolu_02", "archive old")]),
        _claude(session, day, 4, "user", [_result("toolu_02", "done")]),
        _claude(session, day, 5, "assistant", [_text("Archived.")]),
    ]
    for row in rows[3:4]:
        row["toolUseResult"] = "User rejected tool use"
    return rows


def codex_rows() -> list[dict[str, Any]]:
    """A task and an answer."""
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "count the files"}]}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Seven."}]}
    meta = {"id": CODEX_ID, "timestamp": "2026-05-03T08:00:00.000Z", "cwd": "/srv/bank", "cli_version": "0.118.0"}
    return [
        _codex(0, "session_meta", meta | {"originator": "codex_cli_rs", "source": "cli"}),
        _codex(1, "event_msg", {"type": "task_started", "turn_id": "t1"}),
        _codex(1, "response_item", message),
        _codex(1, "event_msg", {"type": "user_message", "message": "count the files", "images": []}),
        _codex(2, "event_msg", {"type": "agent_message", "message": "Seven."}),
        _codex(2, "response_item", answer),
        _codex(3, "event_msg", {"type": "task_complete", "turn_id": "t1", "last_agent_message": "Seven."}),
    ]


def _claude(session: str, day: int, minute: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        id = f"msg_{session[:8]}_{minute}"
        message |= {"id": id, "type": "message", "model": "claude-opus-4-5", "stop_reason": "end_turn"}
    return {
        "parentUuid": None if minute == 0 else f"{session[:8]}-row-{minute - 1}",
        "isSidechain": False,
        "userType": "external",
        "cwd": "/srv/shop",
        "sessionId": session,
        "version": "2.1.0",
        "gitBranch": "main",
        "type": role,
        "message": message,
        "uuid": f"{session[:8]}-row-{minute}",
        "timestamp": f"2026-05-0{day}T08:0{minute}:00.000Z",
        **more,
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _use(id: str, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}


def _result(id: str, content: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}


def _codex(minute: int, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": f"2026-05-03T08:0{minute}:00.000Z", "type": kind, "payload": payload}


def _write(path: Path, rows: Sequence[dict[str, Any]], tail: bytes = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows)
    path.write_bytes(b"".join(lines) + tail)
