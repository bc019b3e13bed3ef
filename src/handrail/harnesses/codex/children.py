"""The sub-agents a session spawned, as its own records tell; their talk stands in rollouts of their own."""

from __future__ import annotations

from collections.abc import Iterator

from handrail import jsonio
from handrail.harnesses.codex.event_kinds import AgentActivity, AgentSpawned
from handrail.harnesses.codex.item_kinds import FunctionCall, FunctionOutput
from handrail.harnesses.codex.wire import Row
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
        if isinstance(payload, AgentActivity):
            if payload.agent_thread_id and payload.kind == "started":
                yield Child(id=payload.agent_thread_id, call=payload.event_id)
        elif isinstance(payload, AgentSpawned):
            if payload.new_thread_id:
                yield Child(id=payload.new_thread_id, call=payload.call_id)
        elif isinstance(payload, FunctionCall):
            if payload.name == _SPAWN and payload.call_id is not None:
                spawns.add(payload.call_id)
        elif isinstance(payload, FunctionOutput) and payload.call_id in spawns:
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
