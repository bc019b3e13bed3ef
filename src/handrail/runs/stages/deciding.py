"""What follows when the work of a stage is over or a question of it was answered: one small step at a time.

An answer is routed, then what the stage owes is asked for, then its points are put in order, then it is left. Each
step is an append of its own, and the next is decided from the events anew, so that it does not matter where a run
died: there is no place in between.
"""

from __future__ import annotations

from handrail.blueprints.edges.model import ByModel
from handrail.blueprints.points import InteractionPoint, OnChange
from handrail.journal import events as ev
from handrail.journal.effects import Advance
from handrail.journal.vocabulary import EndReason
from handrail.runs.regions.contents import missing
from handrail.runs.stages.choosing import ATTEMPTS, asked_for_edge, named
from handrail.runs.stages.documents import document_of
from handrail.runs.stages.leaving import gone, is_available, left
from handrail.runs.stages.notes import host
from handrail.runs.stages.presenting import opened_for_edit, presented
from handrail.runs.stages.records import PointRecord
from handrail.runs.stages.routing import answered
from handrail.runs.stages.scene import Outcome, Scene, Step, failed, outcome_of, said

MAX_REPEATS = 3
"""How often a stage is sent round again for what it owes before it counts as failed."""


def decide(scene: Scene, effect: Advance) -> Step:
    """The next step of the stage that the run is in."""
    outcome = outcome_of(effect)
    for point in scene.stage.points:
        record = scene.visit.points.get(point.name)
        if record is not None and record.closed is not None:
            return answered(scene, point, record, outcome)
        if record is not None and record.wish is not None:
            return opened_for_edit(scene, point, record)
    if scene.visit.choosing is not None:
        return _chosen(scene, scene.visit.choosing, outcome)
    if outcome.ended == "error":
        return left(scene, outcome)
    if outcome.ended == "done" and (owed := _owed(scene)) is not None:
        return owed
    open_points = [point for point in scene.stage.points if not _is_settled(scene, point)]
    return presented(scene, open_points[0], outcome) if open_points else left(scene, outcome)


def _is_settled(scene: Scene, point: InteractionPoint) -> bool:
    """Whether the point let this very document pass; a later change of it asks again, unless the point says no."""
    record = scene.visit.points.get(point.name, PointRecord())
    if record.settled is None:
        return False
    if point.on_change is OnChange.KEEP:
        return True
    document = document_of(scene, point)
    return record.settled == ("" if document is None else document.digest)


def _owed(scene: Scene) -> Step | None:
    """The stage is sent round again for an output or a region it owes; None when it owes nothing."""
    if scene.stage.fan_out is not None and not scene.visit.handed_out:
        return left(scene, failed("the stage ended without handing its work out"))
    if scene.stage.fan_out is not None and scene.stage.fan_out.on_failure == "fail" and scene.visit.undone:
        return left(scene, failed(f"items were not done: {', '.join(scene.visit.undone)}"))
    if scene.stage.output is not None and not scene.visit.has_output:
        return left(scene, failed("the stage ended without its output"))
    presented_by_points = {point.document_region for point in scene.stage.points}
    regions = scene.blueprint.regions_of(scene.stage)
    empty = [one for one in missing(regions, scene.progress.regions) if one.name not in presented_by_points]
    if not empty:
        return None
    names = ", ".join(region.name for region in empty)
    if scene.visit.repeats >= MAX_REPEATS:
        return left(scene, failed(f"nothing was written to what the stage owes: {names}"))
    told = [region.required_message or f"Write {region.name} before you end." for region in empty]
    again = ev.StageRepeated(stage=scene.stage.name, why=f"nothing stands in {names}")
    return Step(events=said(again, host("\n".join(told), scene.stage.name)))


def _chosen(scene: Scene, asked: ev.EdgeAsked, outcome: Outcome) -> Step:
    """Go where the model said; asked once more when it named nothing, then by the declared default."""
    if outcome.ended == "error":
        return left(scene, outcome)
    done = Outcome(ended="done", reason=EndReason.ANSWERED)
    edges = [edge for edge in scene.blueprint.edges_of(scene.stage) if edge.when == "model"]
    choices = [edge for edge in edges if edge.to in asked.targets and is_available(scene, edge.to)]
    to = named(scene.visit.choice or "", [edge.to for edge in choices])
    if to is not None:
        return gone(scene, to, "model", done)
    if asked.attempt < ATTEMPTS:
        return asked_for_edge(scene, [edge for edge in choices if isinstance(edge, ByModel)], asked.attempt + 1)
    default = next((edge for edge in choices if isinstance(edge, ByModel) and edge.is_default), None)
    if default is None:
        return left(scene, failed("the model named no next stage, and there is no default to take"))
    return gone(scene, default.to, "model", done)
