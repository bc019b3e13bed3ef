"""How calls ended, told by the event log: the second copy of a result, sometimes the only one, often the richer.

``exec_command_end`` holds the whole output and the exit code, where the item holds what the model was shown of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import msgspec

from handrail.harnesses.codex.drafts import Draft
from handrail.harnesses.codex.event_kinds import CommandEnd, McpEnd, PatchEnd
from handrail.harnesses.codex.item_kinds import CustomToolOutput, FunctionOutput, ToolSearchOutput
from handrail.harnesses.codex.wire import Row
from handrail.transcripts.model import Block, Json, Refusal, RefusalKind, ToolResult

_OUTPUTS = frozenset({FunctionOutput, CustomToolOutput, ToolSearchOutput})
_payload_of = attrgetter("payload")

AnyEnd: TypeAlias = CommandEnd | PatchEnd | McpEnd


class End(NamedTuple):
    """What an event says of a call. ``content`` is None where the event holds no output of its own.

    ``is_richer``: its output stands in place of the item's.
    """

    content: Json
    is_error: bool
    refusal: Refusal | None
    is_richer: bool


class Ends:
    """The ends of one file's calls, joined with their results when all rows are read."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self._items: set[str | None] | None = None
        self._ends: dict[str, End] = {}

    def has_item(self, call_id: str) -> bool:
        """Whether the item log has a result for the call."""
        if self._items is None:
            payloads: Iterator[Any] = map(_payload_of, self._rows)
            self._items = {payload.call_id for payload in payloads if type(payload) in _OUTPUTS}
        return call_id in self._items

    def event(self, payload: AnyEnd, reviewer: str | None) -> None:
        """Remember what an event says; ``reviewer`` is who answers requests for approval."""
        if payload.call_id is not None:
            self._ends.setdefault(payload.call_id, read_end(payload, reviewer))

    def apply(self, drafts: list[Draft], answered: dict[str, int]) -> None:
        """Give every result what its event adds; ``answered`` says which of ``drafts`` has the result of a call."""
        for call_id, end in self._ends.items():
            if call_id in answered:
                _apply(end, call_id, drafts[answered[call_id]].content)


def _apply(end: End, call_id: str, content: list[Block]) -> None:
    """Join ``end`` with the last result of ``call_id`` in ``content``."""
    for index in reversed(range(len(content))):
        block = content[index]
        if type(block) is ToolResult and block.tool_use_id == call_id:
            if block.refusal is None:
                is_richer = end.content is not None and (end.is_richer or block.content == "")
                told = end.content if is_richer else block.content
                content[index] = ToolResult(call_id, told, block.is_error or end.is_error, end.refusal)
            return


def read_end(payload: AnyEnd, reviewer: str | None) -> End:
    """What an ``exec_command_end``, ``patch_apply_end`` or ``mcp_tool_call_end`` says."""
    refusal = denial(reviewer) if payload.status == "declined" else None
    if isinstance(payload, McpEnd):
        content, is_error = _read_mcp(payload)
        return End(content, is_error, refusal, False)
    text = payload.aggregated_output or "\n".join(part for part in (payload.stdout, payload.stderr) if part)
    is_error = payload.exit_code not in (None, 0) or payload.success is False or refusal is not None
    return End(text or None, is_error, refusal, isinstance(payload, CommandEnd))


def denial(reviewer: str | None) -> Refusal:
    """A refused approval: a person's, unless another reviewer was appointed."""
    if reviewer in (None, "user"):
        return Refusal(RefusalKind.DENIED, "person")
    return Refusal(RefusalKind.BLOCKED, reviewer)


def _read_mcp(payload: McpEnd) -> tuple[Json, bool]:
    value: Any = None
    if payload.result:
        try:
            value = msgspec.json.decode(payload.result)
        except (msgspec.DecodeError, RecursionError):
            return None, False
    if not isinstance(value, dict):
        return None, False
    if "Err" in value:
        return value["Err"], True
    inner = value.get("Ok")
    if not isinstance(inner, dict):
        return None, False
    return inner.get("content"), inner.get("isError") is True
