"""The sub-agents a session spawned, as its own records tell; their talk stands in rollouts of their own."""

from __future__ import annotations

from collections.abc import Iterator

from handrail import jsonio
from handrail.harnesses.codex.wire import EVENT, ITEM, Row
from handrail.transcripts.codec import Child

_SPAWN = "spawn_agent"


def find_children(rows: list[Row]) -> tuple[Child, ...]:
    """Every sub-agent once, in the order they were started, with the call that did it."""
    found: dict[str, Child] = {}
    for child in _told(rows):
        found.setdefault(child.id, child)
    return tuple(found.values())


def _told(rows: list[Row]) -> Iterator[Child]:
    spawns: set[str] = set()
    for row in rows:
        payload = row.payload
        if payload is None:
            continue
        if row.type == EVENT and payload.type == "sub_agent_activity":
            if payload.agent_thread_id and payload.kind == "started":
                yield Child(id=payload.agent_thread_id, call=payload.event_id)
        elif row.type == EVENT and payload.type == "collab_agent_spawn_end":
            if payload.new_thread_id:
                yield Child(id=payload.new_thread_id, call=payload.call_id)
        elif row.type == ITEM and payload.type == "function_call":
            if payload.name == _SPAWN and payload.call_id is not None:
                spawns.add(payload.call_id)
        elif row.type == ITEM and payload.type == "function_call_output" and payload.call_id in spawns:
            agent = _agent_id(payload.output)
            if agent is not None:
                yield Child(id=agent, call=payload.call_id)


def _agent_id(output: object) -> str | None:
    if not isinstance(output, str) or not output.startswith("{"):
        return None
    try:
        value = jsonio.decode(output.encode("utf-8", "surrogatepass"))
    except jsonio.NotJson:
        return None
    agent = value.get("agent_id") if isinstance(value, dict) else None
    return agent if isinstance(agent, str) and agent else None
