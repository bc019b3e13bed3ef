"""How a run of a blueprint moves between its stages, and round again in one.

What a stage's answers and edges come to is decided elsewhere and stands in these events; here they only move the
run: entered, sent round again, asked for an edge, left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from handrail.journal import events as ev
from handrail.journal.broken import BrokenJournal
from handrail.journal.state import RunPhase, RunState, StageState, State, with_in_force
from handrail.journal.vocabulary import Limits, Route


def _frozen(state: State, run: RunState, body: ev.BlueprintFrozen) -> State:
    if body.digest != run.started.blueprint:
        raise BrokenJournal(f"blueprint {body.digest} is frozen in a run of blueprint {run.started.blueprint}")
    return state


def _entered(state: State, run: RunState, body: ev.StageEntered) -> State:
    if run.stage is not None:
        raise BrokenJournal(f"stage {body.stage!r} is entered while the run is in stage {run.stage.stage!r}")
    limits = body.limits or Limits()
    stage = StageState(
        stage=body.stage,
        visit=body.visit,
        limits=limits,
        entered_limits=limits,
        strategies=body.strategies,
        base=run.spent,
    )
    return replace(state, stage=body.stage, run=_anew(replace(run, stage=stage)))


def _left(state: State, run: RunState, body: ev.StageLeft) -> State:
    """What was adjusted for the stage's rounds ends with them."""
    _check_stage(run, body.stage, "left")
    state = replace(state, stage=None, run=_anew(replace(run, stage=None)))
    return with_in_force(state, tuple(one for one in state.in_force if one.scope == "session"))


def _edge_asked(state: State, run: RunState, body: ev.EdgeAsked) -> State:
    stage = _check_stage(run, body.stage, "to choose its edge")
    return replace(state, run=_anew(replace(run, stage=replace(stage, is_choosing=True, is_over=False))))


def _repeated(state: State, run: RunState, body: ev.StageRepeated) -> State:
    return _again(state, run, _check_stage(run, body.stage, "sent round again"))


def _routed(state: State, run: RunState, body: ev.PointRouted) -> State:
    """Sent round again, the stage works with fresh limits; any other answer leaves its work as it stands."""
    if run.stage is None:
        return state
    if body.route is not Route.DIRECTED:
        return replace(state, run=replace(run, stage=replace(run.stage, is_over=True)))
    return _again(state, run, run.stage)


def _again(state: State, run: RunState, stage: StageState) -> State:
    again = replace(
        stage, limits=stage.entered_limits, base=run.spent, outside=(), is_fresh=True, is_over=False, is_choosing=False
    )
    return with_in_force(replace(state, run=_anew(replace(run, stage=again))), state.in_force)


def _anew(run: RunState) -> RunState:
    """``run`` ready for a new stretch of work; what the last one came to stands in its events."""
    return replace(
        run,
        phase=RunPhase.READY,
        boundary=None,
        calls=(),
        ending=None,
        finished_by=None,
        output=None,
        is_interrupted=False,
        is_retry=False,
        retry_at=None,
        asked_near=(),
        asked_reached=(),
        grace="none",
        grace_bound=None,
    )


def _summed(state: State, run: RunState, body: ev.RegionSummed) -> State:
    """What a summary took counts, whatever came of it."""
    spent = replace(
        run.spent,
        seconds=run.spent.seconds + body.elapsed_s,
        tokens=run.spent.tokens + body.tokens,
        cost=run.spent.cost + body.cost,
    )
    return replace(state, run=replace(run, spent=spent))


def _check_stage(run: RunState, stage: str, what: str) -> StageState:
    if run.stage is None or run.stage.stage != stage:
        raise BrokenJournal(f"stage {stage!r} is {what} while the run is not in it")
    return run.stage


def _unchanged(state: State, run: RunState, body: object) -> State:
    return state


STAGE_HANDLERS: dict[type, Callable[[State, RunState, Any], State]] = {
    ev.BlueprintFrozen: _frozen,
    ev.StageEntered: _entered,
    ev.StageLeft: _left,
    ev.EdgeAsked: _edge_asked,
    ev.StageRepeated: _repeated,
    ev.PointRouted: _routed,
    ev.RegionWritten: _unchanged,
    ev.RegionSummed: _summed,
    ev.FanOutPlanned: _unchanged,
}
