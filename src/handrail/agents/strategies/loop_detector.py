"""Notices that the same calls come to the same results, round after round, and says so; then ends it."""

from __future__ import annotations

from handrail import jsonio
from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision


class LoopDetector:
    """After ``repeats`` equal rounds in a row it tells the model; after as many more it stops the run."""

    name = "loop_detector"

    def __init__(self, repeats: int | str = 3) -> None:
        self.repeats = int(repeats)
        self._last = b""
        self._count = 0

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``."""
        if ctx.boundary is not RoundBoundary.TOOL_RESULTS_COMMITTED:
            return RoundDecision.proceed()
        seen = jsonio.encode([(one.tool_name, one.input, one.content) for one in ctx.tool_results])
        self._count = self._count + 1 if seen == self._last else 1
        self._last = seen
        if self._count >= 2 * self.repeats:
            return RoundDecision.stop(f"the same calls with the same results, {self._count} times in a row")
        if self._count == self.repeats:
            told = f"You have made the same calls {self._count} times and they came to the same. Try something else."
            return RoundDecision.inject(told)
        return RoundDecision.proceed()


STRATEGY = LoopDetector
