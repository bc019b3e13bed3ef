"""From an adjustment as hosts make it to one as the journal keeps it, checked whole before any of it is applied."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.agents.compose import BadDecision
from handrail.agents.strategy import RoundAdjustment
from handrail.agents.tool import Tool
from handrail.journal.vocabulary import Adjustment
from handrail.models.port import Effort, Model, ModelInfo

_CHOICES = ("auto", "none", "required")


def checked(adjust: RoundAdjustment, models: Mapping[str, Model], tools: Mapping[str, Tool]) -> Adjustment:
    """``adjust`` as an event holds it; ``BadDecision`` names the first thing in it that cannot be."""
    reasoning = adjust.reasoning
    options = None if reasoning is None else reasoning.options
    return Adjustment(
        model=None if adjust.model is None else _model(adjust.model, models),
        effort=None if options is None or options.effort is None else Effort(options.effort).value,
        reasoning_summary=None if options is None else options.summary,
        clear_reasoning=reasoning is not None and options is None,
        tools=None if adjust.tools is None else _tools(adjust.tools, tools),
        tool_choice=None if adjust.tool_choice is None else _choice(adjust.tool_choice, tools),
        limits=adjust.limits,
        max_output_tokens=_amount(adjust.max_output_tokens),
        note=_note(adjust.note),
    )


def _amount(tokens: int | None) -> int | None:
    if tokens is not None and tokens < 1:
        raise BadDecision(f"a response cannot be bounded to {tokens} tokens")
    return tokens


def _note(note: str | None) -> str | None:
    if note is not None and not note.strip():
        raise BadDecision("there is nothing in the note to add to the instructions")
    return note


def _model(info: ModelInfo, models: Mapping[str, Model]) -> str:
    if info.name not in models:
        raise BadDecision(f"the agent has no model {info.name}; it has: {', '.join(models)}")
    return info.name


def _tools(names: tuple[str, ...], tools: Mapping[str, Tool]) -> tuple[str, ...]:
    for name in names:
        if name not in tools:
            raise BadDecision(f"the agent has no tool {name!r}; it has: {', '.join(tools) or 'none'}")
    return tuple(names)


def _choice(choice: str, tools: Mapping[str, Tool]) -> str:
    if choice not in _CHOICES and choice not in tools:
        raise BadDecision(f"{choice!r} is no tool choice: {', '.join(_CHOICES)} or the name of a tool")
    return choice
