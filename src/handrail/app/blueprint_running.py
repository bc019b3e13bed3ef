"""Runs of blueprints, wired: which models and tools their stages are offered, and how one begins or goes on.

Loads pydantic, so it needs the extra ``agents``; whoever imports it has made sure that it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from handrail.agents.agent import Agent
from handrail.agents.content import Content
from handrail.agents.options import RunOptions
from handrail.agents.permissions import Asked, Policy, Verdict, judge
from handrail.agents.result import Session
from handrail.agents.run import Run
from handrail.agents.tools import ASKING, REGIONAL, built_in_tools
from handrail.agents.tools.bash import TOOL as BASH
from handrail.app.blueprinting import load_blueprint
from handrail.app.ordering import Order
from handrail.blueprints.model import Blueprint
from handrail.blueprints.regions import CommandSeed
from handrail.errors import HandrailError
from handrail.models.names import SCRIPTED, model_from_name
from handrail.models.port import Model
from handrail.models.script_file import load_script
from handrail.models.scripted import ScriptedModel
from handrail.runs.regions.seeding import Permit
from handrail.runs.stages import Workers, frozen_blueprint, restart_blueprint, resume_blueprint, start_blueprint


class Casting(Struct, frozen=True, kw_only=True):
    """The models a blueprint names, made; ``notices`` say of each that could not be made why."""

    models: tuple[Model, ...] = ()
    notices: tuple[str, ...] = ()


async def blueprint_of(order: Order, environment: Mapping[str, str], open_run: Session | None) -> Blueprint | None:
    """The blueprint that ``order`` means: the one it names, else the one that ``open_run`` obeys.

    Raises as ``load_blueprint`` and ``frozen_blueprint``.
    """
    if order.blueprint is not None:
        return load_blueprint(order.blueprint, workspace=order.workspace, environment=environment)
    return None if open_run is None else await frozen_blueprint(open_run)


def cast(blueprint: Blueprint, environment: Mapping[str, str]) -> Casting:
    """The models that the stages of ``blueprint`` name. What cannot be made is left out: a stage may have others."""
    names = dict.fromkeys(name for stage in blueprint.stages for name in blueprint.models_of(stage))
    models: list[Model] = []
    notices: list[str] = []
    for name in names:
        try:
            models.append(_model(name, environment))
        except HandrailError as problem:
            notices.append(f"the model {name} of the blueprint is not there: {problem.message}")
    return Casting(models=tuple(models), notices=tuple(notices))


def _model(name: str, environment: Mapping[str, str]) -> Model:
    if name.startswith(SCRIPTED):
        # Called as the blueprint calls it, so that its stages find it.
        return ScriptedModel(load_script(Path(name.removeprefix(SCRIPTED))), name=name)
    return model_from_name(name, environ=environment)


def offered(agent: Agent, casting: Casting) -> Agent:
    """``agent`` with all that a stage may name: the models that were made, the tools for asking and for regions."""
    known = {tool.name for tool in agent.toolbox}
    more = tuple(tool for tool in built_in_tools((*ASKING, *REGIONAL)) if tool.name not in known)
    return replace(agent, tools=(*agent.toolbox, *more), models=(*agent.models, *casting.models))


def permit_of(policy: Policy) -> Permit:
    """Commands that regions begin with run where the same command may run without a question, and else not."""

    async def permit(seed: CommandSeed) -> bool:
        asked = Asked(tool=BASH.name, input={"command": _as_line(seed)}, traits=BASH.traits)
        return judge(policy, asked).verdict is Verdict.ALLOW

    return permit


def _as_line(seed: CommandSeed) -> str:
    import shlex

    return shlex.join(seed.command)


async def begin_blueprint(
    blueprint: Blueprint, agent: Agent, content: Content, options: RunOptions, session: Session, workers: Workers
) -> Run:
    """Start a run of ``blueprint`` in ``session``."""
    permit = permit_of(options.gate.policy)
    return start_blueprint(blueprint, content, agent, options, session=session, permit=permit, workers=workers)


async def go_on_by_blueprint(
    blueprint: Blueprint, order: Order, agent: Agent, options: RunOptions, session: Session, workers: Workers
) -> Run:
    """Go on with the open run of ``session``, which must obey ``blueprint``; or end it and begin its task anew."""
    permit = permit_of(options.gate.policy)
    if order.is_anew:
        return await restart_blueprint(session, blueprint, agent, options, permit=permit, workers=workers)
    return await resume_blueprint(session, agent, options, blueprint=blueprint, permit=permit, workers=workers)
