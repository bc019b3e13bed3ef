"""Running one call in a test."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from handrail.agents.execution import execute
from handrail.agents.tool import Tool, ToolContext, ToolOutput
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Json, ToolUse

Value = TypeVar("Value")


def run(work: Coroutine[Any, Any, Value]) -> Value:
    """The value of ``work`` in a loop of its own."""
    return asyncio.run(work)


def context(root: Path = Path("/"), **changes: Any) -> ToolContext:
    """The context of a call ``call_1``."""
    return replace(ToolContext(call_id="call_1", workspace_root=root), **changes)


async def called(tool: Tool, input: Json, given: ToolContext) -> ToolOutput:
    """The output of one call of ``tool``, walls and all."""
    return await execute(ToolUse(given.call_id, parse_call(tool.name, input)), tool, given)


def output(tool: Tool, root: Path = Path("/"), **input: Json) -> ToolOutput:
    """The output of one call of ``tool`` in ``root``."""
    return run(called(tool, input, context(root)))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z" if Path("/proc").exists() else True


def is_gone(pid: int) -> bool:
    """Whether ``pid`` has ended, allowing the kernel a moment to carry out the kill."""
    deadline = time.monotonic() + 10
    while _is_running(pid) and time.monotonic() < deadline:
        os.sched_yield()
    return not _is_running(pid)
