"""``next_effects(state, now)``: what a driver has to do next, as values.

An effect that is in flight comes again, equal to what it was, until an event says that it is done; a driver knows
it by that. User code (strategies, hooks, approvers, tools) runs as an effect and nowhere else.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from handrail.journal.vocabulary import Adjustment, Bound, Boundary, EndReason
from handrail.transcripts.model import Json


class CallModel(Struct, frozen=True, kw_only=True):
    """Send request ``request`` (of the run, from 1) of round ``round``.

    ``deliver`` are the queued inputs that go with it: ``InputDelivered`` and ``ModelRequested`` are one append, so
    that an input no request carries stays queued. ``adjustment`` is all that is in force.
    """

    request: int
    round: int
    deliver: tuple[str, ...] = ()
    adjustment: Adjustment = Adjustment()
    is_without_tools: bool = False


class Step(StrEnum):
    """What to do with a call.

    ``admit``: look up the tool, validate the arguments, check policy and taint. ``run``: run it. ``skip``: give it
    a result that says why it did not run, its open question withdrawn. ``recover``: it was started by a driver that
    is gone and twice is not safe; say that the outcome is unknown.
    """

    ADMIT = "admit"
    RUN = "run"
    SKIP = "skip"
    RECOVER = "recover"


class RunTool(Struct, frozen=True, kw_only=True):
    """Do ``step`` with ``call``; ``why`` says why it is skipped."""

    call: str
    step: Step
    why: str | None = None


class Spawn(Struct, frozen=True, kw_only=True):
    """Run ``call`` by starting an agent of its own."""

    call: str


class Decide(Struct, frozen=True, kw_only=True):
    """Ask the strategies at ``boundary``; ``why_not`` says why no round can follow (None: one can)."""

    boundary: Boundary
    round: int
    bound: Bound | None = None
    why_not: str | None = None


class RunHook(Struct, frozen=True, kw_only=True):
    """Let ``hook`` look at ``call``."""

    hook: str
    call: str


class OpenAsk(Struct, frozen=True, kw_only=True):
    """Ask a person to approve ``call``."""

    call: str


class Compact(Struct, frozen=True, kw_only=True):
    """Replace what came before by a summary, in what the model sees."""

    context_tokens: int


class WaitUntil(Struct, frozen=True, kw_only=True):
    """Nothing to do until ``at`` (None: no time) or until one of ``asks`` is closed.

    ``overdue`` are those whose deadline has passed: they are to be closed as timed out. Of those in ``remind``
    somebody is to be reminded. ``is_paused``: nothing starts until the run is resumed, whatever is answered.
    """

    at: datetime | None = None
    asks: tuple[str, ...] = ()
    overdue: tuple[str, ...] = ()
    remind: tuple[str, ...] = ()
    is_paused: bool = False


class Advance(Struct, frozen=True, kw_only=True):
    """The work of ``stage`` is over, or was sent on by an answer: say what follows by the blueprint's rules.

    ``stage`` None: the run has not entered any. ``reason``, ``detail`` and ``output`` are what the work came to.
    """

    stage: str | None
    reason: EndReason
    detail: str | None = None
    output: Json = None


class End(Struct, frozen=True, kw_only=True):
    """End the run: append ``closing_events(state, end)``."""

    reason: EndReason
    detail: str | None = None
    output: Json = None


Effect: TypeAlias = CallModel | RunTool | Decide | RunHook | OpenAsk | Compact | Spawn | WaitUntil | Advance | End
