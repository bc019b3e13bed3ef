"""Who does the items of a stage that fans out: another stage, another blueprint, or an agent of the host's.

A stage or a blueprint is run as a run of its own, in a session of its own, by the same machine as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from handrail.agents.agent import Agent
from handrail.agents.jobs import BOUNDS, Hand
from handrail.agents.launch import launch
from handrail.agents.opening import Opening, Resume
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.agents.run import Run
from handrail.agents.tool import Tool
from handrail.agents.work import Family
from handrail.blueprints.forms import from_plain
from handrail.blueprints.model import Blueprint, FanOut, Stage
from handrail.errors import UnknownName
from handrail.runs.fan_out.tool import Terms, tool_of, traits_of
from handrail.runs.regions.seeding import Permit
from handrail.runs.stages.assembly import Assemble, parts_of
from handrail.runs.stages.bounding import bounded
from handrail.runs.stages.machine import StageMachine
from handrail.runs.stages.progress import progress_of
from handrail.transcripts.codec import ToolTraits

_OF_ITS_OWN = RunOptions(workspace=Path())
"""A stage, and a blueprint, says itself what it may spend."""


class Workers(Struct, frozen=True, kw_only=True):
    """Who fan-outs may hand work to besides stages: ``agents`` by name, and blueprints, which ``blueprint`` finds."""

    agents: Mapping[str, Agent] = {}
    blueprint: Callable[[str], Blueprint] | None = None


class Setting(Struct, frozen=True, kw_only=True):
    """What the machine of a run is made with, besides its blueprint."""

    assemble: Assemble
    options: RunOptions
    permit: Permit | None = None
    workers: Workers = Workers()


class StagedWorker(Struct, frozen=True, kw_only=True):
    """Fulfils ``agents.jobs.Worker`` with a run of ``blueprint``."""

    name: str
    blueprint: Blueprint
    setting: Setting

    async def begin(self, opening: Opening, options: RunOptions, session: Session, family: Family) -> Run:
        blueprint = self.blueprint
        if isinstance(opening, Resume):
            # Its file may say something else by now; the run obeys what it was begun with.
            blueprint = await _obeyed(session) or blueprint
        # What the stage that hands the work out may do is that stage's alone.
        host = self.setting.options
        options = replace(options, gate=host.gate, approver=host.approver, answerer=host.answerer)
        options = bounded(options, blueprint.limits.limits())
        machine = machine_of(blueprint, replace(self.setting, options=options), family.origin)
        agent = replace(machine.entry.agent, name=self.name)
        own = replace(options, strategies=())
        return launch(agent, opening, own, session=session, family=family, stages=machine)


def machine_of(blueprint: Blueprint, setting: Setting, origin: tuple[str, ...] = ()) -> StageMachine:
    """The machine that runs ``blueprint``; ``UnknownName`` for what a stage needs and nobody offers."""
    return StageMachine(
        blueprint,
        setting.assemble,
        setting.options,
        permit=setting.permit,
        origin=origin,
        hand_out=partial(_fan_out_of, blueprint, setting),
    )


async def _obeyed(session: Session) -> Blueprint | None:
    frozen = progress_of(await session.journal.read(session.id)).blueprint
    return None if frozen is None else from_plain(frozen.source)


def _fan_out_of(blueprint: Blueprint, setting: Setting, stage: Stage) -> Tool | None:
    """The tool by which ``stage`` hands its work out; None where it does not."""
    declared = stage.fan_out
    if declared is None:
        return None
    name, hand, traits = _hand_of(blueprint, setting, stage, declared)
    terms = Terms(
        max_workers=declared.max_workers,
        max_items=declared.max_items,
        region=declared.region,
        on_failure=declared.on_failure,
        # Where the stage owes an output too, its model makes it of the report.
        ends_stage=stage.output is None,
        bounds=BOUNDS if declared.agent is not None else _OF_ITS_OWN,
    )
    return tool_of({name: hand}, terms, traits)


def _hand_of(blueprint: Blueprint, setting: Setting, stage: Stage, declared: FanOut) -> tuple[str, Hand, ToolTraits]:
    if declared.stage is not None:
        worker = StagedWorker(
            name=declared.stage, blueprint=blueprint.model_copy(update={"entry": declared.stage}), setting=setting
        )
        return declared.stage, worker, _traits(blueprint, setting, blueprint.stage(declared.stage))
    workers = setting.workers
    if declared.agent is not None:
        agent = workers.agents.get(declared.agent)
        if agent is None:
            raise _unknown(stage, "agent", declared.agent, ", ".join(workers.agents))
        return declared.agent, agent, traits_of((agent,))
    name = declared.blueprint or ""
    if workers.blueprint is None:
        raise _unknown(stage, "blueprint", name, "")
    other = workers.blueprint(name)
    traits = ToolTraits()
    for one in other.stages:
        traits = _either(traits, _traits(other, setting, one))
    return name, StagedWorker(name=other.name, blueprint=other, setting=setting), traits


def _traits(blueprint: Blueprint, setting: Setting, stage: Stage) -> ToolTraits:
    parts = parts_of(blueprint, stage, setting.assemble(stage), setting.options)
    return traits_of((parts.agent,))


def _either(one: ToolTraits, other: ToolTraits) -> ToolTraits:
    return ToolTraits(private=one.private or other.private, untrusted=one.untrusted or other.untrusted)


def _unknown(stage: Stage, kind: str, name: str, known: str) -> UnknownName:
    told = f"stage {stage.name!r} hands its work to the {kind} {name!r}, which is not there"
    return UnknownName(told, hint=f"there are: {known or 'none'}")
