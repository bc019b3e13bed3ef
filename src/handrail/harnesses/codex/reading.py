"""From rows to messages: one pass over a rollout, row by row.

The event log adds what the item log does not say: that a text was typed, which turn it fell into, how a command
ended, what it cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from handrail.harnesses.codex import boundaries, deliveries, responses
from handrail.harnesses.codex.gathering import Gathering
from handrail.harnesses.codex.wire import EVENT, ITEM, Payload, Row

Handler = Callable[[Gathering, Payload], None]
Table = Mapping[str, Handler]


def read_rows(rows: list[Row], raw: Callable[[int], bytes], events: Table | None = None) -> Gathering:
    """Read every row; ``raw`` gives the bytes of one. ``events`` says what reads an event of each kind."""
    gathering = Gathering(rows, raw)
    logs = {ITEM: ITEMS, EVENT: EVENTS if events is None else events}
    for index, row in enumerate(rows):
        payload = row.payload
        if payload is None:
            continue
        log = logs.get(row.type)
        handle = OTHERS.get(row.type) if log is None else log.get(payload.type)
        if handle is None:
            continue
        gathering.at = index
        gathering.row = row
        if gathering.origin is not None:
            boundaries.end_burst(gathering)
        handle(gathering, payload)
    gathering.finish()
    return gathering


def _message(gathering: Gathering, payload: Payload) -> None:
    if payload.role == "assistant":
        responses.said(gathering, payload)
    elif payload.role == "user":
        deliveries.told(gathering, payload)


ITEMS: Table = {
    "message": _message,
    "reasoning": responses.reasoning,
    "function_call": responses.call,
    "custom_tool_call": responses.call,
    "local_shell_call": responses.call,
    "tool_search_call": responses.call,
    "web_search_call": responses.search,
    "function_call_output": deliveries.result,
    "custom_tool_call_output": deliveries.result,
    "tool_search_output": deliveries.result,
    "agent_message": deliveries.peer,
}
"""What reads an item of each kind; the rest is bookkeeping or not known."""

EVENTS: Table = {
    "user_message": deliveries.user_event,
    "token_count": responses.token_count,
    "agent_message": responses.echo,
    "agent_reasoning": responses.echo,
    "agent_reasoning_raw_content": responses.echo,
    "task_started": boundaries.turn_start,
    "turn_started": boundaries.turn_start,
    "task_complete": boundaries.turn_end,
    "turn_complete": boundaries.turn_end,
    "turn_aborted": boundaries.aborted,
    "exec_command_end": deliveries.command_end,
    "patch_apply_end": deliveries.command_end,
    "mcp_tool_call_end": deliveries.command_end,
    "web_search_end": responses.search_end,
    "thread_rolled_back": boundaries.rolled_back,
}

OTHERS: Table = {
    "turn_context": boundaries.turn_context,
    "compacted": boundaries.compacted,
    "session_meta": boundaries.session_meta,
}
