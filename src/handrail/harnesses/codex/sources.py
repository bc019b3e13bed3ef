"""Whose session a rollout is: its own ``session_meta``, the parent's after it, and who drives it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from handrail.harnesses.codex.bare import HeaderRow
from handrail.harnesses.codex.drafts import read_time
from handrail.harnesses.codex.elements import texts_of
from handrail.harnesses.codex.event_kinds import Renamed
from handrail.harnesses.codex.item_kinds import Message
from handrail.harnesses.codex.wire import Row, SessionMeta, SessionMetaRow, TurnContext
from handrail.harnesses.families.markers import CODEX_PROGRAMS
from handrail.transcripts.model import Author, Meta, Parent

BURST_S = 0.25
"""Inherited history is written in one go: the first pause longer than this (in seconds) ends it. The longest pause
inside a burst of real files is 0.003 s, the shortest after one 0.9 s."""

_FOLDER = re.compile(r"<environment_context>\n(?:Current working directory: (.+)|(?:.*\n)*? *<cwd>(.+)</cwd>)")


def driver(payload: SessionMeta) -> Author:
    """Who writes the prompts of a session with this ``session_meta``."""
    source = payload.source
    if isinstance(source, dict):
        return Author.PEER if "subagent" in source else Author.UNKNOWN
    return Author.UNKNOWN if isinstance(source, str) and source in CODEX_PROGRAMS else Author.PERSON


def read_meta(rows: list[Row]) -> Meta:
    """The session's metadata; its title is the last name the thread was given."""
    title = _title(rows)
    own: SessionMeta | None = None
    foreign: SessionMeta | None = None
    is_bare = False
    for row in rows:
        if type(row.payload) is SessionMeta:
            if own is None:
                own = row.payload
                is_bare = type(row) is HeaderRow
            elif foreign is None and not is_bare and row.payload.id and row.payload.id != own.id:
                foreign = row.payload
        elif own is not None and foreign is None and type(row) is not SessionMetaRow:
            break
    if own is None:
        return Meta(harness="codex", title=title, timestamp=read_time(rows[0].timestamp) if rows else None)
    started = read_time(own.timestamp)
    return Meta(
        id=own.id or "",
        timestamp=started if started is not None or not rows else read_time(rows[0].timestamp),
        cwd=own.cwd or (told_folder(rows).name if is_bare else None),
        git_branch=own.git.branch if own.git else None,
        title=title,
        cli_version=own.cli_version or None,
        model=_model(own, rows),
        harness="codex",
        parent=_parent(own, foreign),
    )


def _title(rows: list[Row]) -> str | None:
    for row in reversed(rows):
        if type(row.payload) is Renamed and row.payload.thread_name:
            return row.payload.thread_name
    return None


class Folder(NamedTuple):
    """A working folder, and the row that names it."""

    name: str | None
    row: int


def told_folder(rows: list[Row]) -> Folder:
    """The folder that the first note on the environment names: before the envelope it stands nowhere else."""
    for index, row in enumerate(rows):
        payload = row.payload
        if type(payload) is Message and payload.role == "user":
            for text in texts_of(payload.content):
                found = _FOLDER.match(text)
                if found is not None:
                    return Folder(found[1] or found[2], index)
    return Folder(None, -1)


def _model(own: SessionMeta, rows: list[Row]) -> str | None:
    """What the header says, else the model of the first turn."""
    if isinstance(own.model, str) or own.model is None:
        return own.model
    if own.model_name:
        return own.model_name
    for row in rows:
        if type(row.payload) is TurnContext and row.payload.model is not None:
            return row.payload.model
    return None


def _parent(own: SessionMeta, foreign: SessionMeta | None) -> Parent | None:
    spawned = _spawned_by(own.source)
    if spawned is not None:
        session = spawned or own.parent_thread_id or own.forked_from_id or (foreign.id if foreign else None)
        return Parent(session=session, kind="subagent") if session else None
    session = own.forked_from_id or own.parent_thread_id or (foreign.id if foreign else None)
    return Parent(session=session, kind="fork") if session else None


def _spawned_by(source: Any) -> str | None:
    """The thread that spawned this one; ``""`` when it was spawned and the record does not say by which."""
    if not isinstance(source, dict) or "subagent" not in source:
        return None
    spawn = source["subagent"]
    spawn = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
    parent = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
    return parent if isinstance(parent, str) else ""
