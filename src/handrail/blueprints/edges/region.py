"""Taken by what a region holds when the stage's work is done."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from handrail.blueprints.edges import EdgeBase, SeenRegion, Visit
from handrail.blueprints.predicates import TESTS, Predicate
from handrail.blueprints.regions import Name


class OnRegion(EdgeBase, Predicate):
    """On when ``region`` passes the test, or has open items left (a checklist's), as ``has_open_items`` asks.

    ``at_least`` and ``at_most`` count its entries; all other tests are put to its text, an entry a line.
    """

    when: Literal["region"] = "region"
    region: Name
    has_open_items: bool | None = None

    @model_validator(mode="after")
    def _has_one_test(self) -> Self:
        if len(self.tests) + (self.has_open_items is not None) != 1:
            raise ValueError(f"give one test of {', '.join((*TESTS, 'has_open_items'))}")
        return self

    def fits(self, visit: Visit) -> bool:
        """When the region is as asked; one that was never written is empty."""
        seen = visit.regions.get(self.region, SeenRegion())
        if self.has_open_items is not None:
            return (seen.open_items > 0) is self.has_open_items
        is_counted = self.at_least is not None or self.at_most is not None
        return self.holds(list(seen.texts) if is_counted else "\n".join(seen.texts))


EDGE = OnRegion
