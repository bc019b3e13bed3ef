"""How a run moves: requests, responses, what others send, decisions, bounds, its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from handrail.journal import events as ev
from handrail.journal.boundaries import after_boundary, after_refusal
from handrail.journal.broken import BrokenJournal
from handrail.journal.fold_calls import after_agent
from handrail.journal.lifting import lifted
from handrail.journal.spending import after_decision
from handrail.journal.state import (
    CallState,
    Ending,
    InForce,
    RunPhase,
    RunState,
    State,
    with_in_force,
    with_run,
    without_round_scope,
)
from handrail.journal.vocabulary import Boundary, Choice, EndReason
from handrail.transcripts.model import ToolUse, Usage

_ENDS = {
    Choice.STOP: EndReason.STRATEGY_STOP,
    Choice.FINISH: EndReason.STRATEGY_FINISH,
    Choice.FAIL: EndReason.FAILED,
    Choice.PAUSE: EndReason.WAITING,
}


def _ended(state: State, run: RunState, body: ev.RunEnded) -> State:
    if body.run != run.started.run:
        raise BrokenJournal(f"run {body.run} ends while run {run.started.run} is open")
    in_force = tuple(one for one in state.in_force if one.scope == "session")
    return replace(state, run=None, stage=None, in_force=in_force)


def _unchanged(state: State, run: RunState, body: object) -> State:
    return state


def _stop(state: State, run: RunState, body: ev.StopRequested) -> State:
    return with_run(state, run, is_stopping=True, why=body.reason)


def _cancel(state: State, run: RunState, body: ev.CancelRequested) -> State:
    return with_run(state, run, is_cancelled=True, why=body.reason)


def _interrupt(state: State, run: RunState, body: ev.Interrupted) -> State:
    return with_run(state, run, is_interrupted=True, why=body.reason)


def _pause(state: State, run: RunState, body: ev.PauseRequested) -> State:
    return with_run(state, run, is_paused=True)


def _resume(state: State, run: RunState, body: ev.ResumeRequested) -> State:
    return with_run(state, run, is_paused=False)


# What others send


def _received(state: State, run: RunState, body: ev.InputReceived) -> State:
    return with_run(state, run, queue=(*run.queue, body))


def _delivered(state: State, run: RunState, body: ev.InputDelivered) -> State:
    waiting = {one.input for one in run.queue}
    for name in body.inputs:
        if name not in waiting:
            raise BrokenJournal(f"input {name!r} is delivered but is not in the queue")
    return with_run(state, run, queue=tuple(one for one in run.queue if one.input not in body.inputs))


def _returned(state: State, run: RunState, body: ev.InputReturned) -> State:
    left = tuple(one for one in run.queue if one.input != body.input)
    if len(left) == len(run.queue):
        raise BrokenJournal(f"input {body.input!r} is returned but is not in the queue")
    return with_run(state, run, queue=left)


# The model


def _requested(state: State, run: RunState, body: ev.ModelRequested) -> State:
    if run.phase is RunPhase.CALLING:
        raise BrokenJournal("the model is asked while it is being asked")
    spent = replace(run.spent, requests=run.spent.requests + 1, rounds=max(run.spent.rounds, body.round))
    return with_run(
        state,
        run,
        phase=RunPhase.CALLING,
        boundary=None,
        calls=(),
        spent=spent,
        is_interrupted=False,
        is_retry=False,
        retry_at=None,
        finished_by=None,
        stage=run.stage if run.stage is None or not run.stage.is_fresh else replace(run.stage, is_fresh=False),
    )


def _replied(state: State, run: RunState, body: ev.ModelReplied) -> State:
    if run.phase is not RunPhase.CALLING:
        raise BrokenJournal("the model replied without having been asked")
    message = body.message
    names = dict.fromkeys(block.id for block in message.content if type(block) is ToolUse)
    calls = tuple(CallState(call=name) for name in names)
    spent = replace(
        run.spent,
        tokens=run.spent.tokens + _tokens(message.usage),
        cost=run.spent.cost + body.cost,
        seconds=run.spent.seconds + body.elapsed_s,
    )
    moved = with_run(
        replace(state, context_tokens=_context(message.usage)),
        run,
        phase=RunPhase.TOOLS if calls else RunPhase.BOUNDARY,
        boundary=None if calls else Boundary.ASSISTANT_MESSAGE_COMMITTED,
        calls=calls,
        spent=spent,
        stop_reason=message.stop_reason,
        grace="used" if run.grace == "granted" else run.grace,
    )
    return moved if calls else without_round_scope(moved)


def _tokens(usage: Usage | None) -> int:
    return 0 if usage is None else usage.input_tokens + usage.output_tokens


def _context(usage: Usage | None) -> int:
    if usage is None:
        return 0
    return _tokens(usage) + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)


def _model_failed(state: State, run: RunState, body: ev.ModelFailed) -> State:
    if run.phase is not RunPhase.CALLING:
        raise BrokenJournal("a request failed that was not sent")
    spent = replace(run.spent, seconds=run.spent.seconds + body.elapsed_s)
    is_over = body.retry_at is None and not body.is_interrupted
    return with_run(
        state,
        run,
        phase=RunPhase.READY,
        spent=spent,
        is_retry=not body.is_interrupted,
        retry_at=body.retry_at,
        ending=Ending(reason=EndReason.FAILED, detail=body.error) if is_over else None,
    )


def _compacted(state: State, run: RunState, body: ev.Compacted) -> State:
    spent = replace(
        run.spent,
        seconds=run.spent.seconds + body.elapsed_s,
        tokens=run.spent.tokens + body.tokens,
        cost=run.spent.cost + body.cost,
    )
    return with_run(replace(state, context_tokens=0), run, spent=spent)


def _compaction_failed(state: State, run: RunState, body: ev.CompactionFailed) -> State:
    spent = replace(run.spent, seconds=run.spent.seconds + body.elapsed_s)
    return with_run(replace(state, context_tokens=0), run, spent=spent)


# Decisions


def _decided(state: State, run: RunState, body: ev.BoundaryDecided) -> State:
    """What a boundary's decision does; a refused one does nothing but be recorded."""
    run = replace(run, spent=after_decision(run.spent, body.contributions))
    if body.boundary is Boundary.LIMIT_NEAR and body.bound is not None:
        run = replace(run, asked_near=(*run.asked_near, body.bound))
    if body.boundary is Boundary.LIMIT_REACHED and body.bound is not None:
        run = replace(run, asked_reached=(*run.asked_reached, body.bound))
    if not body.is_accepted:
        return replace(state, run=after_refusal(run, body.boundary, body.bound, body.why))
    if body.choice is Choice.CONTINUE:
        return replace(state, run=after_boundary(run, body.boundary, body.bound))
    if body.choice in (Choice.INJECT, Choice.RETRY):
        run = replace(run, phase=RunPhase.READY, boundary=None, finished_by=None, is_interrupted=False)
        if body.boundary is Boundary.LIMIT_REACHED:
            run = replace(run, grace="granted", grace_bound=body.bound)
        return replace(state, run=run)
    if body.choice is Choice.PAUSE and run.stage is not None:
        # The stage waits for the answer and goes on with it; the run stays open.
        return with_run(state, run, phase=RunPhase.READY, boundary=None, finished_by=None, is_interrupted=False)
    return with_run(state, run, ending=Ending(reason=_ENDS[body.choice], detail=body.note, output=body.output))


def _injected(state: State, run: RunState, body: ev.Injected) -> State:
    return state if body.stage is not None else with_run(state, run, injections=run.injections + 1)


def _adjusted(state: State, run: RunState, body: ev.Adjusted) -> State:
    moved = with_in_force(replace(state, run=run), (*state.in_force, InForce(body.adjustment, body.scope)))
    return moved if body.adjustment.limits is None else lifted(moved)


def _bound_reached(state: State, run: RunState, body: ev.BoundReached) -> State:
    stage = run.stage
    if body.stage is None or stage is None:
        return with_run(state, run, outside=(*run.outside, body.bound))
    # A last round that was cut off was the last all the same.
    grace = "used" if run.grace == "granted" else run.grace
    return with_run(state, run, grace=grace, stage=replace(stage, outside=(*stage.outside, body.bound)))


def _child_ended(state: State, run: RunState, body: ev.ChildEnded) -> State:
    """What a child spent counts here. Its time does not: the call that waits for it is timed already."""
    spent = replace(run.spent, tokens=run.spent.tokens + body.tokens, cost=run.spent.cost + body.cost)
    left = tuple(child for child in state.children if child != body.child)
    return with_run(replace(state, children=left), run, spent=spent, calls=after_agent(run.calls, body))


RUN_HANDLERS: dict[type, Callable[[State, RunState, Any], State]] = {
    ev.RunEnded: _ended,
    ev.PromptGiven: _unchanged,
    ev.StopRequested: _stop,
    ev.CancelRequested: _cancel,
    ev.Interrupted: _interrupt,
    ev.PauseRequested: _pause,
    ev.ResumeRequested: _resume,
    ev.InputReceived: _received,
    ev.InputDelivered: _delivered,
    ev.InputReturned: _returned,
    ev.Injected: _injected,
    ev.ModelRequested: _requested,
    ev.ModelReplied: _replied,
    ev.ModelFailed: _model_failed,
    ev.Compacted: _compacted,
    ev.CompactionFailed: _compaction_failed,
    ev.BoundaryDecided: _decided,
    ev.Adjusted: _adjusted,
    ev.BoundReached: _bound_reached,
    ev.ChildEnded: _child_ended,
}
