"""Taken when the stage has spent one of its own bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from handrail.blueprints.edges import EdgeBase, Ended, Visit
from handrail.journal.vocabulary import Bound


class OnLimit(EdgeBase):
    """On when a bound is spent: one of ``bounds``, or any where none is named."""

    ends: ClassVar[tuple[Ended, ...]] = ("limit",)
    when: Literal["limit"] = "limit"
    bounds: Annotated[Sequence[Bound], AfterValidator(tuple)] = ()

    def fits(self, visit: Visit) -> bool:
        """When the bound that was spent is one of those named."""
        return not self.bounds or visit.bound in self.bounds


EDGE = OnLimit
