"""Use case: list the sessions there are, from heads and tails only."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import Struct

from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.openings import find_opening
from handrail.library import Unread, in_project, project_name
from handrail.library.catalog import is_subagent
from handrail.transcripts.codec import SessionRef


class SessionFilter(Struct, frozen=True, kw_only=True):
    """Which sessions: of a harness, of a project (name, glob or folder), alive since an instant. None: any.

    ``with_subagents`` also lists sub-agent sessions, each after its parent.
    """

    harness: str | None = None
    project: str | None = None
    since: datetime | None = None
    with_subagents: bool = False
    limit: int | None = None

    def on(self, machine: Machine) -> SessionFilter:
        """The same with the harness by its own name on ``machine``; ``UnknownHarness`` when there is none."""
        return self if self.harness is None else msgspec.structs.replace(self, harness=machine.info(self.harness).name)

    def admits(self, ref: SessionRef) -> bool:
        """Whether ``ref`` passes; a session of unknown time does not pass ``since``."""
        if self.harness is not None and ref.harness != self.harness:
            return False
        if self.project is not None and not in_project(ref.meta.cwd, self.project):
            return False
        if self.since is None:
            return True
        last = ref.updated_at or ref.meta.timestamp
        return last is not None and last >= self.since


class SessionRow(Struct, frozen=True, kw_only=True):
    """One session as a listing shows it. ``short_id`` is enough of ``id`` to name it; times are aware UTC.

    ``opening`` is what the person first said, where there is no title; it is read only in a listing with a limit,
    which bounds the work.
    """

    harness: str
    id: str
    short_id: str
    title: str | None
    opening: str | None
    project: str | None
    cwd: str | None
    started_at: datetime | None
    updated_at: datetime | None
    size_bytes: int
    is_whole: bool
    subagents: int
    parent: str | None
    is_subagent: bool
    locator: str


class SessionList(Struct, frozen=True, kw_only=True):
    """The sessions asked for, newest first; ``total`` counts them before ``limit`` cut the list."""

    schema_version: int = SCHEMA_VERSION
    sessions: tuple[SessionRow, ...]
    total: int
    unread: tuple[Unread, ...]


def list_sessions(machine: Machine, wanted: SessionFilter | None = None) -> SessionList:
    """The sessions that ``wanted`` admits (all that a person started by default)."""
    wanted = (wanted or SessionFilter()).on(machine)
    catalog = machine.catalog()
    short = catalog.short_ids()
    children = catalog.subagents()
    refs: list[SessionRef] = []
    for ref in catalog.top_level():
        if not wanted.admits(ref):
            continue
        refs.append(ref)
        if wanted.with_subagents:
            refs.extend(children.get((ref.harness, ref.id), ()))
    if wanted.with_subagents:
        refs.extend(_orphans(catalog.sessions, refs, wanted))
    rows = tuple(
        _row(
            ref,
            short_id=short[ref.id],
            subagents=len(children.get((ref.harness, ref.id), ())),
            opening=None if wanted.limit is None or ref.meta.title else find_opening(machine, ref),
        )
        for ref in refs[: wanted.limit]
    )
    return SessionList(sessions=rows, total=len(refs), unread=catalog.unread)


def _orphans(sessions: tuple[SessionRef, ...], listed: list[SessionRef], wanted: SessionFilter) -> list[SessionRef]:
    """Sub-agents whose parent is not in the list: they are not lost with it."""
    seen = {ref.locator for ref in listed}
    return [ref for ref in sessions if is_subagent(ref) and ref.locator not in seen and wanted.admits(ref)]


def _row(ref: SessionRef, *, short_id: str, subagents: int, opening: str | None) -> SessionRow:
    return SessionRow(
        harness=ref.harness,
        id=ref.id,
        short_id=short_id,
        title=ref.meta.title,
        opening=opening,
        project=project_name(ref.meta.cwd),
        cwd=ref.meta.cwd,
        started_at=ref.meta.timestamp,
        updated_at=ref.updated_at,
        size_bytes=ref.size_bytes,
        is_whole=ref.is_whole,
        subagents=subagents,
        parent=ref.parent.session if ref.parent else None,
        is_subagent=is_subagent(ref),
        locator=ref.locator,
    )
