"""What comes next while the calls of a response are carried out.

All calls are admitted before any runs, so that a check may look at the whole batch. A call declared parallel waits
for the exclusive calls before it; an exclusive one waits for all before it. Results are committed in call order
whatever order they come in.
"""

from __future__ import annotations

from datetime import datetime

from handrail.journal.effects import Effect, OpenAsk, RunHook, RunTool, Spawn, Step
from handrail.journal.limits import tool_calls_left
from handrail.journal.state import CallPhase, CallState, RunState, State
from handrail.journal.waiting import wait_for

_NOT_STARTED = (CallPhase.ASKED, CallPhase.ADMITTED)


def tool_effects(state: State, run: RunState, now: datetime) -> tuple[Effect, ...]:
    """The effects of the open calls; a ``WaitUntil`` when every one of them waits for a person."""
    halted = _why_halted(run)
    if halted is not None:
        return _halt(run, halted)
    asked = tuple(call for call in run.calls if call.phase is CallPhase.ASKED)
    if asked:
        return tuple(RunTool(call=call.call, step=Step.ADMIT) for call in asked)
    effects = (*_recover(run), *_prepare(run), *_run(run))
    return effects or _wait(state, run, now)


def _why_halted(run: RunState) -> str | None:
    """Why no further call starts; those that run are let finish."""
    if run.is_stopping:
        return "a stop was requested"
    if run.is_interrupted:
        return "interrupted"
    if run.finished_by is not None:
        return f"the run was ended by call {run.finished_by}"
    if run.grace != "none":
        return f"{run.grace_bound} is reached"
    if run.stage is not None and run.stage.is_choosing:
        return "only the name of the next stage was asked for"
    return None


def _halt(run: RunState, why: str) -> tuple[Effect, ...]:
    """Results for the calls that will not run any more: not started, waiting for a person, or lost."""
    effects: list[Effect] = []
    for call in run.calls:
        if call.phase is CallPhase.LOST:
            effects.append(RunTool(call=call.call, step=Step.RECOVER))
        elif call.phase in _NOT_STARTED or (call.phase is CallPhase.STARTED and call.ask is not None):
            effects.append(RunTool(call=call.call, step=Step.SKIP, why=why))
    return tuple(effects)


def _recover(run: RunState) -> tuple[Effect, ...]:
    """Calls whose driver died: again where twice is safe, else nobody knows how they ended.

    One that asked a person is run again when it has its answer.
    """
    return tuple(
        RunTool(call=call.call, step=Step.RUN if call.traits.twice_is_safe else Step.RECOVER)
        for call in run.calls
        if call.phase is CallPhase.LOST and not _is_held(call)
    )


def _is_held(call: CallState) -> bool:
    return call.ask is not None and call.traits.twice_is_safe


def _prepare(run: RunState) -> tuple[Effect, ...]:
    """The next hook of every admitted call that has one, and the question for every one that needs a yes."""
    effects: list[Effect] = []
    for call in run.calls:
        if call.phase is not CallPhase.ADMITTED:
            continue
        if call.hooks:
            effects.append(RunHook(hook=call.hooks[0], call=call.call))
        elif _lacks_approval(call) and call.ask is None:
            effects.append(OpenAsk(call=call.call))
    return tuple(effects)


def _run(run: RunState) -> tuple[Effect, ...]:
    """The calls that may start now, within what is left of the bound on tool calls."""
    left = tool_calls_left(run)
    effects: list[Effect] = []
    earlier: list[CallState] = []
    for call in run.calls:
        is_free = call.phase is CallPhase.ADMITTED and not call.hooks and not _lacks_approval(call)
        if is_free and _may_start(call, earlier):
            if left is not None and left <= 0:
                effects.append(RunTool(call=call.call, step=Step.SKIP, why="max_tool_calls is reached"))
            else:
                effects.append(Spawn(call=call.call) if call.traits.spawns else RunTool(call=call.call, step=Step.RUN))
                left = None if left is None else left - 1
        if call.phase is not CallPhase.SETTLED:
            earlier.append(call)
    return tuple(effects)


def _may_start(call: CallState, earlier: list[CallState]) -> bool:
    return all(one.traits.is_parallel for one in earlier) if call.traits.is_parallel else not earlier


def _lacks_approval(call: CallState) -> bool:
    return call.needs_approval and not call.is_approved


def _wait(state: State, run: RunState, now: datetime) -> tuple[Effect, ...]:
    """Nothing to start. Calls that run without asking anybody are in flight; else all waits for a person."""
    if any(call.phase is CallPhase.STARTED and call.ask is None for call in run.calls):
        return ()
    names = {call.ask for call in run.calls if call.phase is not CallPhase.SETTLED and call.ask is not None}
    return (wait_for(state, [ask for ask in state.asks if ask.ask in names], now),)
