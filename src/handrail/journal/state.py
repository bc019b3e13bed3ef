"""Where a session stands: the value that ``fold`` makes of its events and ``next_effects`` reads.

It holds what decides the next step and nothing of the conversation itself (that is ``project``), so its size, and
the cost of a step, do not grow with the history.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from handrail.journal.events import AskOpened, AskVoted, InputReceived, RunStarted
from handrail.journal.vocabulary import (
    Actor,
    Adjustment,
    AskKind,
    Bound,
    Boundary,
    CallTraits,
    EndReason,
    Limits,
    Scope,
)
from handrail.transcripts.model import Json, Taint

_OF_STAGES = frozenset({AskKind.POINT, AskKind.EDIT, AskKind.REVIEW, AskKind.PAUSE})


class CallPhase(StrEnum):
    """How far a call is: asked for by the model, admitted, started, started by a driver that is gone, settled."""

    ASKED = "asked"
    ADMITTED = "admitted"
    STARTED = "started"
    LOST = "lost"
    SETTLED = "settled"


class CallState(Struct, frozen=True, kw_only=True):
    """One call of the last response. ``ask`` is the open approval, ``hooks`` those that have not run yet.

    ``agents`` are those it has started. ``was_ended``: one of them was ended in its place, while nobody carried it
    out, so that it had not come further than waiting for that one.
    """

    call: str
    phase: CallPhase = CallPhase.ASKED
    traits: CallTraits = CallTraits()
    hooks: tuple[str, ...] = ()
    needs_approval: bool = False
    is_approved: bool = False
    ask: str | None = None
    attempts: int = 0
    agents: tuple[str, ...] = ()
    was_ended: bool = False


class RunPhase(StrEnum):
    """What a run is doing: about to ask the model, asking it, carrying out its calls, at a boundary."""

    READY = "ready"
    CALLING = "calling"
    TOOLS = "tools"
    BOUNDARY = "boundary"


class InForce(Struct, frozen=True):
    """An adjustment and how long it lasts."""

    adjustment: Adjustment
    scope: Scope


class Ending(Struct, frozen=True, kw_only=True):
    """A decided end of a run."""

    reason: EndReason
    detail: str | None = None
    output: Json = None


class Spent(Struct, frozen=True, kw_only=True):
    """What a run spent so far. ``rounds`` counts those entered, ``seconds`` is summed time of effects."""

    rounds: int = 0
    requests: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0


class StageState(Struct, frozen=True, kw_only=True):
    """The stage that a run of a blueprint is in.

    ``limits`` are in force and count what was spent since ``base``, which is what the run had spent when the stage
    was entered or sent round again. ``entered_limits`` are those it was entered with. ``outside`` are bounds of its
    own that were declared spent. ``is_fresh``: the model was not asked since; ``is_over``: its work is over, for a
    person was asked about it; ``is_choosing``: the model is asked for an edge.
    """

    stage: str
    visit: int
    limits: Limits
    entered_limits: Limits
    strategies: tuple[str, ...] = ()
    base: Spent = Spent()
    outside: tuple[Bound, ...] = ()
    is_fresh: bool = True
    is_over: bool = False
    is_choosing: bool = False


class Vote(Struct, frozen=True):
    """One yes or no to an open question that needs several, and whose it is."""

    said: AskVoted
    by: Actor


class RunState(Struct, frozen=True, kw_only=True):
    """The open run.

    ``boundary`` is where it stands in phase ``boundary``. ``queue`` holds steers and follow-ups in the order they
    came. ``finished_by`` is the terminal call that ended the work. ``asked_near`` and ``asked_reached`` are the
    bounds that strategies were asked about. ``grace`` is the one round without tools that may follow a reached
    bound (``grace_bound``). ``stage`` is where a run of a blueprint is; its work is over when ``ending`` is set, and
    the run is not.
    """

    started: RunStarted
    limits: Limits
    phase: RunPhase = RunPhase.READY
    boundary: Boundary | None = None
    spent: Spent = Spent()
    calls: tuple[CallState, ...] = ()
    queue: tuple[InputReceived, ...] = ()
    injections: int = 0
    stop_reason: str | None = None
    is_stopping: bool = False
    is_cancelled: bool = False
    is_interrupted: bool = False
    why: str | None = None
    ending: Ending | None = None
    finished_by: str | None = None
    output: Json = None
    is_retry: bool = False
    retry_at: datetime | None = None
    asked_near: tuple[Bound, ...] = ()
    asked_reached: tuple[Bound, ...] = ()
    outside: tuple[Bound, ...] = ()
    grace: Literal["none", "granted", "used"] = "none"
    grace_bound: Bound | None = None
    is_paused: bool = False
    stage: StageState | None = None

    @property
    def strategies(self) -> tuple[str, ...]:
        """Those that are asked now."""
        return self.started.strategies if self.stage is None else self.stage.strategies


class State(Struct, frozen=True, kw_only=True):
    """A session. ``seq`` is the last event's, ``epoch`` the driver's, ``inbox`` the last entry that was journalled.

    ``votes`` are those for open questions, ``reminded`` the open questions somebody was reminded of.
    ``taint`` None means unknown. ``context_tokens`` is the size of the model's context at the last response, 0 after
    a compaction. ``unknown`` names the kinds of events this release does not know; with any, nothing is driven.
    """

    seq: int = 0
    epoch: int = 0
    inbox: int = 0
    is_open: bool = False
    taint: Taint | None = Taint()
    run: RunState | None = None
    asks: tuple[AskOpened, ...] = ()
    votes: tuple[Vote, ...] = ()
    reminded: tuple[str, ...] = ()
    in_force: tuple[InForce, ...] = ()
    children: tuple[str, ...] = ()
    stage: str | None = None
    context_tokens: int = 0
    unknown: tuple[str, ...] = ()


def limits_in_force(given: Limits, in_force: tuple[InForce, ...]) -> Limits:
    """The bounds that count now: those of the last adjustment that has some, else those that were ``given``."""
    adjusted = (one.adjustment.limits for one in reversed(in_force))
    return next((limits for limits in adjusted if limits is not None), given)


def with_in_force(state: State, in_force: tuple[InForce, ...]) -> State:
    """``state`` with these adjustments. In a stage their limits are the stage's, but for those of the session."""
    state = replace(state, in_force=in_force)
    run = state.run
    if run is None:
        return state
    if run.stage is None:
        return with_run(state, run, limits=limits_in_force(run.started.limits, in_force))
    outlasting = tuple(one for one in in_force if one.scope == "session")
    passing = tuple(one for one in in_force if one.scope != "session")
    stage = replace(run.stage, limits=limits_in_force(run.stage.entered_limits, passing))
    return with_run(state, run, limits=limits_in_force(run.started.limits, outlasting), stage=stage)


def without_round_scope(state: State) -> State:
    """``state`` whose round is over: what was adjusted for it alone is undone."""
    kept = tuple(one for one in state.in_force if one.scope != "round")
    return state if len(kept) == len(state.in_force) else with_in_force(state, kept)


def with_run(state: State, run: RunState, **changes: Any) -> State:
    """``state`` whose run is ``run`` with ``changes``."""
    return replace(state, run=replace(run, **changes) if changes else run)


def open_ask(state: State, ask: str) -> AskOpened | None:
    """The open question of that id."""
    return next((one for one in state.asks if one.ask == ask), None)


def stage_asks(state: State) -> tuple[AskOpened, ...]:
    """The open questions that hold the stage itself, and not one of its calls."""
    if state.run is None or state.run.stage is None:
        return ()
    return tuple(ask for ask in state.asks if ask.call is None and ask.kind in _OF_STAGES)


def holds_stage(ask: AskOpened) -> bool:
    """Whether a question is about the work of a stage as a whole, which is over then."""
    return ask.call is None and ask.kind in (AskKind.POINT, AskKind.EDIT)


def adjustment_of(state: State) -> Adjustment:
    """All adjustments in force as one, later ones over earlier ones."""
    merged = Adjustment()
    for one in state.in_force:
        given = {field: getattr(one.adjustment, field) for field in Adjustment.__struct_fields__}
        changed = {field: value for field, value in given.items() if value not in (None, False)}
        if one.adjustment.clear_reasoning:
            merged = replace(merged, effort=None, reasoning_summary=None)
        elif one.adjustment.effort is not None:
            changed["clear_reasoning"] = False
        merged = replace(merged, **changed)
    return merged
