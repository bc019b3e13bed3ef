"""The round order as a pure function: from where a run stands to what comes next.

At a boundary: limits and cancellation, then queued steers, then queued follow-ups (only where the run would
otherwise end), then the strategies, then the default flow. Where an input was just taken the strategies are not
asked. Every end but a failure and a cancellation passes a boundary first.

In a run of a blueprint that order holds within a stage, whose work ends where another run would end: what follows is
said by ``Advance``, once no question of the stage is open any more.
"""

from __future__ import annotations

from datetime import datetime

from handrail.journal.boundaries import after_boundary
from handrail.journal.broken import NotDrivable
from handrail.journal.effects import Advance, CallModel, Compact, Decide, Effect, End, WaitUntil
from handrail.journal.limits import near, reached, run_bound, why_not
from handrail.journal.state import CallPhase, Ending, RunPhase, RunState, State, adjustment_of, stage_asks
from handrail.journal.tool_steps import tool_effects
from handrail.journal.vocabulary import Bound, Boundary, EndReason
from handrail.journal.waiting import wait_for


def next_effects(state: State, now: datetime) -> tuple[Effect, ...]:
    """What to do next; empty when there is no run, or when all there is to do is in flight.

    ``NotDrivable`` when the journal holds kinds that this release does not know.
    """
    if state.unknown:
        raise NotDrivable(f"unknown kinds of events: {', '.join(state.unknown)}", hint="a newer Handrail wrote them")
    run = state.run
    if run is None:
        return ()
    if run.is_cancelled:
        return (End(reason=EndReason.CANCELLED, detail=run.why),)
    if run.is_paused and not run.is_stopping:
        return () if _is_in_flight(run) else (WaitUntil(is_paused=True, asks=tuple(ask.ask for ask in state.asks)),)
    if run.ending is not None:
        return (_over(state, run, run.ending, now),)
    if run.started.blueprint is not None and run.stage is None:
        return (Advance(stage=None, reason=EndReason.ANSWERED),)
    if run.phase is RunPhase.CALLING:
        return ()
    if run.phase is RunPhase.TOOLS:
        return tool_effects(state, run, now)
    if run.phase is RunPhase.BOUNDARY and run.boundary is not None:
        return _at_boundary(state, run, run.boundary, now)
    return _ready(state, run, now)


def _is_in_flight(run: RunState) -> bool:
    """Whether something was started that will land by itself."""
    is_working = any(call.phase is CallPhase.STARTED and call.ask is None for call in run.calls)
    return run.phase is RunPhase.CALLING or (run.phase is RunPhase.TOOLS and is_working)


def _over(state: State, run: RunState, ending: Ending, now: datetime) -> Effect:
    """What follows the end of the work: the end of the run, or what the blueprint says of its stage."""
    if run.stage is None:
        return _end(ending)
    if run.is_stopping or ending.reason is EndReason.STOP_REQUESTED:
        return End(reason=EndReason.STOP_REQUESTED, detail=run.why)
    spent = run_bound(run)
    if spent is not None and ending.reason == EndReason(spent.value):
        return _end(ending)
    asks = stage_asks(state)
    if asks:
        return wait_for(state, asks, now)
    return Advance(stage=run.stage.stage, reason=ending.reason, detail=ending.detail, output=ending.output)


def _at_boundary(state: State, run: RunState, boundary: Boundary, now: datetime) -> tuple[Effect, ...]:
    if run.stage is not None and run.stage.is_choosing:
        return (Advance(stage=run.stage.stage, reason=EndReason.ANSWERED),)
    obstacle = why_not(run)
    after = after_boundary(run, boundary, None)
    if run.stage is not None and run.stage.is_over and after.ending is not None:
        # What is sent while a person is asked goes with the next request there is, and answers nothing.
        return (_over(state, run, after.ending, now),)
    if obstacle is None:
        inputs = _due(run, would_end=after.ending is not None)
        if inputs:
            return (_call(state, run, inputs, now),)
    elif after.ending is None:
        # A bound is spent and the run wanted to go on: that is the limit's boundary, and strategies are asked once.
        return _ready(state, run, now)
    if run.strategies:
        return (Decide(boundary=boundary, round=run.spent.rounds, why_not=obstacle),)
    return _ready(state, run, now) if after.ending is None else (_over(state, run, after.ending, now),)


def _ready(state: State, run: RunState, now: datetime) -> tuple[Effect, ...]:
    if run.is_stopping:
        return (End(reason=EndReason.STOP_REQUESTED, detail=run.why),)
    asks = stage_asks(state)
    if asks:
        return (wait_for(state, asks, now),)
    bound = reached(run)
    if run.is_interrupted:
        inputs = _due(run, would_end=True) if bound is None else ()
        if not inputs:
            return (End(reason=EndReason.STOP_REQUESTED, detail=run.why or "interrupted"),)
        return (_call(state, run, inputs, now),)
    if run.retry_at is not None and now < run.retry_at:
        return (WaitUntil(at=run.retry_at),)
    if run.grace == "granted":
        return (_call(state, run, (), now),)
    if bound is not None:
        return _limit_reached(state, run, bound, now)
    stage = run.stage
    if run.strategies and not run.is_retry and not (stage is not None and stage.is_choosing):
        close = near(run)
        if close is not None:
            return (Decide(boundary=Boundary.LIMIT_NEAR, round=run.spent.rounds, bound=close),)
    # A stage begins where another one's last boundary was: what was queued since goes with its first request.
    is_first = stage is not None and stage.is_fresh and not stage.is_choosing
    return (_call(state, run, _due(run, would_end=False) if is_first else (), now),)


def _limit_reached(state: State, run: RunState, bound: Bound, now: datetime) -> tuple[Effect, ...]:
    if run.strategies and run.grace == "none" and bound not in run.asked_reached:
        return (Decide(boundary=Boundary.LIMIT_REACHED, round=run.spent.rounds, bound=bound, why_not=why_not(run)),)
    return (_over(state, run, Ending(reason=EndReason(bound.value)), now),)


def _call(state: State, run: RunState, inputs: tuple[str, ...], now: datetime) -> CallModel | Compact:
    """The next request, or the compaction that has to come before it."""
    limit = run.started.compact_at
    if limit is not None and state.context_tokens >= limit:
        return Compact(context_tokens=state.context_tokens)
    return CallModel(
        request=run.spent.requests + 1,
        round=run.spent.rounds if run.is_retry else run.spent.rounds + 1,
        deliver=inputs,
        adjustment=adjustment_of(state),
        is_without_tools=run.grace == "granted" or (run.stage is not None and run.stage.is_choosing),
    )


def _due(run: RunState, *, would_end: bool) -> tuple[str, ...]:
    """The queued inputs that are delivered here: steers anywhere, follow-ups only where the run would end."""
    steers = [one.input for one in run.queue if one.via == "steer"]
    if steers:
        return tuple(steers if run.started.steers == "all" else steers[:1])
    if not would_end:
        return ()
    waiting = [one.input for one in run.queue]
    return tuple(waiting if run.started.follow_ups == "all" else waiting[:1])


def _end(ending: Ending) -> End:
    return End(reason=ending.reason, detail=ending.detail, output=ending.output)
