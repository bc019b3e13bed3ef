"""Rollouts as Codex wrote them before the envelope: the header, items with nothing round them, marks of batches."""

from __future__ import annotations

import json
from typing import Any

ID = "7b332612-1b8e-424b-bbb4-a239a64377fb"
TIME = "2025-08-27T16:17:00.964Z"
STATE: dict[str, Any] = {"record_type": "state"}

Row = dict[str, Any]


def header(**fields: Any) -> Row:
    git = {"commit_hash": "99a1948543c4", "branch": "main", "repository_url": "git@example.org:shop.git"}
    return {"id": ID, "timestamp": TIME, "instructions": None, "git": git, **fields}


def user(text: str) -> Row:
    return {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": text}]}


def environment(folder: str = "/srv/shop") -> Row:
    """The note on the environment, as it was spelled first."""
    lines = f"Current working directory: {folder}\nApproval policy: on-request\nSandbox mode: workspace-write\n"
    return user(f"<environment_context>\n{lines}Network access: restricted\n</environment_context>")


def said(text: str) -> Row:
    return {"type": "message", "id": None, "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def thought(name: str) -> Row:
    summary = [{"type": "summary_text", "text": "hm"}]
    return {"type": "reasoning", "id": name, "summary": summary, "content": None, "encrypted_content": "AAA"}


def shell(name: str, command: str = "ls") -> Row:
    arguments = json.dumps({"command": ["bash", "-lc", command], "workdir": "/srv/shop", "timeout_ms": 9000})
    return {"type": "function_call", "id": f"fc_{name}", "name": "shell", "arguments": arguments, "call_id": name}


def output(name: str, text: str = "ok", code: int = 0) -> Row:
    told = json.dumps({"output": text, "metadata": {"exit_code": code, "duration_seconds": 0.1}}, separators=(",", ":"))
    return {"type": "function_call_output", "call_id": name, "output": told}


def refused(name: str) -> Row:
    return {"type": "function_call_output", "call_id": name, "output": "exec command rejected by user"}


def line(row: Row) -> bytes:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def lines(*rows: Row) -> bytes:
    return b"".join(map(line, rows))


ROWS: tuple[Row, ...] = (
    header(instructions="Be brief."),
    STATE,
    user("<user_instructions>\n\nBe brief.\n\n</user_instructions>"),
    environment(),
    STATE,
    user("tidy the shop"),
    STATE,
    thought("rs_1"),
    said("I look around."),
    shell("call_1"),
    output("call_1", "attic\ncellar"),
    STATE,
    shell("call_2", "rm -rf cellar"),
    refused("call_2"),
    STATE,
    user("no, keep the cellar"),
    STATE,
    shell("call_3", "sweep"),
    output("call_3", "no broom", 1),
    STATE,
    said("Without a broom I cannot sweep."),
    STATE,
    user("continue"),
    STATE,
    said("There is still no broom."),
    STATE,
    user("continue"),
    STATE,
    said("Done."),
)
"""A session of two weeks in August 2025: instructions, a prompt, calls, a refusal, follow-ups."""

SESSION = lines(*ROWS)

OLDER = lines(
    {"id": ID, "timestamp": TIME},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "what is here?"}]},
    shell("call_1"),
    output("call_1"),
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A shop."}]},
)
"""A session of May 2025: nothing of the harness's own, no marks, no thoughts."""
