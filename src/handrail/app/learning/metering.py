"""A model whose spending is kept count of, and that is asked no more once a bound is reached."""

from __future__ import annotations

from contextlib import aclosing

from handrail.app.learning.asking import Bounds, Spent
from handrail.models.errors import ModelError
from handrail.models.port import Cancellation, Model, ModelInfo, ModelReply, ModelRequest, Streamed, close


class BudgetSpent(ModelError):
    """The bound on what may be spent is reached; nothing was asked."""

    code = "budget_spent"


class Purse:
    """What several models may spend together, and have."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.spent = Spent()


class Metered:
    """``model`` within the bounds of ``purse``. The reply that reaches one is still given; nothing is sent after it."""

    def __init__(self, model: Model, purse: Purse) -> None:
        self.model = model
        self.purse = purse

    @property
    def info(self) -> ModelInfo:
        return self.model.info

    async def stream(self, request: ModelRequest, cancellation: Cancellation | None = None) -> Streamed:
        """As the model's own; ``BudgetSpent`` where a bound forbids it."""
        reason = self.purse.spent.reached(self.purse.bounds)
        if reason is not None:
            raise BudgetSpent(reason, hint="raise the bound, or go on another night: what was measured is kept")
        async with aclosing(self.model.stream(request, cancellation)) as stream:
            async for item in stream:
                if isinstance(item, ModelReply):
                    self.purse.spent = self.purse.spent.and_for(item)
                yield item

    async def aclose(self) -> None:
        """Let go of what the model keeps open."""
        await close(self.model)
