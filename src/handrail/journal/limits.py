"""Bounds: what is reached, what is near, and why a run cannot go on.

In a stage two sets of bounds count: the run's from its beginning, the stage's from where its present work began.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from handrail.journal.state import RunState, Spent
from handrail.journal.vocabulary import Bound, Limits

_NOTHING = Spent()
"""What a run had spent when it began."""


def reached(run: RunState) -> Bound | None:
    """The first bound that is spent, the run's before the stage's; None while there is something left of each."""
    return run_bound(run) or stage_bound(run)


def run_bound(run: RunState) -> Bound | None:
    """The first bound of the run itself that is spent: no stage can go on then."""
    if run.outside:
        return run.outside[0]
    return _first(run.spent, _NOTHING, run.limits)


def stage_bound(run: RunState) -> Bound | None:
    """The first bound of the stage's own that is spent."""
    stage = run.stage
    if stage is None or stage.is_choosing:
        return None
    if stage.outside:
        return stage.outside[0]
    return _first(run.spent, stage.base, stage.limits)


def _first(spent: Spent, base: Spent, limits: Limits) -> Bound | None:
    for bound, used, limit in _counted(spent, base, limits):
        if used >= limit:
            return bound
    return None


def near(run: RunState) -> Bound | None:
    """The first bound of which the near share is spent and about which nobody was asked yet."""
    return next((bound for bound in _near(run) if bound not in run.asked_near), None)


def _near(run: RunState) -> Iterator[Bound]:
    for base, limits in _sets(run):
        for bound, spent, limit in _counted(run.spent, base, limits):
            if spent >= limits.near * limit:
                yield bound


def counted(run: RunState) -> Iterator[tuple[Bound, float, float]]:
    """Every bound there is, with what was spent of it and how much it is: the run's first, then the stage's."""
    for base, limits in _sets(run):
        yield from _counted(run.spent, base, limits)


class SecondsLeft(Struct, frozen=True, kw_only=True):
    """What is left of a bound on seconds of work; ``stage`` is whose it is, None where it is the run's."""

    left_s: float
    limit_s: float
    stage: str | None = None


def seconds_left(run: RunState) -> SecondsLeft | None:
    """The tighter of the bounds on seconds; None where there is none."""
    if run.stage is None and run.limits.max_seconds is None:
        return None
    names = (None, None if run.stage is None else run.stage.stage)
    left = [
        SecondsLeft(
            left_s=max(limits.max_seconds - (run.spent.seconds - base.seconds), 0.0),
            limit_s=limits.max_seconds,
            stage=name,
        )
        for (base, limits), name in zip(_sets(run), names, strict=False)
        if limits.max_seconds is not None
    ]
    return min(left, key=lambda one: one.left_s, default=None)


def bounded_stage(run: RunState, bound: Literal[Bound.MAX_COST, Bound.MAX_TOKENS]) -> str | None:
    """The stage that bounds what its run does not; ``""`` where the run does, None where nobody does."""
    is_cost = bound is Bound.MAX_COST
    if (run.limits.max_cost if is_cost else run.limits.max_tokens) is not None:
        return ""
    stage = run.stage
    if stage is None or (stage.limits.max_cost if is_cost else stage.limits.max_tokens) is None:
        return None
    return stage.stage


def _sets(run: RunState) -> tuple[tuple[Spent, Limits], ...]:
    own = (_NOTHING, run.limits)
    return (own,) if run.stage is None else (own, (run.stage.base, run.stage.limits))


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


def tool_calls_left(run: RunState) -> int | None:
    """How many more calls may start; None where nothing bounds them."""
    if run.stage is None and run.limits.max_tool_calls is None:
        return None
    spent = run.spent.tool_calls
    left = [
        limits.max_tool_calls - (spent - base.tool_calls)
        for base, limits in _sets(run)
        if limits.max_tool_calls is not None
    ]
    return min(left, default=None)


def _counted(spent: Spent, base: Spent, limits: Limits) -> Iterator[tuple[Bound, float, float]]:
    # At every boundary of every run: most have few bounds, and for the others nothing is made.
    if limits.max_rounds is not None:
        yield Bound.MAX_ROUNDS, spent.rounds - base.rounds, limits.max_rounds
    if limits.max_requests is not None:
        yield Bound.MAX_REQUESTS, spent.requests - base.requests, limits.max_requests
    if limits.max_tool_calls is not None:
        yield Bound.MAX_TOOL_CALLS, spent.tool_calls - base.tool_calls, limits.max_tool_calls
    if limits.max_tokens is not None:
        yield Bound.MAX_TOKENS, spent.tokens - base.tokens, limits.max_tokens
    if limits.max_cost is not None:
        yield Bound.MAX_COST, spent.cost - base.cost, limits.max_cost
    if limits.max_seconds is not None:
        yield Bound.MAX_SECONDS, spent.seconds - base.seconds, limits.max_seconds
