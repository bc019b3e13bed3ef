"""Cutting a Claude Code session without leaving its own format: native rows are kept with their bookkeeping.

A row goes when it belongs to messages of the live line and none of them is kept, or when it was off that line.
Everything else (hooks, progress, snapshots, titles) goes with the messages it stands between. The rows that are
kept are not rewritten but for two things: a first row whose parent is gone becomes a root, so that nothing looks
torn, and a row after a closed cut gets the last kept row as its parent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from handrail import jsonio
from handrail.harnesses.claude_code.speech import Setting
from handrail.harnesses.claude_code.wire import CROP_KIND, Row
from handrail.harnesses.claude_code.written import instant
from handrail.harnesses.families.jsonl import Rows
from handrail.harnesses.families.markers import CLAUDE_CODE_EDITORS
from handrail.transcripts.model import Author, Common, Interrupt, Meta


def kept_rows(rows: Rows[Row], live: Sequence[int], made_of: Sequence[Sequence[int]], kept: set[int]) -> list[int]:
    """The indices of the rows that stay when the messages ``kept`` stay, in file order.

    ``made_of`` names the rows of each message of the live line. A row that no message is made of stays when the
    message before it does (before the first: when the first does); of the queue's records only those that a kept
    message stands on, so that none is delivered twice or to nobody.
    """
    owner = {index: message for message, own in enumerate(made_of) for index in own}
    stays = 0 in kept
    found = {index for index, message in owner.items() if message in kept}
    for index in live:
        row = rows.rows[index]
        if index in owner:
            stays = owner[index] in kept
        elif (
            row.type in _SESSION_WIDE
            or (stays and row.operation is None)
            or (index == 0 and row.operation == "dequeue")
        ):
            found.add(index)
    return sorted(found)


_SESSION_WIDE = frozenset({"custom-title", "ai-title", "agent-name", "summary", "mode", "permission-mode"})


def render_rows(rows: Rows[Row], kept: Sequence[int], names: Mapping[int, str]) -> bytes:
    """The lines of ``kept``, parents relinked across the cuts.

    ``names`` says of marks of an interruption whose they are, where the cut takes away what told it.
    """
    ids = {row.uuid for row in rows.rows if row.uuid is not None}
    lines: list[bytes] = []
    present: set[str] = set()
    last: str | None = None
    for index in kept:
        row, raw = rows.rows[index], rows.raw(index)
        if row.uuid is not None:
            raw = _relinked(raw, row, ids, present, last)
            present.add(row.uuid)
            last = row.uuid
        if index in names and raw.endswith(b"}"):
            raw = raw[:-1] + b',"origin":{"kind":"' + names[index].encode() + b'"}}'
        lines.append(raw)
    return b"".join(line + b"\n" for line in lines)


def _relinked(raw: bytes, row: Row, ids: set[str], present: set[str], last: str | None) -> bytes:
    """``raw`` with the parents that the cut took away replaced; one that was never there stays as it is."""
    if row.parentUuid in ids and row.parentUuid not in present:
        raw = relink(raw, "parentUuid", last)
    if row.logicalParentUuid in ids and row.logicalParentUuid not in present:
        raw = relink(raw, "logicalParentUuid", last)
    return raw


def cut_marks(made_of: Sequence[Sequence[int]], body: Common, kept: Sequence[int]) -> dict[int, str]:
    """For rows of kept interruptions whose next message is another one now: who interrupted, as an origin names it."""
    names: dict[int, str] = {}
    for message, following in pairwise([*kept, len(body)]):
        if following == message + 1 and following < len(body):
            continue
        for block in body[message].content:
            if type(block) is Interrupt:
                kind = "human" if block.by is Author.PERSON else "unknown"
                names.update(dict.fromkeys(made_of[message], kind))
    return names


def crop_row(meta: Meta, setting: Setting) -> bytes:
    """The line that tells of the whole session what the rows of a cut may no longer tell."""
    is_agent = meta.parent is not None and meta.parent.kind == "subagent"
    session = meta.parent.session if meta.parent is not None and is_agent else meta.id
    row: dict[str, Any] = {"type": CROP_KIND, "sessionId": session, "message": {"model": meta.model}}
    if meta.timestamp is not None:
        row["timestamp"] = instant(meta.timestamp)
    row |= {"cwd": meta.cwd, "version": meta.cli_version, "gitBranch": meta.git_branch, "customTitle": meta.title}
    if setting.has_proof:
        row["permissionMode"] = "default"
    if setting.is_editor:
        row["entrypoint"] = next(iter(CLAUDE_CODE_EDITORS))
    return jsonio.encode(row) + b"\n"


def relink(raw: bytes, key: str, parent: str | None) -> bytes:
    """``raw`` with ``parent`` as the value of its own ``key``; nothing else of it changes.

    The key is looked for before anything nested, where Claude Code writes it.
    """
    found = re.search(rb'"' + key.encode() + rb'":\s*(?:null|"(?:[^"\\]|\\.)*")', raw)
    if found is None or b"{" in raw[1 : found.start()]:
        return raw
    value = b"null" if parent is None else jsonio.encode(parent)
    return raw[: found.start()] + b'"' + key.encode() + b'":' + value + raw[found.end() :]
