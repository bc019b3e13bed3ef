"""Bounds: what is reached, what is near, and why a run cannot go on."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.journal.state import RunState
from handrail.journal.vocabulary import Bound


def reached(run: RunState) -> Bound | None:
    """The first bound that is spent; None while there is something left of each."""
    if run.outside:
        return run.outside[0]
    return next((bound for bound, spent, limit in _counted(run) if spent >= limit), None)


def near(run: RunState) -> Bound | None:
    """The first bound of which the near share is spent and about which nobody was asked yet."""
    share = run.limits.near
    return next(
        (bound for bound, spent, limit in _counted(run) if spent >= share * limit and bound not in run.asked_near), None
    )


def why_not(run: RunState) -> str | None:
    """Why no further round can follow; None when one can. A round of grace was granted is no reason."""
    if run.is_cancelled:
        return "the run was cancelled"
    if run.is_stopping:
        return "a stop was requested"
    if run.grace == "granted":
        return None
    if run.grace == "used":
        return f"{run.grace_bound} is reached and its last round was used"
    bound = reached(run)
    return None if bound is None else f"{bound} is reached"


def _counted(run: RunState) -> Iterator[tuple[Bound, float, float]]:
    spent, limits = run.spent, run.limits
    pairs = (
        (Bound.MAX_ROUNDS, spent.rounds, limits.max_rounds),
        (Bound.MAX_REQUESTS, spent.requests, limits.max_requests),
        (Bound.MAX_TOOL_CALLS, spent.tool_calls, limits.max_tool_calls),
        (Bound.MAX_TOKENS, spent.tokens, limits.max_tokens),
        (Bound.MAX_COST, spent.cost, limits.max_cost),
        (Bound.MAX_SECONDS, spent.seconds, limits.max_seconds),
    )
    return ((bound, used, limit) for bound, used, limit in pairs if limit is not None)
