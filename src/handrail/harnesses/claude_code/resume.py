"""What Claude Code itself shows of a file when it resumes it, as far as its users' reports tell.

It reads rows until the first line that is no JSON, takes the last turn in the file for the end of the session, and
walks from parent to parent until one is missing. What the live line holds beside that is what a resume loses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from handrail.harnesses.claude_code.wire import Row


class Resume(NamedTuple):
    """A resume by row indices: the rows shown, and the walk from ``leaf``, the last row first."""

    shown: frozenset[int]
    walk: tuple[int, ...]
    leaf: int | None


def resume(rows: Sequence[Row], end: int) -> Resume:
    """What is shown of the first ``end`` rows, which are all that can be read strictly.

    What stands before a compaction on the walk counts as shown: it is gone by design, and not lost.
    """
    by_id: dict[str, int] = {}
    leaf: int | None = None
    only_side = not any(row.is_talk and not row.isSidechain for row in rows)
    for index in range(end):
        row = rows[index]
        if row.uuid is None or (row.isSidechain and not only_side):
            continue
        by_id.setdefault(row.uuid, index)
        if row.is_talk and by_id[row.uuid] == index:
            leaf = index
    walk: list[int] = []
    seen: set[int] = set()
    at = leaf
    while at is not None and at not in seen:
        walk.append(at)
        seen.add(at)
        at = by_id.get(rows[at].parentUuid or "")
    shown = set(taken_back(rows, seen, by_id.values()))
    if walk and is_boundary(rows[walk[-1]]):
        shown.update(range(walk[-1]))
    return Resume(frozenset(shown), tuple(walk), leaf)


def is_boundary(row: Row) -> bool:
    """Whether ``row`` begins the line anew after a compaction."""
    return row.parentUuid is None and (row.subtype == "compact_boundary" or row.logicalParentUuid is not None)


def taken_back(rows: Sequence[Row], shown: set[int], among: Iterable[int]) -> frozenset[int]:
    """``shown`` with the other rows of its responses and the results of its calls."""
    found = set(shown)
    candidates = [index for index in among if index not in found and rows[index].is_talk]
    responses = {key for index in shown if (key := response_of(rows[index])) is not None}
    calls = {call for index in shown for call in _ids(rows[index], "tool_use")}
    for index in candidates:
        if response_of(rows[index]) in responses:
            found.add(index)
            calls.update(_ids(rows[index], "tool_use"))
    for index in candidates:
        if not calls.isdisjoint(_ids(rows[index], "tool_result")):
            found.add(index)
    return frozenset(found)


def response_of(row: Row) -> str | None:
    """The id of the response a row is part of; None for a row that is not the model's."""
    if row.type != "assistant" or row.message is None:
        return None
    return row.message.id or row.uuid


def _ids(row: Row, kind: str) -> list[str]:
    content = row.message.content if row.message is not None else None
    blocks = content if isinstance(content, list) else []
    names = (block.id if kind == "tool_use" else block.tool_use_id for block in blocks if block.type == kind)
    return [name for name in names if name is not None]
