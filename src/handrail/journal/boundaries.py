"""What follows a boundary when nobody wants anything else: the default flow, in one place.

Used for a decision to go on, for one that was refused, and where there is no strategy to ask, so that a run without
strategies and a run whose strategies always proceed take the same steps.
"""

from __future__ import annotations

from msgspec.structs import replace

from handrail.journal.limits import reached, why_not
from handrail.journal.state import Ending, RunPhase, RunState
from handrail.journal.vocabulary import Bound, Boundary, EndReason

_ANSWERS = {"max_tokens": EndReason.LENGTH, "refusal": EndReason.REFUSAL}


def after_boundary(run: RunState, boundary: Boundary, bound: Bound | None) -> RunState:
    """``run`` after it passed ``boundary`` in the default flow: ready for the next round, or with its ending."""
    ending = _ending(run, boundary, bound)
    if ending is not None:
        return replace(run, ending=ending)
    return replace(run, phase=RunPhase.READY, boundary=None)


def after_refusal(run: RunState, boundary: Boundary, bound: Bound | None, why: str | None) -> RunState:
    """``run`` after a decision to go on was refused at ``boundary``: the default flow, and the answer stands.

    Where it was refused because no round can follow, that is why the run ends, for it wanted to go on.
    """
    after = after_boundary(run, boundary, bound)
    if after.ending is None or after.ending.reason is not EndReason.ANSWERED or why is None or why != why_not(run):
        return after
    if run.is_stopping:
        return replace(after, ending=Ending(reason=EndReason.STOP_REQUESTED, detail=run.why))
    spent = run.grace_bound or reached(run)
    return after if spent is None else replace(after, ending=Ending(reason=EndReason(spent.value)))


def _ending(run: RunState, boundary: Boundary, bound: Bound | None) -> Ending | None:
    if boundary is Boundary.LIMIT_NEAR:
        return None
    if boundary is Boundary.LIMIT_REACHED:
        return None if bound is None else Ending(reason=EndReason(bound.value))
    if run.grace == "used" and run.grace_bound is not None:
        return Ending(reason=EndReason(run.grace_bound.value))
    if run.finished_by is not None:
        return Ending(reason=EndReason.TOOL_FINISHED, output=run.output)
    if run.is_interrupted:
        return Ending(reason=EndReason.STOP_REQUESTED, detail=run.why or "interrupted")
    if boundary is Boundary.ASSISTANT_MESSAGE_COMMITTED:
        # A stop that came while the model answered claims nothing about the answer, which stands.
        return Ending(reason=_ANSWERS.get(run.stop_reason or "", EndReason.ANSWERED))
    return Ending(reason=EndReason.STOP_REQUESTED, detail=run.why) if run.is_stopping else None
