"""How the calls of a response move: asked, admitted, started, settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from handrail.journal import events as ev
from handrail.journal.broken import BrokenJournal
from handrail.journal.state import CallPhase, CallState, RunPhase, RunState, State, with_run, without_round_scope
from handrail.journal.vocabulary import Boundary, EndReason


def at_boundary_when_settled(state: State, run: RunState) -> State:
    """``state`` at the tool boundary, when the run has no call left to carry out."""
    if run.phase is not RunPhase.TOOLS:
        return state
    for call in run.calls:
        if call.phase is not CallPhase.SETTLED:
            return state
    moved = with_run(state, run, phase=RunPhase.BOUNDARY, boundary=Boundary.TOOL_RESULTS_COMMITTED)
    return without_round_scope(moved)


def _call(run: RunState, name: str) -> CallState:
    for found in run.calls:
        if found.call == name:
            if found.phase is CallPhase.SETTLED:
                raise BrokenJournal(f"call {name!r} has its result already")
            return found
    raise BrokenJournal(f"the last response has no call {name!r}")


def _with_call(state: State, run: RunState, call: CallState, **changes: Any) -> State:
    changed = replace(call, **changes)
    return with_run(state, run, calls=tuple([changed if one is call else one for one in run.calls]))


def _requested(state: State, run: RunState, body: ev.ToolRequested) -> State:
    call = _call(run, body.call)
    return _with_call(
        state,
        run,
        call,
        phase=CallPhase.ADMITTED,
        traits=body.traits,
        hooks=body.hooks,
        needs_approval=body.needs_approval,
    )


def _rewritten(state: State, run: RunState, body: ev.ToolRewritten) -> State:
    call = _call(run, body.call)
    return _with_call(state, run, call, needs_approval=body.needs_approval, is_approved=False)


def _hook_ran(state: State, run: RunState, body: ev.HookRan) -> State:
    call = _call(run, body.call)
    if body.hook not in call.hooks:
        raise BrokenJournal(f"hook {body.hook!r} was not due for call {body.call!r}")
    hooks = list(call.hooks)
    hooks.remove(body.hook)
    run = replace(run, spent=replace(run.spent, seconds=run.spent.seconds + body.elapsed_s))
    return _with_call(state, run, call, hooks=tuple(hooks))


def _started(state: State, run: RunState, body: ev.ToolStarted) -> State:
    call = _call(run, body.call)
    if call.phase not in (CallPhase.ADMITTED, CallPhase.LOST):
        raise BrokenJournal(f"call {body.call!r} starts while it is {call.phase}")
    if call.phase is CallPhase.ADMITTED:
        run = replace(run, spent=replace(run.spent, tool_calls=run.spent.tool_calls + 1))
    return _with_call(state, run, call, phase=CallPhase.STARTED, attempts=call.attempts + 1, was_ended=False)


def _finished(state: State, run: RunState, body: ev.ToolFinished) -> State:
    call = _call(run, body.call)
    state = replace(state, taint=None if state.taint is None else state.taint | body.taint)
    run = replace(run, spent=replace(run.spent, seconds=run.spent.seconds + body.elapsed_s))
    is_good = not body.is_error and body.refusal is None
    if call.traits.is_terminal and is_good and run.finished_by is None:
        run = replace(run, finished_by=body.call, output=body.output)
    return _settle(state, run, call)


def _unknown_outcome(state: State, run: RunState, body: ev.ToolOutcomeUnknown) -> State:
    return _settle(state, run, _call(run, body.call))


def _settle(state: State, run: RunState, call: CallState) -> State:
    moved = _with_call(state, run, call, phase=CallPhase.SETTLED)
    return moved if moved.run is None else at_boundary_when_settled(moved, moved.run)


def agent_spawned(state: State, run: RunState, body: ev.ChildSpawned) -> State:
    """An agent belongs to the call that started it."""
    call = next((one for one in run.calls if one.call == body.call), None)
    return state if call is None else _with_call(state, run, call, agents=(*call.agents, body.child))


def after_agent(calls: tuple[CallState, ...], ended: ev.ChildEnded) -> tuple[CallState, ...]:
    """``calls`` once an agent has ended. A call that is carried out goes on with what came of it; a lost one waited
    for it, and is ended with it where that did not end by itself."""
    if ended.reason is not EndReason.CANCELLED:
        return calls
    return tuple(
        replace(one, was_ended=True) if ended.child in one.agents and one.phase is CallPhase.LOST else one
        for one in calls
    )


CALL_HANDLERS: dict[type, Callable[[State, RunState, Any], State]] = {
    ev.ToolRequested: _requested,
    ev.ToolRewritten: _rewritten,
    ev.HookRan: _hook_ran,
    ev.ToolStarted: _started,
    ev.ToolFinished: _finished,
    ev.ToolOutcomeUnknown: _unknown_outcome,
}
