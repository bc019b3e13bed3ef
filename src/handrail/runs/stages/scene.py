"""What a decision about a stage is made from, and what it comes to. Deciding is pure; the machine does the rest."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from handrail.agents.writer import Said
from handrail.blueprints.edges import Ended
from handrail.blueprints.model import Blueprint, Stage
from handrail.journal.effects import Advance, End
from handrail.journal.events import Known
from handrail.journal.state import State
from handrail.journal.vocabulary import DRIVER, Bound, EndReason
from handrail.runs.regions.size import Size
from handrail.runs.stages.progress import Progress
from handrail.runs.stages.records import VisitRecord


class Scene(Struct, frozen=True, kw_only=True):
    """A run that is in ``stage``, at the instant ``now``. ``new_id`` gives ids that were never given before.

    ``size`` is the window that regions have to fit into, ``origin`` the agents from the root to this one.
    """

    blueprint: Blueprint
    stage: Stage
    progress: Progress
    visit: VisitRecord
    state: State
    size: Size
    now: datetime
    new_id: Callable[[], str]
    origin: tuple[str, ...] = ()


class Step(Struct, frozen=True, kw_only=True):
    """What follows: ``events`` in one append, with those that enter the stage ``enters``, or ``end`` the run."""

    events: tuple[Said, ...] = ()
    enters: str | None = None
    end: End | None = None


class Outcome(Struct, frozen=True, kw_only=True):
    """How the work of a visit ended; ``reason`` and ``detail`` are the run's where it ends with it."""

    ended: Ended
    reason: EndReason
    bound: Bound | None = None
    detail: str | None = None


_ENDED: dict[EndReason, Ended] = {
    EndReason.FAILED: "error",
    EndReason.REFUSAL: "error",
    EndReason.STRATEGY_STOP: "stuck",
    EndReason.LENGTH: "limit",
    **{EndReason(bound.value): "limit" for bound in Bound},
}


def outcome_of(effect: Advance) -> Outcome:
    """The outcome that ``effect`` tells of."""
    spent = next((bound for bound in Bound if bound.value == effect.reason.value), None)
    ended = _ENDED.get(effect.reason, "done")
    return Outcome(ended=ended, reason=effect.reason, bound=spent, detail=effect.detail)


def failed(detail: str) -> Outcome:
    """The outcome of a stage that cannot go on, for the reason ``detail``."""
    return Outcome(ended="error", reason=EndReason.FAILED, detail=detail)


def said(*bodies: Known) -> tuple[Said, ...]:
    """``bodies`` as what the driver says."""
    return tuple((body, DRIVER) for body in bodies)
