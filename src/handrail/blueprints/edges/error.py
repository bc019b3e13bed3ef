"""Taken when the stage failed: a dead provider, a strategy that fails the run, a point that fails at its cap."""

from __future__ import annotations

from typing import ClassVar, Literal

from handrail.blueprints.edges import EdgeBase, Ended, Visit


class OnError(EdgeBase):
    """On after an error, instead of the end of the run."""

    ends: ClassVar[tuple[Ended, ...]] = ("error",)
    when: Literal["error"] = "error"

    def fits(self, visit: Visit) -> bool:
        """After any error."""
        return True


EDGE = OnError
