"""What a rule of a contract is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Rule(Generic[Subject]):
    """One promise of a contract. Its ``number`` never changes, so that a report can cite it."""

    number: int
    promise: str
    check: Callable[[Subject], None]

    def __str__(self) -> str:
        return f"{self.number:02d} {self.promise}"
