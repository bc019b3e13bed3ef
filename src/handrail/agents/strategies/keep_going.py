"""No end before something is true."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision

Predicate = Callable[[RoundContext], bool | Awaitable[bool]]


class KeepGoing:
    """Puts ``note`` in when the model would end and ``until`` is not true yet, ``times`` times at most."""

    name = "keep_going"

    def __init__(self, until: Predicate, *, note: str = "You are not done yet. Go on.", times: int = 10) -> None:
        self.until = until
        self.note = note
        self.times = times
        self._told = 0

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``."""
        if ctx.boundary is not RoundBoundary.ASSISTANT_MESSAGE_COMMITTED or self._told >= self.times:
            return RoundDecision.proceed()
        is_true = self.until(ctx)
        if inspect.isawaitable(is_true):
            is_true = await is_true
        if is_true or not ctx.can_continue:
            return RoundDecision.proceed()
        self._told += 1
        return RoundDecision.inject(self.note)


STRATEGY = KeepGoing
