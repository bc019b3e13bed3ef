"""What asking a model may cost, kept count of; and which model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from msgspec import Struct

from handrail.errors import HandrailError
from handrail.models.names import model_from_name
from handrail.models.port import Model, ModelReply, close
from handrail.models.retry import retrying

MODEL_VARIABLE = "HANDRAIL_MODEL"

Value = TypeVar("Value")


class NoModel(HandrailError):
    """No model was named."""

    code = "no_model"
    exit_code = 2


class Bounds(Struct, frozen=True, kw_only=True, gc=False):
    """What may be spent: requests, tokens in and out, US dollars. None: no bound."""

    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None


class Spent(Struct, frozen=True, kw_only=True, gc=False):
    """What was spent. ``unpriced`` counts the replies whose price nobody knows."""

    requests: int = 0
    tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def and_for(self, reply: ModelReply) -> Spent:
        """The same and what ``reply`` took."""
        usage = reply.message.usage
        tokens = 0 if usage is None else usage.input_tokens + usage.output_tokens
        return Spent(
            requests=self.requests + reply.attempts,
            tokens=self.tokens + tokens,
            cost=self.cost + (reply.cost or 0.0),
            unpriced=self.unpriced + (reply.cost is None),
        )

    def reached(self, bounds: Bounds) -> str | None:
        """The bound that forbids another request, in a sentence; None where none does.

        A bound on money that cannot be kept count of is reached with the first reply of unknown price.
        """
        if bounds.max_requests is not None and self.requests >= bounds.max_requests:
            return f"{bounds.max_requests} requests are made"
        if bounds.max_tokens is not None and self.tokens >= bounds.max_tokens:
            return f"{bounds.max_tokens} tokens are spent"
        if bounds.max_cost is None:
            return None
        if self.unpriced:
            return "the price of this model is not known, so the bound on cost cannot be held"
        return f"{bounds.max_cost} US dollars are spent" if self.cost >= bounds.max_cost else None


def model_named(name: str | None, environment: Mapping[str, str]) -> Model:
    """The model called ``name``, else the one ``HANDRAIL_MODEL`` names; ``NoModel`` where neither does.

    It is asked again where a provider could not for the moment, so that one busy minute does not end a night's work.

    Raises as ``model_from_name``.
    """
    wanted = name or environment.get(MODEL_VARIABLE)
    if not wanted:
        hint = f"name one with --model or {MODEL_VARIABLE}; --dry-run shows what would be sent and needs none"
        raise NoModel("no model is named", hint=hint)
    return retrying(model_from_name(wanted, environ=environment))


def asked(model: Model, work: Callable[[], Awaitable[Value]]) -> Value:
    """What ``work`` gives, with the model's connections closed after it."""

    async def whole() -> Value:
        try:
            return await work()
        finally:
            await close(model)

    return asyncio.run(whole())
