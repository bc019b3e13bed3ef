"""A stronger model when tools keep failing, and back again when the work is easy."""

from __future__ import annotations

from handrail.agents.strategy import Continue, RoundAdjustment, RoundBoundary, RoundContext, RoundDecision
from handrail.models.port import ModelInfo


class Escalate:
    """Switches to ``strong`` after ``errors`` rounds in a row with a failed call, and back after ``calm`` without."""

    name = "escalate"

    def __init__(self, strong: ModelInfo, *, errors: int = 2, calm: int = 3) -> None:
        self.strong = strong
        self.errors = errors
        self.calm = calm
        self._usual: ModelInfo | None = None
        self._failed = 0
        self._went_well = 0

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``."""
        if ctx.boundary is not RoundBoundary.TOOL_RESULTS_COMMITTED:
            return RoundDecision.proceed()
        has_failed = any(one.is_error for one in ctx.tool_results)
        self._failed = self._failed + 1 if has_failed else 0
        self._went_well = 0 if has_failed else self._went_well + 1
        if self._usual is None and self._failed >= self.errors:
            self._usual, self._went_well = ctx.model, 0
            return Continue(RoundAdjustment(model=self.strong))
        if self._usual is not None and self._went_well >= self.calm:
            usual, self._usual = self._usual, None
            return Continue(RoundAdjustment(model=usual))
        return RoundDecision.proceed()


STRATEGY = Escalate
