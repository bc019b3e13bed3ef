"""What a boundary's decision cost: the time strategies took, and the models they asked."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from handrail.journal.state import Spent
from handrail.journal.vocabulary import Contribution


def after_decision(spent: Spent, said: Iterable[Contribution]) -> Spent:
    """``spent`` with what those who ``said`` something took for it."""
    for one in said:
        spent = replace(
            spent,
            tokens=spent.tokens + one.tokens,
            cost=spent.cost + one.cost,
            seconds=spent.seconds + one.elapsed_s,
        )
    return spent
