"""What a Claude Code session says about itself: its metadata and how its prompts were written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import msgspec
from msgspec import Struct

from handrail.harnesses.claude_code.speech import Setting, has_proof
from handrail.harnesses.claude_code.wire import CROP_KIND, Row, in_utc, read_naming
from handrail.harnesses.families.jsonl import Rows
from handrail.harnesses.families.markers import CLAUDE_CODE_EDITORS, CLAUDE_CODE_PROGRAMS, CLAUDE_CODE_TEXTS
from handrail.transcripts.model import Meta, Parent

HARNESS_NAME = "claude_code"
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_LOOK_AT = 8
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "agent-name": "agentName", "summary": "summary"}
"""The kinds of row that name the session, by rank, and the key that holds the name."""
_EDITORS = tuple(marker.opens for marker in CLAUDE_CODE_TEXTS if marker.by == "ide")
_NAMES_MODEL = frozenset({"assistant", CROP_KIND})


class Head(Struct, gc=False):
    """What a row says of the session; looked at in the first rows only."""

    type: str = ""
    cwd: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    entrypoint: str | None = None


_decoder = msgspec.json.Decoder(Head)


def parse_head(raw: bytes) -> Head:
    """The head of one row; an empty one when it cannot be read."""
    try:
        return _decoder.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return Head()


def parse_version(raw: bytes) -> tuple[int, ...] | None:
    """The version that wrote a row, as numbers."""
    return version_numbers(parse_head(raw).version)


def version_numbers(version: str | None) -> tuple[int, ...] | None:
    """``2.1.17`` as numbers; None for anything else."""
    found = _VERSION.match(version) if version else None
    return tuple(map(int, found.groups())) if found else None


def read_head(rows: Rows[Row]) -> Head:
    """The first working folder, version, branch and entry point that the first turns name."""
    merged = Head()
    looked = 0
    start = 0
    data = rows.data
    while start < len(data) and looked < _LOOK_AT:
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        head = parse_head(data[start:end])
        start = end + 1
        if head.type == "progress" or (head.cwd is None and head.version is None):
            continue
        looked += 1
        merged.cwd = merged.cwd or head.cwd
        merged.version = merged.version or head.version
        merged.gitBranch = merged.gitBranch or head.gitBranch
        merged.entrypoint = merged.entrypoint or head.entrypoint
        if merged.entrypoint and merged.cwd and merged.version and merged.gitBranch:
            break
    return merged


def read_setting(rows: list[Row], head: Head) -> Setting:
    """How the prompts of the file were written.

    A first record that takes from a queue into which nothing was put is the trace of a client that feeds it: of a
    program, unless the file names another client or holds what an editor adds to the prompts of who sits at it.
    """
    first = next((row for row in rows if row.type != CROP_KIND), None)
    client = head.entrypoint
    is_fed = client is None and first is not None and first.operation == "dequeue"
    is_editor = client in CLAUDE_CODE_EDITORS or (is_fed and any(map(_is_from_editor, rows)))
    is_driven = client in CLAUDE_CODE_PROGRAMS or (is_fed and not is_editor)
    proven = any(has_proof(row) for row in rows if row.type == "user" or row.type == CROP_KIND)
    return Setting(is_driven, proven, version_numbers(head.version), is_editor)


def _is_from_editor(row: Row) -> bool:
    """Whether an editor wrote beside a prompt what it shows."""
    content = row.message.content if row.type == "user" and row.message is not None else None
    texts = [content] if isinstance(content, str) else [item.text or "" for item in content or ()]
    return any(text.startswith(_EDITORS) for text in texts)


def read_meta(rows: Rows[Row], head: Head) -> Meta:
    """The metadata of a main or sub-agent file. Nothing is made up: what no row says is None."""
    own, agent, inherited, started, titled = _survey(rows.rows)
    whole = rows.rows[0] if rows.rows and rows.rows[0].type == CROP_KIND else None
    if whole is not None:
        own = whole.sessionId or own
        started, title = whole.timestamp, read_naming(rows.raw(0)).customTitle
    else:
        title = _title(rows, titled)
    parent = None
    session = own
    if agent is not None:
        session, parent, title = f"agent-{agent}", Parent(session=own, kind="subagent") if own else None, None
    elif inherited is not None:
        parent = Parent(session=inherited, kind="fork")
    return Meta(
        id=session,
        timestamp=in_utc(started) if started is not None else None,
        cwd=head.cwd or None,
        git_branch=head.gitBranch or None,
        title=title,
        cli_version=head.version,
        model=_model(rows.rows),
        harness=HARNESS_NAME,
        parent=parent,
    )


class _Survey(NamedTuple):
    """What one pass over the rows tells of a session.

    ``own`` is the session's id (that of the last turn), ``agent`` its agent's if it is a sub-agent's, ``inherited``
    the id it copied from. ``started`` is the time of the earliest turn, ``titled`` are the rows that name it, the
    last one first.
    """

    own: str
    agent: str | None
    inherited: str | None
    started: datetime | None
    titled: list[int]


def _survey(rows: list[Row]) -> _Survey:
    own = ""
    agent: str | None = None
    inherited: str | None = None
    started: datetime | None = None
    titled: list[int] = []
    is_main = False
    for index in range(len(rows) - 1, -1, -1):
        row = rows[index]
        kind = row.type
        if kind == "assistant" or kind == "user":
            session = row.sessionId
            if session != own and session:
                if own:
                    inherited = session
                else:
                    own = session
            if row.isSidechain:
                agent = row.agentId or agent
            else:
                is_main = True
            timestamp = row.timestamp
            if timestamp is not None and (started is None or timestamp < started):
                started = timestamp
        elif kind in _TITLES:
            titled.append(index)
    if not own:
        own = next((row.sessionId for row in rows if row.sessionId), "")
    return _Survey(own, None if is_main else agent, inherited, started, titled)


def _model(rows: Iterable[Row]) -> str | None:
    for row in rows:
        if row.type in _NAMES_MODEL and row.message and row.message.model and row.message.model != "<synthetic>":
            return row.message.model
    return None


def _title(rows: Rows[Row], titled: list[int]) -> str | None:
    """The title by rank: one a person gave, one the model gave, the agent's name, a summary of a leaf of this file.

    ``titled`` are the rows that name the session, the last one first: of several of a rank the last counts. A summary
    of a leaf elsewhere belongs to another session.
    """
    for kind, field in _TITLES.items():
        own = [index for index in titled if rows.rows[index].type == kind]
        here = {row.uuid for row in rows.rows if row.uuid} if own and kind == "summary" else None
        for index in own:
            naming = read_naming(rows.raw(index))
            title: str | None = getattr(naming, field)
            if title and (here is None or naming.leafUuid in here):
                return title
    return None
