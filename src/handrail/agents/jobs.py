"""Pieces of work that a call hands to agents of its own: who does it, within which bounds, what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from handrail.agents.opening import Opening
from handrail.agents.options import RunOptions
from handrail.agents.result import RunResult, Session
from handrail.agents.run import Run
from handrail.agents.work import Family
from handrail.journal.vocabulary import FanOutItem

if TYPE_CHECKING:
    from handrail.agents.agent import Agent

BOUNDS = RunOptions(max_rounds=30, workspace=Path())
"""What a sub-agent may do where nothing else is said."""


@runtime_checkable
class Worker(Protocol):
    """Something else than an agent that can do a piece of work as a run of its own, such as a blueprint."""

    @property
    def name(self) -> str | None: ...

    async def begin(self, opening: Opening, options: RunOptions, session: Session, family: Family) -> Run:
        """Begin the run in the running loop, or go on with the one that is open in ``session``."""
        ...


Hand: TypeAlias = "Agent | Worker"
"""Who does a piece of work."""


class Job(Struct, frozen=True, kw_only=True):
    """One piece of work: who does it, within which bounds, and what they are told. ``item`` names it in its call."""

    worker: Any
    prompt: str
    bounds: RunOptions = BOUNDS
    item: FanOutItem | None = None


class Split(Struct, frozen=True, kw_only=True):
    """Work that is split: at most ``max_workers`` at once (0: all). ``stops_at_failure``: one that fails ends all."""

    jobs: tuple[Job, ...]
    max_workers: int = 0
    stops_at_failure: bool = False


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of a job: what its run came to, or why there is no such thing."""

    job: Job
    result: RunResult | None = None
    error: str | None = None
    is_external: bool = False
