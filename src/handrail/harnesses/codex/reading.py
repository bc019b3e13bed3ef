"""From rows to messages: one pass over a rollout, row by row.

The event log adds what the item log does not say: that a text was typed, which turn it fell into, how a command
ended, what it cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from handrail.harnesses.codex import boundaries, deliveries, responses
from handrail.harnesses.codex import event_kinds as event
from handrail.harnesses.codex import item_kinds as item
from handrail.harnesses.codex.gathering import Gathering
from handrail.harnesses.codex.wire import Compacted, Row, SessionMeta, TurnContext

Handler = Callable[[Gathering, Any], None]
Table = Mapping[type, Handler]


def read_rows(rows: list[Row], raw: Callable[[int], bytes], table: Table | None = None) -> Gathering:
    """Read every row; ``raw`` gives the bytes of one. ``table`` says what reads a payload of each kind."""
    gathering = Gathering(rows, raw)
    handler_of = (TABLE if table is None else table).get
    for gathering.at, row in enumerate(rows):
        payload = row.payload
        handle = handler_of(type(payload))
        if handle is None:
            continue
        gathering.row = row
        if gathering.origin is not None:
            boundaries.end_burst(gathering)
        handle(gathering, payload)
    gathering.finish()
    return gathering


def _message(gathering: Gathering, payload: item.Message) -> None:
    if payload.role == "assistant":
        responses.said(gathering, payload)
    elif payload.role == "user":
        deliveries.told(gathering, payload)


TABLE: Table = {
    item.Message: _message,
    item.Reasoning: responses.reasoning,
    item.FunctionCall: responses.call,
    item.CustomToolCall: responses.call,
    item.LocalShellCall: responses.call,
    item.ToolSearchCall: responses.call,
    item.WebSearchCall: responses.search,
    item.FunctionOutput: deliveries.result,
    item.CustomToolOutput: deliveries.result,
    item.ToolSearchOutput: deliveries.result,
    item.PeerMessage: deliveries.peer,
    event.Submitted: deliveries.submitted,
    event.TokenCount: responses.token_count,
    event.Said: responses.echo,
    event.Thought: responses.echo,
    event.RawThought: responses.echo,
    event.TaskStarted: boundaries.turn_start,
    event.TurnStarted: boundaries.turn_start,
    event.TaskComplete: boundaries.turn_end,
    event.TurnComplete: boundaries.turn_end,
    event.TurnAborted: boundaries.aborted,
    event.CommandEnd: deliveries.call_end,
    event.PatchEnd: deliveries.call_end,
    event.McpEnd: deliveries.call_end,
    event.WebSearchEnd: responses.search_end,
    event.RolledBack: boundaries.rolled_back,
    TurnContext: boundaries.turn_context,
    Compacted: boundaries.compacted,
    SessionMeta: boundaries.session_meta,
}
"""What reads a payload of each kind; the rest is bookkeeping or not known."""
