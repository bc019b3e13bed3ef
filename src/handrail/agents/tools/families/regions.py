"""What the tools for context regions share: reaching the regions, and saying what came of a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from handrail.agents.regions import Change, Changed, RegionRefused, Regions
from handrail.agents.tool import ToolContext, ToolError, ToolOutput
from handrail.journal.vocabulary import RegionEntry

Value = TypeVar("Value")

_SHOWN_CHARACTERS = 40
_SHOWN_ENTRIES = 12


def asked(context: ToolContext, question: Callable[[Regions], Value]) -> Value:
    """The answer of the regions a call can reach; ``ToolError`` where there are none, or they refuse."""
    if context.regions is None:
        raise ToolError("There are no context regions here.")
    try:
        return question(context.regions)
    except RegionRefused as problem:
        raise ToolError(str(problem)) from problem


def change_output(context: ToolContext, region: str, change: Change, said: str) -> ToolOutput:
    """The output of a call that changes ``region``: what was ``said``, what left, and how much room there is now."""
    made = asked(context, lambda regions: regions.changed(region, change))
    told = [f"{said}: {', '.join(map(str, made.numbers))}." if made.numbers else f"{said}."]
    if made.dropped:
        told.append(f"To make room, {_dropped(made.dropped)} left.")
    told.append(_room(region, made))
    return ToolOutput("\n".join(told), regions={region: made.entries})


def checklist_of(context: ToolContext, region: str | None) -> str:
    """``region``, or the one checklist there is."""
    return region if region is not None else asked(context, lambda regions: regions.checklist())


def _room(region: str, made: Changed) -> str:
    left = max(made.budget_tokens - made.tokens, 0)
    return f"{region} holds about {made.tokens} of {made.budget_tokens} tokens; {left} are left."


def _dropped(entries: tuple[RegionEntry, ...]) -> str:
    named = ", ".join(map(_name, entries[:_SHOWN_ENTRIES]))
    return named if len(entries) <= _SHOWN_ENTRIES else f"{named} and {len(entries) - _SHOWN_ENTRIES} more"


def _name(entry: RegionEntry) -> str:
    if entry.number is not None:
        return f"item {entry.number}"
    return repr(entry.key if entry.key is not None else " ".join(entry.text.split())[:_SHOWN_CHARACTERS])
