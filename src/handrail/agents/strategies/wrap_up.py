"""Tells the model what is left when a limit is near, and gives it one last round when it is reached."""

from __future__ import annotations

from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision


class WrapUp:
    """Near a limit: finish what matters. At the limit: one round without tools, to answer with what there is."""

    name = "wrap_up"

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``."""
        if ctx.boundary is RoundBoundary.LIMIT_NEAR and ctx.can_continue:
            return RoundDecision.inject(f"Little is left of what you may use ({ctx.bound}). Finish what matters most.")
        if ctx.boundary is RoundBoundary.LIMIT_REACHED:
            return RoundDecision.inject("You have used all that you may. Answer now, with what you have.")
        return RoundDecision.proceed()


STRATEGY = WrapUp
