"""What models cost: counted against the run and every purse it draws on, and no bound run past that nobody counts."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator

from msgspec import Struct

from handrail.agents.pool import Pool
from handrail.journal.events import BoundReached
from handrail.journal.limits import bounded_stage
from handrail.journal.state import RunState
from handrail.journal.vocabulary import Bound
from handrail.transcripts.model import Usage


class Charge(Struct, frozen=True, kw_only=True):
    """What was asked of a model: tokens in and out, and US dollars; None for what it did not report."""

    tokens: int | None
    cost: float | None


def charge_of(usage: Usage | None, cost: float | None) -> Charge:
    """The charge for a reply with that usage and cost; ``ValueError`` for amounts that nothing can have cost."""
    tokens = None if usage is None else usage.input_tokens + usage.output_tokens
    if (tokens is not None and tokens < 0) or (cost is not None and not 0 <= cost < math.inf):
        raise ValueError(f"{tokens} tokens and a cost of {cost} cannot be charged")
    return Charge(tokens=tokens, cost=cost)


class Ledger:
    """What one strategy asked of models of its own while it made up its mind; may be written to from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._charges: list[Charge] = []

    def charge(self, usage: Usage | None, cost: float | None = None) -> None:
        """See ``RoundContext.charge``."""
        charged = charge_of(usage, cost)
        with self._lock:
            self._charges.append(charged)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What was charged so far."""
        with self._lock:
            return tuple(self._charges)


def take(purses: Iterable[Pool], charges: Iterable[Charge]) -> None:
    """Take ``charges`` out of each of ``purses``."""
    tokens, cost = total(charges)
    for pool in purses:
        pool.charge(tokens, cost)


def total(charges: Iterable[Charge]) -> tuple[int, float]:
    """The tokens and the dollars of ``charges``, as far as they are known."""
    told = tuple(charges)
    return sum([one.tokens or 0 for one in told]), math.fsum([one.cost or 0.0 for one in told])


def uncounted(run: RunState, model: str, charges: Iterable[Charge]) -> Iterator[BoundReached]:
    """The bounds that cannot be counted with ``charges`` of ``model``: none may be run past in silence, so each counts
    as reached."""
    told = tuple(charges)
    if any(one.cost is None for one in told) and (stage := bounded_stage(run, Bound.MAX_COST)) is not None:
        yield BoundReached(bound=Bound.MAX_COST, detail=f"{model} has no known price", stage=stage or None)
    if any(one.tokens is None for one in told) and (stage := bounded_stage(run, Bound.MAX_TOKENS)) is not None:
        yield BoundReached(bound=Bound.MAX_TOKENS, detail=f"{model} reports no usage", stage=stage or None)
