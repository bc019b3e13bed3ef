"""What a check knows of the world outside of a blueprint: tools, strategies, models. What is None is not checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

from handrail.agents.permissions import is_glob, matches

SHELL = "Bash"
SERVER_TOOL = "mcp__"
"""What the name of every tool of an MCP server begins with."""

ANSWER = "Answer"
FAN_OUT = "FanOut"
"""The tools a stage has by itself: with an output, and with a fan-out."""

ModelJudge: TypeAlias = Callable[[str], tuple[Literal["unknown-model", "unreachable-model"], str] | None]
"""Says why a model of a name cannot be used, with the code for it; None where it can."""


class KnownTool(Struct, frozen=True, kw_only=True):
    """A tool that a stage may name: whether it edits files, asks a person, writes regions."""

    name: str
    edits: bool = False
    asks: bool = False
    writes_regions: bool = False


class Known(Struct, frozen=True, kw_only=True):
    """What there is to name. ``window`` is the model's, in tokens, by which budgets are judged."""

    tools: tuple[KnownTool, ...] | None = None
    strategies: tuple[str, ...] | None = None
    judge_model: ModelJudge | None = None
    window: int = 200_000


def fitting(pattern: str, names: Iterable[str]) -> list[str]:
    """Those of ``names`` that ``pattern`` means."""
    return [name for name in names if matches(pattern, name)] if is_glob(pattern) else [pattern] * (pattern in names)


def tools_of(named: Iterable[str], known: Known) -> tuple[KnownTool, ...]:
    """The known tools that a stage which names ``named`` has."""
    patterns = tuple(named)
    return tuple(tool for tool in known.tools or () if any(matches(pattern, tool.name) for pattern in patterns))
