"""Who drives: one process a run, and one that serves, by locks of this machine's own.

A lock is let go of by the system when its process dies, so what stands here is never out of date.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from handrail import files
from handrail.errors import StoreError
from handrail.runs.journals.holding import CARRYING, HeldElsewhere, Holder

_TRIES = 5
_TRY_AGAIN_S = 0.02
"""Somebody who asks whether a run is driven holds its lock for a moment."""


class RunDriven(StoreError):
    """Another process drives the run."""

    code = "run_driven"


class ServerRuns(StoreError):
    """Another process serves already."""

    code = "server_runs"


@asynccontextmanager
async def driving(folder: Path, session: str) -> AsyncIterator[None]:
    """Be the one that drives ``session`` as long as the block lasts; ``RunDriven`` where another process is."""
    with contextlib.ExitStack() as held:
        for left in reversed(range(_TRIES)):
            try:
                held.enter_context(files.lock(_driver(folder, session), waits=False))
                break
            except files.Locked as problem:
                if not left:
                    hint = f"`handrail watch {session}` shows it; what you send and answer reaches it"
                    raise RunDriven(f"another process drives session {session}", hint=hint) from problem
            await asyncio.sleep(_TRY_AGAIN_S)
        yield


@asynccontextmanager
async def driving_alone(journal: object, folder: Path, session: str) -> AsyncIterator[None]:
    """``driving`` among the processes of all machines, where ``journal`` is one that several machines use."""
    async with driving(folder, session):
        if not isinstance(journal, Holder):
            yield
            return
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(journal.holding(session))
            except HeldElsewhere as problem:
                raise RunDriven(f"a process of another machine drives session {session}") from problem
            yield


def is_driven(folder: Path, session: str) -> bool:
    """Whether a process of this machine drives ``session`` now."""
    return files.is_locked(_driver(folder, session))


def is_held(journal: object, name: str) -> bool:
    """Whether a process of any machine is at ``name``, where ``journal`` is one that several machines use."""
    return isinstance(journal, Holder) and journal.is_held(name)


@contextlib.contextmanager
def serving(folder: Path, database: str | None = None) -> Iterator[None]:
    """Be the one that serves ``database`` as long as the block lasts; ``ServerRuns`` where another process does."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(files.lock(_server(folder, database), waits=False))
        except files.Locked as problem:
            raise ServerRuns("another process serves this database already") from problem
        yield


@contextlib.contextmanager
def carrying_alone(journal: object) -> Iterator[None]:
    """Be the one that carries all runs of ``journal``, among all machines; ``ServerRuns`` where another is."""
    with contextlib.ExitStack() as held:
        if isinstance(journal, Holder):
            try:
                held.enter_context(journal.holding(CARRYING))
            except HeldElsewhere as problem:
                raise ServerRuns(
                    "workers, or a server on another machine, carry the runs of this database"
                ) from problem
        yield


def is_served(folder: Path, database: str | None = None) -> bool:
    """Whether a process of this machine serves ``database`` (None: the one in ``folder``) now."""
    return files.is_locked(_server(folder, database))


def _server(folder: Path, database: str | None) -> Path:
    """The lock of whoever serves: by a digest of the database's address, which may hold a password."""
    if database is None:
        return folder / "serve.lock"
    return folder / f"serve-{hashlib.sha256(database.encode()).hexdigest()[:16]}.lock"


def _driver(folder: Path, session: str) -> Path:
    return folder / f"{session}.driver"
