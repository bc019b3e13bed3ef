"""Rollouts that hold the event log only: what the screen showed is then all there is."""

from __future__ import annotations

from typing import Any

import msgspec

from handrail.harnesses.codex import deliveries
from handrail.harnesses.codex.call_reading import WEB_SEARCH, read_call
from handrail.harnesses.codex.drafts import RESULTS
from handrail.harnesses.codex.ends import read_end
from handrail.harnesses.codex.gathering import Gathering
from handrail.harnesses.codex.reading import EVENTS, Table
from handrail.harnesses.codex.searches import searched
from handrail.harnesses.codex.wire import EVENT, ITEM, Element, Payload, Row
from handrail.transcripts.model import Author, Json, Raw, Text, Thinking, ToolResult, ToolUse


def has_items(rows: list[Row]) -> bool:
    """Whether the item log tells the conversation (harness messages alone do not)."""
    return any(row.type == ITEM and row.payload is not None and row.payload.type in _TALK for row in rows) or not any(
        row.type == EVENT and row.payload is not None and row.payload.type == "user_message" for row in rows
    )


_TALK = frozenset({"message", "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "reasoning"})


def _prompt(gathering: Gathering, payload: Payload) -> None:
    if payload.message:
        deliveries.typed(gathering, payload, [Element("input_text", payload.message)])
    gathering.turns.count()


def _answer(gathering: Gathering, payload: Payload) -> None:
    if payload.message:
        gathering.respond(payload, Text(payload.message, Author.MODEL))


def _thought(gathering: Gathering, payload: Payload) -> None:
    if payload.text:
        gathering.respond(payload, Thinking(payload.text))


def _command(gathering: Gathering, payload: Payload) -> None:
    arguments = {"command": payload.command, "workdir": payload.cwd}
    given = {key: value for key, value in arguments.items() if value is not None}
    call = Payload(type="function_call", name="shell", arguments=given)
    _done(gathering, payload, read_call(call, _id(gathering, payload)))


def _patch(gathering: Gathering, payload: Payload) -> None:
    changes: Json = msgspec.json.decode(payload.changes) if payload.changes else None
    _done(gathering, payload, ToolUse(_id(gathering, payload), Raw("apply_patch", {"changes": changes})))


def _mcp(gathering: Gathering, payload: Payload) -> None:
    asked: Any = payload.invocation if isinstance(payload.invocation, dict) else {}
    name = f"mcp__{asked.get('server', '')}__{asked.get('tool', '')}"
    _done(gathering, payload, ToolUse(_id(gathering, payload), Raw(name, asked.get("arguments"))))


def _search(gathering: Gathering, payload: Payload) -> None:
    call = ToolUse(_id(gathering, payload), Raw(WEB_SEARCH, payload.action))
    content = payload.results if payload.results is not None else searched(payload.action, payload.query)
    gathering.respond(payload, call)
    gathering.deliver(RESULTS).content.append(ToolResult(call.id, content))


def _id(gathering: Gathering, payload: Payload) -> str:
    return payload.call_id or gathering.ids.unique(payload.type)


def _done(gathering: Gathering, payload: Payload, call: ToolUse) -> None:
    """The one event of a call that ended tells the call and its result."""
    end = read_end(payload, None)
    gathering.respond(payload, call)
    draft = gathering.deliver(RESULTS)
    draft.uids.append(gathering.ids.unique(f"{call.id}:output"))
    draft.content.append(ToolResult(call.id, end.content or "", end.is_error, end.refusal))


EVENTS_ALONE: Table = {
    **EVENTS,
    "user_message": _prompt,
    "agent_message": _answer,
    "agent_reasoning": _thought,
    "agent_reasoning_raw_content": _thought,
    "exec_command_end": _command,
    "patch_apply_end": _patch,
    "mcp_tool_call_end": _mcp,
    "web_search_end": _search,
}
"""What reads each event where the events are all there is: every ``user_message`` was submitted as a prompt."""
