"""What a stage works with, made of what the host offers and of what the blueprint says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from handrail.agents.agent import Agent
from handrail.agents.approval import HOLD
from handrail.agents.boundary import Enlisted, enlisted
from handrail.agents.options import RunOptions
from handrail.agents.output import ANSWER, Output, output_by_schema
from handrail.agents.permissions import Policy, Rule, Verdict, is_glob, matches
from handrail.agents.strategies.require_tool import RequireTool
from handrail.agents.strategy import StrategyLike
from handrail.agents.tool import Tool, by_name
from handrail.agents.tools import ASKING
from handrail.blueprints.model import Blueprint, Stage
from handrail.errors import UnknownName
from handrail.models.port import Model

_ASKING = frozenset({"Ask", *ASKING})

Assemble: TypeAlias = Callable[[Stage], Agent]
"""Gives what a stage may use: ``model`` where the blueprint names none, ``models`` it may name, all the tools there
are, and instructions that stand before its own."""


HandOut: TypeAlias = Callable[[Stage], Tool | None]
"""Gives the tool by which a stage hands its work to others; None where it does not."""


class Parts(Struct, frozen=True, kw_only=True):
    """What a stage works with, whichever visit it is. ``own`` are its strategies, besides the run's."""

    agent: Agent
    fallbacks: tuple[Model, ...]
    options: RunOptions
    output: Output | None
    own: tuple[StrategyLike, ...]

    def enlisted(self, *more: StrategyLike) -> tuple[Enlisted, ...]:
        """The strategies that are asked in one visit: the run's, the stage's, and ``more``."""
        return enlisted((*self.options.strategies, *self.own, *more))


def parts_of(
    blueprint: Blueprint, stage: Stage, given: Agent, options: RunOptions, hand_out: Tool | None = None
) -> Parts:
    """What ``stage`` works with; ``UnknownName`` for a model, tool or strategy that the host does not offer,
    and ``ValueError`` for two tools of one name.

    ``hand_out`` is the tool by which it hands its work to others.
    """
    model, *fallbacks = _models(blueprint, stage, given)
    output = None if stage.output is None else output_by_schema(stage.output.json_schema)
    own: list[StrategyLike] = list(stage.strategies)
    if output is not None:
        own.append(RequireTool(ANSWER))
    if stage.fan_out is not None and hand_out is not None:
        own.insert(0, RequireTool(hand_out.name, times=stage.fan_out.max_attempts))
    enlisted(own)
    agent = replace(
        given,
        model=model,
        tools=_tools(stage, _with(given.toolbox, hand_out), hand_out, may_ask=_may_ask(blueprint, stage, options)),
        instructions="\n\n".join(part for part in (given.instructions, stage.instructions) if part),
    )
    by_name((*agent.toolbox, *(() if output is None else (output.tool,))))
    return Parts(
        agent=agent,
        fallbacks=tuple(fallbacks),
        options=_options(blueprint, stage, options),
        output=output,
        own=tuple(own),
    )


def _models(blueprint: Blueprint, stage: Stage, given: Agent) -> list[Model]:
    """The models of the stage in order; those that nobody offers are passed over while one is left."""
    wanted = blueprint.models_of(stage)
    if not wanted:
        return [given.model]
    offered = (given.model, *given.models)
    found = [model for name in wanted for model in offered if name in (model.info.name, model.info.id)]
    if not found:
        raise UnknownName(
            f"stage {stage.name!r} needs one of the models {', '.join(wanted)}",
            hint=f"there are: {', '.join(model.info.name for model in offered)}",
        )
    return list({model.info.name: model for model in found}.values())


def _may_ask(blueprint: Blueprint, stage: Stage, options: RunOptions) -> bool:
    """Whether somebody answers the model's questions, now or when they come."""
    return not options.is_unattended or blueprint.unattended_of(stage).questions == "hold"


def _with(offered: Sequence[Tool], own: Tool | None) -> tuple[Tool, ...]:
    """``offered``, with the stage's own tool in the place of any other of that name."""
    return tuple(offered) if own is None else (*(tool for tool in offered if tool.name != own.name), own)


def _tools(stage: Stage, offered: Sequence[Tool], own: Tool | None, *, may_ask: bool) -> tuple[Tool, ...]:
    """The tools the stage names, and its ``own``. Where nobody answers, one that asks is there by its name only."""
    names = [tool.name for tool in offered]
    for wanted in stage.tools:
        if not is_glob(wanted) and wanted not in names:
            raise UnknownName(f"stage {stage.name!r} needs the tool {wanted!r}", hint=f"there are: {', '.join(names)}")
    meant = [name for name in names if may_ask or name not in _ASKING or name in stage.tools]
    named = [name for name in meant if any(matches(one, name) for one in stage.tools)]
    return tuple(tool for tool in offered if tool is own or tool.name in named)


def _options(blueprint: Blueprint, stage: Stage, options: RunOptions) -> RunOptions:
    author = (*blueprint.permissions.rules(), *stage.permissions.rules())
    gate = replace(options.gate, policy=_policy(options.gate.policy, author))
    if options.is_unattended:
        profile = blueprint.unattended_of(stage)
        options = replace(
            options,
            approver=HOLD if profile.approvals == "hold" else None,
            answerer=HOLD if profile.questions == "hold" else None,
        )
    return replace(options, gate=gate)


def _policy(host: Policy, author: tuple[Rule, ...]) -> Policy:
    """The author's rules under the host's, which may tighten each of them and are loosened by none."""
    stricter = tuple(rule for rule in host.rules if rule.verdict is not Verdict.ALLOW)
    return replace(host, rules=(*author, *host.rules), tightening=(*host.tightening, *stricter))
