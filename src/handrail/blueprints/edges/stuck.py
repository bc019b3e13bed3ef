"""Taken when a stage goes round without getting anywhere, as measured by counts and never by a model's opinion."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from handrail.blueprints.durations import Duration
from handrail.blueprints.edges import EdgeBase, Ended, Visit

Threshold = Annotated[int, Field(strict=True, ge=1)]


class OnStuck(EdgeBase):
    """On when a visit reaches one of the thresholds, once a visit; at least one is given.

    ``same_file_edits`` counts successful edits of one and the same file, ``time`` the work of the visit: a person's
    waiting time is none.
    """

    ends: ClassVar[tuple[Ended, ...]] = ("stuck",)
    when: Literal["stuck"] = "stuck"
    same_file_edits: Threshold | None = None
    rounds: Threshold | None = None
    tool_calls: Threshold | None = None
    time: Duration | None = None

    @model_validator(mode="after")
    def _has_a_threshold(self) -> Self:
        if all(one is None for one in (self.same_file_edits, self.rounds, self.tool_calls, self.time)):
            raise ValueError("a stuck edge needs a threshold: same_file_edits, rounds, tool_calls or time")
        return self

    def reached(self, visit: Visit) -> str | None:
        """The first threshold that ``visit`` has reached, in words; None while it has reached none."""
        measured = (
            ("edits of one file", visit.same_file_edits, self.same_file_edits),
            ("rounds", visit.rounds, self.rounds),
            ("tool calls", visit.tool_calls, self.tool_calls),
        )
        for what, count, threshold in measured:
            if threshold is not None and count >= threshold:
                return f"{count} {what} (stuck at {threshold})"
        if self.time is not None and timedelta(seconds=visit.seconds) >= self.time:
            return f"{visit.seconds:.0f} s of work (stuck at {self.time.total_seconds():.0f})"
        return None

    def fits(self, visit: Visit) -> bool:
        """When a threshold is reached."""
        return self.reached(visit) is not None


EDGE = OnStuck
