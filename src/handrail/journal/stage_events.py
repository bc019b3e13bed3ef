"""What can happen in a run of a blueprint beside what happens in any run; part of the union in ``events``."""

from __future__ import annotations

from msgspec import Struct

from handrail.journal.vocabulary import FanOutItem, Limits, RegionEntry, Route, settle_floats
from handrail.transcripts.model import Json


class BlueprintFrozen(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The blueprint that this run obeys to its end, whole (``source``), whatever becomes of the file it came from."""

    name: str
    digest: str
    source: Json


class FanOutPlanned(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Work was split: ``items`` go to workers, at most ``max_workers`` at once (0: all).

    ``fan_out`` names it in its session. ``call`` is the call that asked for it, None where the stage is one.
    """

    fan_out: str
    items: tuple[FanOutItem, ...]
    worker: str | None = None
    max_workers: int = 0
    stage: str | None = None
    call: str | None = None


class StageEntered(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A run of a blueprint entered a stage, for the ``visit``-th time (from 1).

    ``limits`` are the stage's own, within those of the run: they count from here, and anew each time the stage is
    sent round again. ``strategies`` are asked in this order while it lasts.
    """

    stage: str
    visit: int = 1
    limits: Limits | None = None
    strategies: tuple[str, ...] = ()


class StageLeft(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """It left the stage by ``edge``; ``to`` is the next stage, None where the run ends. ``reason`` says why."""

    stage: str
    edge: str
    to: str | None = None
    reason: str | None = None


class EdgeAsked(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """The stage's work is done, and the model is asked, in one round without tools, which of ``targets`` comes next.

    ``attempt`` counts from 1.
    """

    stage: str
    targets: tuple[str, ...]
    attempt: int = 1


class StageRepeated(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """The stage is sent round again by its own rules: what it owes is not there, as ``why`` says."""

    stage: str
    why: str


class PointRouted(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """Where the answer to an interaction point sent the run; ``directive`` is what it told the agent.

    ``goto`` is the stage the answer names, ``round`` the presentation it answers (from 0), ``document`` the digest
    of what was approved or sent back. ``why`` says it where nobody's answer decided.
    """

    point: str
    ask: str
    route: Route
    directive: str | None = None
    goto: str | None = None
    round: int | None = None
    document: str | None = None
    why: str | None = None


class RegionWritten(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A context region was changed: ``entries`` is all it holds now. ``stage`` is the one it was written in."""

    region: str
    entries: tuple[RegionEntry, ...]
    stage: str | None = None


class RegionSummed(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A model was asked to sum up the older part of a context region; ``RegionWritten`` follows where that served.

    Where it did not (``is_kept`` False) the region stays as it was, and ``error`` says why there was no reply at all.
    ``tokens`` (input and output) and ``cost`` are what asking took, ``is_unpriced`` where nobody knows the cost.
    """

    region: str
    stage: str | None = None
    is_kept: bool = True
    error: str | None = None
    elapsed_s: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    is_unpriced: bool = False

    def __post_init__(self) -> None:
        settle_floats(self, "elapsed_s", "cost")
