"""Rollouts that hold the event log only: what the screen showed is then all there is."""

from __future__ import annotations

from typing import Any

from handrail import jsonio
from handrail.harnesses.codex import deliveries
from handrail.harnesses.codex import event_kinds as event
from handrail.harnesses.codex.call_reading import WEB_SEARCH, read_call
from handrail.harnesses.codex.drafts import RESULTS
from handrail.harnesses.codex.ends import AnyEnd, read_end
from handrail.harnesses.codex.gathering import Gathering
from handrail.harnesses.codex.item_kinds import (
    CustomToolCall,
    Element,
    FunctionCall,
    LocalShellCall,
    Message,
    Reasoning,
    WebSearchCall,
)
from handrail.harnesses.codex.reading import TABLE, Table
from handrail.harnesses.codex.searches import searched
from handrail.harnesses.codex.wire import Row, name_of
from handrail.transcripts.model import Author, Json, Raw, Text, Thinking, ToolResult, ToolUse


def has_items(rows: list[Row]) -> bool:
    """Whether the item log tells the conversation (harness messages alone do not)."""
    return any(isinstance(row.payload, _TALK) for row in rows) or not any(
        isinstance(row.payload, event.Submitted) for row in rows
    )


_TALK = (Message, FunctionCall, CustomToolCall, LocalShellCall, WebSearchCall, Reasoning)


def _prompt(gathering: Gathering, payload: event.Submitted) -> None:
    if payload.message:
        deliveries.typed(gathering, [Element("input_text", payload.message)])
    gathering.turns.count()


def _answer(gathering: Gathering, payload: event.Said) -> None:
    if payload.message:
        gathering.respond(Text(payload.message, Author.MODEL))


def _thought(gathering: Gathering, payload: event.Thought) -> None:
    if payload.text:
        gathering.respond(Thinking(payload.text))


def _command(gathering: Gathering, payload: event.CommandEnd) -> None:
    arguments = {"command": payload.command, "workdir": payload.cwd}
    given = {key: value for key, value in arguments.items() if value is not None}
    call = FunctionCall(name="shell", arguments=given)
    _done(gathering, payload, read_call(call, _id(gathering, payload)))


def _patch(gathering: Gathering, payload: event.PatchEnd) -> None:
    try:
        changes: Json = jsonio.decode(bytes(payload.changes)) if payload.changes else None
    except jsonio.NotJson:
        changes = None
    _done(gathering, payload, ToolUse(_id(gathering, payload), Raw("apply_patch", {"changes": changes})))


def _mcp(gathering: Gathering, payload: event.McpEnd) -> None:
    asked: Any = payload.invocation if isinstance(payload.invocation, dict) else {}
    name = f"mcp__{asked.get('server', '')}__{asked.get('tool', '')}"
    _done(gathering, payload, ToolUse(_id(gathering, payload), Raw(name, asked.get("arguments"))))


def _search(gathering: Gathering, payload: event.WebSearchEnd) -> None:
    call = ToolUse(_id(gathering, payload), Raw(WEB_SEARCH, payload.action))
    content = payload.results if payload.results is not None else searched(payload.action, payload.query)
    gathering.respond(call, payload.call_id or None)
    gathering.delivery(RESULTS).content.append(ToolResult(call.id, content))


def _id(gathering: Gathering, payload: AnyEnd | event.WebSearchEnd) -> str:
    return payload.call_id or gathering.ids.unique(name_of(payload))


def _done(gathering: Gathering, payload: AnyEnd, call: ToolUse) -> None:
    """The one event of a call that ended tells the call and its result."""
    end = read_end(payload, None)
    gathering.respond(call, payload.call_id or None)
    draft = gathering.delivery(RESULTS)
    draft.uids.append(gathering.ids.unique(f"{call.id}:output"))
    draft.content.append(ToolResult(call.id, end.content or "", end.is_error, end.refusal))


TABLE_ALONE: Table = {
    **TABLE,
    event.Submitted: _prompt,
    event.Said: _answer,
    event.Thought: _thought,
    event.RawThought: _thought,
    event.CommandEnd: _command,
    event.PatchEnd: _patch,
    event.McpEnd: _mcp,
    event.WebSearchEnd: _search,
}
"""What reads each kind where the events are all there is: every ``user_message`` was submitted as a prompt."""
