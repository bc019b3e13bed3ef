"""Whether a broken run came to what the unbroken one came to, where it must.

It need not where a call's outcome is unknown: there the model was told so instead of the result. Ids and times are
each run's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from handrail.journal import events as ev
from handrail.journal.transcript import project
from handrail.testing.drill.stories import SESSION
from handrail.transcripts.model import Decision, Message, RefusalKind, ToolResult, ToolUse
from handrail.transcripts.spans import CropError, tool_pairs

_UNKNOWN = "(nobody knows)"
_INTERRUPTED = "(interrupted)"


def differences(broken: Mapping[str, tuple[ev.Event, ...]], unbroken: Mapping[str, tuple[ev.Event, ...]]) -> list[str]:
    """In what the sessions of a run differ; those of helpers are compared in the order they were started."""
    told: list[str] = []
    unknown = {one for events in broken.values() for one in _unknown_calls(events)}
    for name, (mine, theirs) in _pairs(broken, unbroken, unknown):
        told += _invalid(name, mine)
        told += _unlike(name, mine, theirs, unknown)
    return told


def _pairs(
    broken: Mapping[str, tuple[ev.Event, ...]], unbroken: Mapping[str, tuple[ev.Event, ...]], unknown: set[str]
) -> Iterator[tuple[str, tuple[tuple[ev.Event, ...], tuple[ev.Event, ...]]]]:
    yield SESSION, (broken[SESSION], unbroken[SESSION])
    theirs = dict(_children(unbroken[SESSION]))
    for call, child in _children(broken[SESSION]):
        if call not in unknown and call in theirs:
            yield f"helper of {call}", (broken[child], unbroken[theirs[call]])


def _children(events: tuple[ev.Event, ...]) -> Iterator[tuple[str, str]]:
    for event in events:
        if isinstance(event.body, ev.ChildSpawned):
            yield event.body.call, event.body.child


def _unknown_calls(events: tuple[ev.Event, ...]) -> Iterator[str]:
    for event in events:
        if isinstance(event.body, ev.ToolOutcomeUnknown):
            yield event.body.call


def _invalid(name: str, events: tuple[ev.Event, ...]) -> Iterator[str]:
    """What no history may have: a call without a result, or with two."""
    body = project(events).body
    try:
        tool_pairs(body)
    except CropError as problem:
        yield f"the history of {name} is not valid: {problem}"
    calls = {block.id for message in body for block in message.content if isinstance(block, ToolUse)}
    results = {block.tool_use_id for message in body for block in message.content if isinstance(block, ToolResult)}
    if calls != results:
        yield f"the history of {name} has calls without results, or results without calls: {sorted(calls ^ results)}"


def _unlike(name: str, mine: tuple[ev.Event, ...], theirs: tuple[ev.Event, ...], unknown: set[str]) -> Iterator[str]:
    ends = [[_end(event.body) for event in events if isinstance(event.body, ev.RunEnded)] for events in (mine, theirs)]
    if ends[0] != ends[1]:
        yield f"{name} ended as {ends[0]}, unbroken as {ends[1]}"
    courses = [list(_course(events)) for events in (mine, theirs)]
    if courses[0] != courses[1]:
        yield f"{name} went {courses[0]}, unbroken {courses[1]}"
    ours, others = (list(_plain(events, unknown)) for events in (mine, theirs))
    for index, (one, other) in enumerate(zip(ours, others, strict=False)):
        if one != other:
            yield f"message {index + 1} of {name} is {one}, unbroken {other}"
            return
    if len(ours) != len(others):
        yield f"{name} has {len(ours)} messages, unbroken {len(others)}"


def _course(events: tuple[ev.Event, ...]) -> Iterator[ev.Body]:
    """The way through the stages: entered, left, where each point sent the run, and what the regions came to hold."""
    for event in events:
        body = event.body
        if isinstance(body, ev.PointRouted | ev.DocumentEdited):
            yield replace(body, ask="")
        elif isinstance(body, ev.StageEntered | ev.StageLeft | ev.RegionWritten):
            yield body


def _end(body: ev.RunEnded) -> tuple[str, Any]:
    return body.reason.value, body.output


def _plain(events: tuple[ev.Event, ...], unknown: set[str]) -> Iterator[Message]:
    """The messages without what is each run's own."""
    for message in project(events).body:
        content = tuple(_block(block, unknown) for block in message.content)
        yield replace(message, content=content, uid="", uids=(), timestamp=None, taint=None)


def _block(block: Any, unknown: set[str]) -> Any:
    if isinstance(block, ToolResult) and block.tool_use_id in unknown:
        return ToolResult(block.tool_use_id, _UNKNOWN)
    if isinstance(block, ToolResult) and block.refusal is not None and block.refusal.kind is RefusalKind.INTERRUPTED:
        # Whoever carried it out tells it in other words than who found it left.
        return ToolResult(block.tool_use_id, _INTERRUPTED)
    return replace(block, ask="") if isinstance(block, Decision) else block
