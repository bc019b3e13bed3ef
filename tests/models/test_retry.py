"""Asking again: how often, after how long, and cut short by cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.cancellation import CancellationToken, Cancelled
from handrail.models.errors import (
    BadKey,
    BadRequest,
    ConnectionLost,
    ContextTooLong,
    MalformedReply,
    ModelError,
    Overloaded,
    QuotaSpent,
    RateLimited,
)
from handrail.models.port import ModelReply, Restarted, TextDelta, reply_to
from handrail.models.retry import RetryPolicy, retrying
from handrail.models.scripted import ScriptedModel
from tests.models.conversations import asked, said, text_of

_RETRYABLE = (Overloaded, RateLimited, ConnectionLost)
_FINAL = (BadKey, QuotaSpent, BadRequest, ContextTooLong, MalformedReply)


class _Waits:
    """Records how long was waited and waits not at all."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waited.append(seconds)


def _ask(script: Sequence[str | BaseException], policy: RetryPolicy | None = None) -> tuple[ModelReply, list[float]]:
    waits = _Waits()
    model = retrying(ScriptedModel(script), policy, sleep=waits, chance=lambda: 0.0)
    return asyncio.run(reply_to(model, asked(said("go")))), waits.waited


@pytest.mark.parametrize("kind", _RETRYABLE)
def test_what_may_pass_is_asked_again_and_counted(kind: type[ModelError]) -> None:
    reply, waited = _ask([kind("x"), kind("x"), "done"])
    assert ("done", 3) == (text_of(reply.message), reply.attempts)
    assert [0.25, 0.5] == waited


@pytest.mark.parametrize("kind", _FINAL)
def test_what_will_not_pass_is_raised_at_once(kind: type[ModelError]) -> None:
    with pytest.raises(kind):
        _ask([kind("x"), "done"])


def test_the_last_failure_is_raised_when_the_retries_are_spent() -> None:
    with pytest.raises(Overloaded, match="third") as caught:
        _ask([Overloaded("first"), Overloaded("second"), Overloaded("third"), "done"], RetryPolicy(retries=2))
    assert ["attempts: 3"] == caught.value.__notes__


def test_a_wait_that_the_provider_asked_for_is_kept_up_to_the_cap() -> None:
    script: list[str | BaseException] = [
        RateLimited("x", retry_after_s=2.0),
        RateLimited("x", retry_after_s=3600.0),
        "done",
    ]
    assert [2.0, 60.0] == _ask(script)[1]


@given(st.integers(1, 12), st.floats(0, 1, exclude_max=True), st.none() | st.floats(0, 1e6))
def test_waits_are_spread_over_the_upper_half_and_bounded(attempt: int, chance: float, asked_s: float | None) -> None:
    policy = RetryPolicy(retries=12)
    delay_s = policy.delay_s(RateLimited("x", retry_after_s=asked_s), attempt, chance)
    assert delay_s is not None
    assert min(5.0, 0.5 * 2 ** (attempt - 1)) / 2 <= delay_s <= 60.0
    assert asked_s is None or delay_s >= min(asked_s, 60.0)


def test_what_was_streamed_of_a_failed_attempt_is_declared_void() -> None:
    async def streamed() -> list[object]:
        model = retrying(ScriptedModel([ConnectionLost("cut"), "done"]), sleep=_Waits(), chance=lambda: 0.0)
        return [item async for item in model.stream(asked(said("go")))]

    restarted, delta, reply = asyncio.run(streamed())
    assert Restarted(attempt=1, delay_s=0.25, code="connection_lost", error="cut") == restarted
    assert TextDelta(0, "done") == delta
    assert isinstance(reply, ModelReply)


def test_a_wait_ends_as_soon_as_the_token_is_cancelled() -> None:
    token = CancellationToken()
    waiting = asyncio.Event()

    async def for_ever(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async def story() -> None:
        model = retrying(ScriptedModel([Overloaded("x"), "done"]), sleep=for_ever)
        asking = asyncio.ensure_future(reply_to(model, asked(said("go")), token))
        await waiting.wait()
        token.cancel("enough")
        with pytest.raises(Cancelled, match="enough"):
            await asking

    asyncio.run(story())
