"""``State = fold(events)``: pure, total over known kinds, and nothing is ever called again.

``fold(a + b) == fold(b, fold(a))``. An event that cannot have happened there (a gap in the sequence, a second open
run, a result for no call) raises ``BrokenJournal``; an unknown kind is taken in and makes the state undrivable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from handrail.journal import events as ev
from handrail.journal.broken import BrokenJournal
from handrail.journal.fold_calls import CALL_HANDLERS, agent_spawned, at_boundary_when_settled
from handrail.journal.fold_runs import RUN_HANDLERS
from handrail.journal.fold_stages import STAGE_HANDLERS
from handrail.journal.refusals import refusal_of
from handrail.journal.state import (
    CallPhase,
    CallState,
    RunPhase,
    RunState,
    State,
    Vote,
    holds_stage,
    limits_in_force,
    open_ask,
    with_run,
)
from handrail.journal.vocabulary import Actor, AskKind
from handrail.journal.wire import type_of


def fold(events: Iterable[ev.Event], state: State | None = None) -> State:
    """The state after ``events``, from ``state`` on (from an empty session when None)."""
    current = State() if state is None else state
    for event in events:
        current = apply(current, event)
    return current


def apply(state: State, event: ev.Event) -> State:
    """The state after one more event."""
    if event.seq != state.seq + 1:
        raise BrokenJournal(f"event {event.seq} follows event {state.seq}")
    body = event.body
    if event.inbox is None:
        moved = replace(state, seq=event.seq)
    else:
        moved = replace(state, seq=event.seq, inbox=max(state.inbox, event.inbox))
    run_handler = _IN_RUN.get(type(body))
    if run_handler is not None and moved.run is not None:
        return run_handler(moved, moved.run, body)
    if isinstance(body, ev.Unknown):
        known = body.type in state.unknown
        return moved if known else replace(moved, unknown=(*state.unknown, type_of(body)))
    if not state.is_open and not isinstance(body, ev.SessionOpened):
        raise BrokenJournal(f"{type_of(body)} stands before the session was opened")
    if isinstance(body, ev.AskClosed):
        return _ask_closed(moved, body, event.by)
    if isinstance(body, ev.AskVoted):
        return _voted(moved, body, event.by)
    if run_handler is not None:
        raise BrokenJournal(f"{type_of(body)} in no run")
    return SESSION_HANDLERS[type(body)](moved, body)


# The session ------------------------------------------------------------------------------------------------


def _opened(state: State, body: ev.SessionOpened) -> State:
    if state.is_open:
        raise BrokenJournal("the session is opened twice")
    return replace(state, is_open=True)


def _imported(state: State, body: ev.MessageImported) -> State:
    _between_runs(state, "a message is imported")
    taint = body.message.taint
    return replace(state, taint=None if taint is None or state.taint is None else state.taint | taint)


def _rewound(state: State, body: ev.Rewound) -> State:
    _between_runs(state, "the session is rewound")
    if not 0 < body.to < state.seq:
        raise BrokenJournal(f"the session is rewound to event {body.to}, which is not before it")
    return replace(state, context_tokens=0)


def _took_over(state: State, body: ev.DriverTookOver) -> State:
    """What was in flight is lost: a request is sent again, a started call is settled by what the tool declared."""
    if body.epoch <= state.epoch:
        raise BrokenJournal(f"epoch {body.epoch} follows epoch {state.epoch}")
    state = replace(state, epoch=body.epoch)
    run = state.run
    if run is None:
        return state
    if run.phase is RunPhase.CALLING:
        return with_run(state, run, phase=RunPhase.READY, is_retry=True)
    return with_run(state, run, calls=tuple(map(_lost, run.calls)))


def _lost(call: CallState) -> CallState:
    return replace(call, phase=CallPhase.LOST) if call.phase is CallPhase.STARTED else call


def _run_started(state: State, body: ev.RunStarted) -> State:
    _between_runs(state, f"run {body.run} starts")
    return replace(state, run=RunState(started=body, limits=limits_in_force(body.limits, state.in_force)))


def _tainted(state: State, body: ev.TaintRaised) -> State:
    return replace(state, taint=None if state.taint is None else state.taint | body.taint)


def _ask_opened(state: State, body: ev.AskOpened) -> State:
    if open_ask(state, body.ask) is not None:
        raise BrokenJournal(f"ask {body.ask} is open already")
    if body.key and any(one.key == body.key for one in state.asks):
        raise BrokenJournal(f"the question {body.key} is open already")
    state = replace(state, asks=(*state.asks, body))
    run = state.run
    if run is not None and run.stage is not None and holds_stage(body):
        return with_run(state, run, stage=replace(run.stage, is_over=True))
    if run is None or body.call is None:
        return state
    calls = tuple(replace(call, ask=body.ask) if call.call == body.call else call for call in run.calls)
    return with_run(state, run, calls=calls)


def _reminded(state: State, body: ev.AskReminded) -> State:
    is_new = open_ask(state, body.ask) is not None and body.ask not in state.reminded
    return replace(state, reminded=(*state.reminded, body.ask)) if is_new else state


def _voted(state: State, body: ev.AskVoted, by: Actor) -> State:
    if open_ask(state, body.ask) is None:
        raise BrokenJournal(f"ask {body.ask} is not open")
    return replace(state, votes=(*state.votes, Vote(body, by)))


def _ask_closed(state: State, body: ev.AskClosed, by: Actor) -> State:
    """Closed once. An approval that was not given settles its call; one that was lets it run."""
    ask = open_ask(state, body.ask)
    if ask is None:
        raise BrokenJournal(f"ask {body.ask} is not open")
    state = replace(
        state,
        asks=tuple(one for one in state.asks if one.ask != body.ask),
        votes=tuple(vote for vote in state.votes if vote.said.ask != body.ask),
        reminded=tuple(one for one in state.reminded if one != body.ask),
    )
    run = state.run
    if run is None or ask.call is None:
        return state
    is_approval = ask.kind is AskKind.APPROVAL
    is_refused = is_approval and refusal_of(body, by) is not None
    calls = []
    for call in run.calls:
        if call.ask == body.ask:
            call = replace(call, ask=None, is_approved=is_approval and not is_refused)
            if is_refused:
                call = replace(call, phase=CallPhase.SETTLED)
        calls.append(call)
    run = replace(run, calls=tuple(calls))
    return at_boundary_when_settled(replace(state, run=run), run)


def _child_spawned(state: State, body: ev.ChildSpawned) -> State:
    state = replace(state, children=(*state.children, body.child))
    return state if state.run is None else agent_spawned(state, state.run, body)


def _unchanged(state: State, body: object) -> State:
    return state


def _between_runs(state: State, what: str) -> None:
    if state.run is not None:
        raise BrokenJournal(f"{what} while run {state.run.started.run} is open")


SESSION_HANDLERS: dict[type, Callable[[State, Any], State]] = {
    ev.SessionOpened: _opened,
    ev.SessionTitled: _unchanged,
    ev.MessageImported: _imported,
    ev.Rewound: _rewound,
    ev.DriverTookOver: _took_over,
    ev.RunStarted: _run_started,
    ev.TaintRaised: _tainted,
    ev.AskOpened: _ask_opened,
    ev.AskReminded: _reminded,
    ev.EntryRefused: _unchanged,
    ev.DocumentEdited: _unchanged,
    ev.ChildSpawned: _child_spawned,
}
_IN_RUN: dict[type, Callable[[State, RunState, Any], State]] = {**RUN_HANDLERS, **CALL_HANDLERS, **STAGE_HANDLERS}
