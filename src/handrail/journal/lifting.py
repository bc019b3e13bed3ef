"""A run that stood at a bound and goes on, because an adjustment has lifted the bound."""

from __future__ import annotations

from msgspec.structs import replace

from handrail.journal.limits import reached
from handrail.journal.state import RunState, State, with_run
from handrail.journal.vocabulary import Bound

_BOUNDS = frozenset(bound.value for bound in Bound)


def lifted(state: State) -> State:
    """``state`` after its limits were adjusted: where none is reached any more, a run that a bound had ended, or given
    its last round, goes on as if it had not come to one."""
    run = state.run
    if run is None:
        return state
    run = _counted_again(run)
    is_at_bound = run.grace == "granted" or (run.ending is not None and run.ending.reason.value in _BOUNDS)
    if not is_at_bound or reached(run) is not None:
        return with_run(state, run)
    return with_run(state, run, ending=None, grace="none", grace_bound=None, asked_reached=())


def _counted_again(run: RunState) -> RunState:
    """``run`` without what was only said to be reached and, with the limits as they are now, is not."""
    return replace(run, outside=tuple(bound for bound in run.outside if _holds(run, bound)))


def _holds(run: RunState, bound: Bound) -> bool:
    if bound is Bound.POOL:
        return True
    limit = getattr(run.limits, bound.value)
    if bound is Bound.MAX_SECONDS:
        return limit is not None and run.spent.seconds >= limit
    # Said because it cannot be counted, which no figure changes.
    return limit is not None
