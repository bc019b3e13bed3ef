"""Seeing to the regions of a stage before its model is asked again: each step is given to be recorded as it is done."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TypeAlias

from msgspec import Struct

from handrail.agents.summarising import Ask, Summary
from handrail.blueprints.regions import Compacting, Region, Sliding
from handrail.journal.events import BoundReached, RegionSummed, RegionWritten
from handrail.journal.vocabulary import Actor, RegionEntry
from handrail.runs.regions.contents import Contents, is_conversation
from handrail.runs.regions.drafts import Origin
from handrail.runs.regions.size import Size
from handrail.runs.regions.summing import Due, request_of, summed
from handrail.runs.regions.upkeep import upkeep_of
from handrail.runs.regions.view import view_of
from handrail.transcripts.model import Message, Taint

Step: TypeAlias = tuple[RegionWritten | RegionSummed | BoundReached, ...]
"""Events that are appended as one."""


class Standing(Struct, frozen=True, kw_only=True):
    """Where a stage stands before a request: what it sees, and what the model would be shown of it.

    ``stage_from`` is the message that the stage began with, ``taint`` what had entered the conversation, ``by`` the
    model that sums up. ``passed_over`` are regions that were summed up in vain and not written since.
    """

    stage: str
    visible: tuple[Region, ...]
    contents: Contents
    instructions: str
    messages: Sequence[Message]
    size: Size
    taint: Taint
    by: Actor
    stage_from: int = 0
    passed_over: frozenset[str] = frozenset()


def needs_upkeep(visible: Sequence[Region]) -> bool:
    """Whether any of ``visible`` is of a kind that there is ever anything to see to in."""
    return any(
        isinstance(region, Compacting)
        or (isinstance(region, Sliding) and (region.strategy == "compact" or not is_conversation(region)))
        for region in visible
    )


async def keeping(standing: Standing, ask: Ask) -> AsyncGenerator[Step, None]:
    """What is to be recorded, step by step, so that a summary that was paid for is not asked for twice.

    Raises what ``ask`` raises when it is cut off; what was given until then stands.
    """
    if not needs_upkeep(standing.visible):
        return
    view = view_of(
        standing.visible,
        standing.contents,
        standing.instructions,
        standing.messages,
        standing.size,
        stage_from=standing.stage_from,
    )
    upkeep = upkeep_of(
        standing.visible,
        standing.contents,
        standing.messages,
        view,
        standing.size,
        standing.taint,
        stage_from=standing.stage_from,
        passed_over=standing.passed_over,
    )
    if upkeep.changed:
        yield tuple(_written(standing, name, entries) for name, entries in upkeep.changed.items())
    held = {**standing.contents, **upkeep.changed}
    by_name = {region.name: region for region in standing.visible}
    for due in upkeep.dues:
        summary = await ask(request_of(due))
        yield _kept(standing, by_name[due.region], held.get(due.region, ()), due, summary)


def _kept(standing: Standing, region: Region, entries: tuple[RegionEntry, ...], due: Due, summary: Summary) -> Step:
    made = summed(region, entries, due, summary.words, standing.size, Origin(standing.taint, standing.by))
    is_kept = made != entries
    told = RegionSummed(
        region=region.name,
        stage=standing.stage,
        is_kept=is_kept,
        error=summary.error,
        elapsed_s=summary.elapsed_s,
        tokens=summary.charge.tokens or 0,
        cost=summary.charge.cost or 0.0,
        is_unpriced=summary.charge.cost is None,
    )
    return (told, *((_written(standing, region.name, made),) if is_kept else ()), *summary.bounds)


def _written(standing: Standing, name: str, entries: tuple[RegionEntry, ...]) -> RegionWritten:
    return RegionWritten(region=name, entries=entries, stage=standing.stage)
