"""Where a stage leads when its work is over: its edges in order, decided by code, by the model only where declared."""

from __future__ import annotations

from collections.abc import Sequence

from handrail.agents.asks import BOTH
from handrail.agents.regions import RegionRefused
from handrail.agents.writer import Said
from handrail.blueprints.edges import END, EdgeBase
from handrail.blueprints.edges.model import ByModel
from handrail.journal import events as ev
from handrail.journal.effects import End
from handrail.journal.vocabulary import DRIVER, EndReason
from handrail.runs.regions.drafts import Origin
from handrail.runs.regions.writing import replaced
from handrail.runs.stages.choosing import asked_for_edge
from handrail.runs.stages.documents import pretty
from handrail.runs.stages.measuring import visit_of
from handrail.runs.stages.scene import Outcome, Scene, Step, failed, said
from handrail.transcripts.model import Json

_FINISHED = (EndReason.ANSWERED, EndReason.TOOL_FINISHED, EndReason.STRATEGY_FINISH)


def left(scene: Scene, outcome: Outcome, before: tuple[Said, ...] = ()) -> Step:
    """Leave the stage, ``before`` first. Where no edge is left to take, the run ends: by an error, or as it came."""
    if outcome.ended in ("limit", "stuck") and _is_approved(scene):
        # A person saw how far it came and let it pass: its work counts as done.
        outcome = Outcome(ended="done", reason=EndReason.ANSWERED)
    goto = scene.visit.goto
    if goto is not None and outcome.ended == "done":
        if not is_available(scene, goto):
            return left(scene, failed(f"stage {goto} may not be entered once more"), before)
        return gone(scene, goto, "goto", outcome, before)
    edges = scene.blueprint.edges_of(scene.stage)
    edge = _fitting(scene, edges, outcome)
    if edge is not None:
        return gone(scene, edge.to, edge.when, outcome, before)
    if outcome.ended != "done":
        return _ended(scene, outcome, before)
    return _chosen_by_model(scene, edges, outcome, before)


def _chosen_by_model(scene: Scene, edges: Sequence[EdgeBase], outcome: Outcome, before: tuple[Said, ...]) -> Step:
    choices = [edge for edge in edges if isinstance(edge, ByModel) and is_available(scene, edge.to)]
    if len(choices) > 1:
        return asked_for_edge(scene, choices, 1, before)
    if choices:
        return gone(scene, choices[0].to, choices[0].when, outcome, before)
    if not edges:
        return gone(scene, END, "none", outcome, before)
    lost = failed(f"no way out of stage {scene.stage.name} is open")
    edge = _fitting(scene, edges, lost)
    return _ended(scene, lost, before) if edge is None else gone(scene, edge.to, edge.when, lost, before)


def _fitting(scene: Scene, edges: Sequence[EdgeBase], outcome: Outcome) -> EdgeBase | None:
    """The first edge that stands for such an end, fits the visit, and whose stage may still be entered."""
    seen = visit_of(scene.progress, scene.visit, outcome.ended, outcome.bound)
    for edge in edges:
        if outcome.ended not in edge.ends or not is_available(scene, edge.to):
            continue
        # A strategy of the host's that stopped the stage has measured by itself.
        if edge.fits(seen) or (outcome.ended == "stuck" and not scene.visit.is_stuck):
            return edge
    return None


def is_available(scene: Scene, to: str) -> bool:
    """Whether the run may end, or the stage ``to`` be entered once more."""
    if to == END:
        return True
    limit = scene.blueprint.stage(to).max_visits
    return limit is None or scene.progress.visits[to] < limit


def gone(scene: Scene, to: str, edge: str, outcome: Outcome, before: tuple[Said, ...] = ()) -> Step:
    """Leave by ``edge`` to the stage ``to``, or to the end; the typed output is kept in its region."""
    try:
        kept = _kept(scene) if outcome.ended == "done" else ()
    except RegionRefused as problem:
        return left(scene, failed(f"the output cannot be kept: {problem}"), before)
    stage = scene.stage.name
    event = ev.StageLeft(stage=stage, edge=edge, to=None if to == END else to, reason=_reason(outcome))
    events = (*before, *kept, *said(event))
    return Step(events=events, end=_end(scene, outcome)) if to == END else Step(events=events, enters=to)


def _ended(scene: Scene, outcome: Outcome, before: tuple[Said, ...]) -> Step:
    event = ev.StageLeft(stage=scene.stage.name, edge="none", reason=_reason(outcome))
    return Step(events=(*before, *said(event)), end=_end(scene, outcome))


def _end(scene: Scene, outcome: Outcome) -> End:
    if outcome.ended != "done":
        return End(reason=outcome.reason, detail=outcome.detail)
    reason = outcome.reason if outcome.reason in _FINISHED else EndReason.ANSWERED
    return End(reason=reason, output=_product(scene))


def _product(scene: Scene) -> Json:
    product = scene.visit.product
    return None if product == "" else product


def _reason(outcome: Outcome) -> str:
    return f"{outcome.reason.value}: {outcome.detail}" if outcome.detail else outcome.reason.value


def _kept(scene: Scene) -> tuple[Said, ...]:
    output = scene.stage.output
    if output is None or output.region is None or not scene.visit.has_output:
        return ()
    held = scene.progress.regions.get(output.region, ())
    origin = Origin(scene.state.taint or BOTH, DRIVER)
    region = scene.blueprint.region(output.region)
    entries = replaced(region, held, pretty(scene.visit.output), scene.size, origin)
    return said(ev.RegionWritten(region=output.region, entries=entries, stage=scene.stage.name))


def _is_approved(scene: Scene) -> bool:
    points = scene.visit.points.values()
    return any(record.is_approved and record.is_person and record.settled is not None for record in points)
