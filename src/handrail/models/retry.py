"""Asking again when a provider could not: how often, after how long, and who decides.

``RetryPolicy.delay_s`` is the whole decision and pure, for a driver that journals each attempt. ``retrying`` is the
same round a model, for those who do not. The retries of provider libraries are off, so every attempt is counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from msgspec import Struct
from msgspec.structs import replace

from handrail import ids
from handrail.models.errors import MalformedReply, ModelError
from handrail.models.port import Cancellation, Model, ModelInfo, ModelReply, ModelRequest, Restarted, Streamed, close

Sleep = Callable[[float], Awaitable[None]]


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """``retries`` attempts after the first; waits double from ``base_s`` up to ``cap_s``, spread by chance.

    A wait that the provider asked for is kept, up to ``retry_after_cap_s``.
    """

    retries: int = 5
    base_s: float = 0.5
    cap_s: float = 5.0
    retry_after_cap_s: float = 60.0

    def delay_s(self, problem: ModelError, attempt: int, chance: float) -> float | None:
        """How long to wait after attempt ``attempt`` (from 1) failed, in seconds; None means give up.

        ``chance`` is from [0, 1) and spreads the wait over its upper half, so that many who failed together do not
        come back together. Never shorter than what the provider asked for, but for its cap.
        """
        if not problem.is_retryable or attempt > self.retries:
            return None
        backoff: float = min(self.cap_s, self.base_s * 2 ** (attempt - 1))
        spread = backoff * (0.5 + chance / 2)
        if problem.retry_after_s is None:
            return spread
        return max(spread, min(problem.retry_after_s, self.retry_after_cap_s))


class _Retrying:
    """See ``retrying``."""

    def __init__(self, model: Model, policy: RetryPolicy, sleep: Sleep, chance: Callable[[], float]) -> None:
        self._model = model
        self._policy = policy
        self._sleep = sleep
        self._chance = chance

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    async def stream(self, request: ModelRequest, cancellation: Cancellation | None = None) -> Streamed:
        """See ``Model``. A failed attempt is told by a ``Restarted``; the reply counts all of them."""
        attempt = 0
        while True:
            attempt += 1
            try:
                async with aclosing(self._model.stream(request, cancellation)) as stream:
                    async for item in stream:
                        if isinstance(item, ModelReply):
                            yield replace(item, attempts=attempt)
                            return
                        yield item
                raise MalformedReply(f"{self.info.name} ended its stream without a reply")
            except ModelError as problem:
                delay_s = self._policy.delay_s(problem, attempt, self._chance())
                if delay_s is None:
                    problem.add_note(f"attempts: {attempt}")
                    raise
                yield Restarted(attempt=attempt, delay_s=delay_s, code=problem.code, error=problem.message)
            pause = self._sleep(delay_s)
            await (pause if cancellation is None else cancellation.guard(pause))

    async def aclose(self) -> None:
        await close(self._model)


def retrying(
    model: Model,
    policy: RetryPolicy | None = None,
    *,
    sleep: Sleep = asyncio.sleep,
    chance: Callable[[], float] = ids.chance,
) -> Model:
    """``model``, asked again as ``policy`` says. The waits end as soon as the token is cancelled."""
    return _Retrying(model, policy or RetryPolicy(), sleep, chance)
