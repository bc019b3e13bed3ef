"""Entering a stage: what it may spend, what its regions begin with, and what the model is told of the change."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.agents.writer import Said
from handrail.blueprints.model import Blueprint, Stage
from handrail.journal import events as ev
from handrail.journal.state import State
from handrail.journal.vocabulary import RegionEntry
from handrail.runs.regions.contents import Contents, taint_of
from handrail.runs.regions.seeding import Ground, seeded
from handrail.runs.regions.size import Size
from handrail.runs.stages import notes
from handrail.runs.stages.progress import Progress
from handrail.runs.stages.scene import said
from handrail.transcripts.model import Taint


async def fetched(blueprint: Blueprint, stage: Stage, progress: Progress, ground: Ground, size: Size) -> Contents:
    """What regions begin with when ``stage`` is entered: the stage's own seeds, and at first those of all regions.

    ``SeedFailed`` where one cannot be had.
    """
    found: dict[str, tuple[RegionEntry, ...]] = {}
    if not progress.visits:
        for region in blueprint.regions:
            if region.seed is not None:
                found[region.name] = await seeded(region, region.seed, ground, size)
    for name, seed in stage.seeds.items():
        found[name] = await seeded(blueprint.region(name), seed, ground, size)
    return found


def entering(
    stage: Stage,
    visit: int,
    state: State,
    seeds: Mapping[str, tuple[RegionEntry, ...]],
    names: tuple[str, ...],
    left: ev.StageLeft | None,
) -> tuple[Said, ...]:
    """The events that enter ``stage`` for the ``visit``-th time, after ``left`` (None: it is the first).

    At its boundaries the strategies called ``names`` are asked.
    """
    entered = ev.StageEntered(stage=stage.name, visit=visit, limits=stage.limits.limits(), strategies=names)
    written = [ev.RegionWritten(region=name, entries=held, stage=stage.name) for name, held in seeds.items()]
    taint = Taint()
    for held in seeds.values():
        taint |= taint_of(held)
    tainted = () if _is_known(state, taint) else (ev.TaintRaised(taint, "what regions begin with"),)
    told = () if left is None else (notes.host(notes.entered(stage.name, stage.description, visit, left), stage.name),)
    return said(entered, *written, *tainted, *told)


def _is_known(state: State, taint: Taint) -> bool:
    return state.taint is None or state.taint | taint == state.taint
