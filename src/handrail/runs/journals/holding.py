"""Saying to all machines that somebody is at something: held by a process, let go of by its death."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from handrail.errors import StoreError

CARRYING = "carrying"
"""What whoever carries all the runs of a database holds: one server alone, or any number of workers together."""


class HeldElsewhere(StoreError):
    """Another process holds it."""

    code = "held_elsewhere"


@runtime_checkable
class Holder(Protocol):
    """A journal that several machines use, and that knows who of them is at what."""

    def holding(self, name: str, *, is_shared: bool = False) -> AbstractContextManager[None]:
        """Hold ``name`` as long as the block lasts; ``HeldElsewhere`` where another does, and not both share it."""
        ...

    def is_held(self, name: str) -> bool:
        """Whether somebody holds ``name`` now."""
        ...
