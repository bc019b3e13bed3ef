"""Interaction points, and what becomes of a run that nobody watches."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.blueprints.checks.known import Known, tools_of
from handrail.blueprints.edges.always import Always
from handrail.blueprints.labels import AnswerRefused
from handrail.blueprints.model import Blueprint, Stage
from handrail.blueprints.point_faults import point_faults
from handrail.blueprints.points import Approved, InteractionPoint, OnDeadline, Unattended
from handrail.blueprints.problems import Finding, Path, finding, shown


def check_people(blueprint: Blueprint, known: Known) -> Iterator[Finding]:
    """Each point by itself, what its approval leads to, and whether somebody has to be there."""
    for number, stage in enumerate(blueprint.stages):
        for place, point in enumerate(stage.points):
            at: Path = ("stages", number, "points", place)
            for fault in point_faults(point):
                yield Finding(
                    level=fault.level,
                    code=fault.code,
                    path=(*at, *fault.path),
                    message=shown(fault.message),
                    suggestion=fault.suggestion,
                )
            yield from _bound(stage, point, at)
            if _is_unattended(blueprint, stage):
                yield from _waits(point, at)
        yield from _asks(blueprint, stage, ("stages", number), known)


def _is_unattended(blueprint: Blueprint, stage: Stage) -> bool:
    return stage.unattended is not None or blueprint.unattended is not None


def _bound(stage: Stage, point: InteractionPoint, at: Path) -> Iterator[Finding]:
    leaving = _alternatives(stage)
    if len(leaving) < 2:
        return
    open_ended = [label for label in point.labels if _approves(point, label)]
    if not point.labels or open_ended:
        whose = f"{open_ended[0]!r}" if open_ended else "an answer"
        told = f"{whose} does not say which of {', '.join(leaving)} it approves"
        yield finding("approval-binds-no-edge", at, told, "a goto for each option that approves")


def _alternatives(stage: Stage) -> list[str]:
    """Where the stage may go when its work is done: by conditions, by the model, else by the first edge without any.

    An edge behind that one is only for when its visits are used up, and no alternative.
    """
    found: dict[str, None] = {}
    for edge in stage.edges or ():
        if "done" in edge.ends:
            found[edge.to] = None
        if isinstance(edge, Always):
            break
    return sorted(found)


def _approves(point: InteractionPoint, label: str) -> bool:
    try:
        return point.effect(label) == Approved()
    except AnswerRefused:
        return False  # in doubt, which is an error of its own


def _waits(point: InteractionPoint, at: Path) -> Iterator[Finding]:
    if point.unattended is not Unattended.HOLD:
        return
    if point.remind_after is None and (point.deadline is None or point.on_deadline is OnDeadline.WAIT):
        told = f"{point.name!r} waits for ever, and nobody is told"
        yield finding("waits-while-unattended", at, told, 'remind_after = "1d", or a deadline')
        return
    yield finding("holds-unattended", at, f"{point.name!r} holds the run until somebody answers")


def _asks(blueprint: Blueprint, stage: Stage, at: Path, known: Known) -> Iterator[Finding]:
    asking = [tool.name for tool in tools_of(stage.tools, known) if tool.asks]
    if asking and _is_unattended(blueprint, stage) and blueprint.unattended_of(stage).questions == "hold":
        told = f"{', '.join(asking)} would hold {stage.name!r} where nobody is watching"
        yield finding("asks-while-unattended", (*at, "tools"), told, 'unattended = { questions = "refuse" }')
