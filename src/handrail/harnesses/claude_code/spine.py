"""The walk from parent to parent that shows a whole line: which parents must change, which rows must move for it.

Claude Code walks from the last turn in the file. So the rows of the wanted line must hang on one thread that ends
there. Links that are right stay; a missing one is bridged to the row before; a turn beside the thread is tied in where
it stands in the file; a late result that would become the end is moved behind its call.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from handrail.harnesses.claude_code.resume import is_boundary, response_of, resume
from handrail.harnesses.claude_code.said import is_aside
from handrail.harnesses.claude_code.view import View
from handrail.harnesses.claude_code.wire import Row


def ids_of(row: Row, kind: str) -> list[str]:
    """The ids of the calls (``tool_use``) or of the calls answered (``tool_result``) in a row."""
    content = row.message.content if row.message is not None else None
    blocks = content if isinstance(content, list) else []
    names = (block.id if kind == "tool_use" else block.tool_use_id for block in blocks if block.type == kind)
    return [name for name in names if name is not None]


def in_order(view: View, late: Iterable[int]) -> list[int]:
    """All rows, those of ``late`` last."""
    moved = sorted(late)
    gone = set(moved)
    return [index for index in range(len(view.rows)) if index not in gone] + moved


def place_late_results(view: View, order: list[int], live: Iterable[int]) -> list[int]:
    """``order`` with results that stand after the end of the line, but answer a call before it, behind that call."""
    rows = view.rows
    wanted = set(live)
    said = [index for index in order if index in wanted and rows[index].uuid is not None and _is_said(rows[index])]
    if not said:
        return order
    last = order.index(said[-1])
    below = {said[-1]}
    late: dict[int, list[int]] = {}
    by_id = view.by_id
    calls = {call: index for index in order[:last] for call in ids_of(rows[index], "tool_use")}
    for index in order[last + 1 :]:
        if by_id.get(rows[index].parentUuid or "") in below:
            below.add(index)
            continue
        answered = [calls[call] for call in ids_of(rows[index], "tool_result") if call in calls]
        if answered:
            late.setdefault(_end_of_response(rows, order, answered[-1]), []).append(index)
    if not late:
        return order
    moved = {index for own in late.values() for index in own}
    return [item for index in order if index not in moved for item in (index, *late.get(index, ()))]


def _is_said(row: Row) -> bool:
    if row.type == "assistant":
        return True
    return row.type == "user" and not row.isMeta and not ids_of(row, "tool_result") and not is_aside(row)


def _end_of_response(rows: Sequence[Row], order: Sequence[int], call: int) -> int:
    """The last row of the response that ``call`` is part of."""
    group = response_of(rows[call])
    return [index for index in order if index == call or response_of(rows[index]) == group][-1]


def straighten(view: View, order: Sequence[int], wanted: set[int], is_turn: Callable[[int], bool]) -> list[int]:
    """Relink rows of ``view`` so that the walk from the last turn shows every turn of ``wanted``; the walk, in order.

    ``order`` is the order of rows in the file to be. ``is_turn`` says which rows must be shown. A step that would
    pass over a turn goes to that turn instead; other rows of a response that is shown need no step.
    """
    rows = [view.rows[index] for index in order]
    by_id = {row.uuid: at for at, row in enumerate(rows) if row.uuid is not None}
    turns = [at for at, index in enumerate(order) if index in wanted and rows[at].uuid is not None and is_turn(index)]
    at = resume(rows, len(rows)).leaf
    walk: list[int] = []
    seen: set[int] = set()
    responses: set[str | None] = {None}
    while at is not None:
        walk.append(at)
        seen.add(at)
        responses.add(response_of(rows[at]))
        begins_anew = is_boundary(rows[at])
        following = by_id.get((rows[at].logicalParentUuid if begins_anew else rows[at].parentUuid) or "")
        if following in seen:
            following = None
        passed = _passed_over(rows, turns, following, at, responses)
        if passed is not None:
            (view.relink_logically if begins_anew else view.relink)(order[at], rows[passed].uuid)
            following = passed
        at = following
    return [order[at] for at in reversed(walk)]


def _passed_over(
    rows: Sequence[Row], turns: Sequence[int], following: int | None, at: int, responses: set[str | None]
) -> int | None:
    """The last turn between ``following`` and ``at`` that belongs to no response that is on the walk."""
    shown = responses | {response_of(rows[following])} if following is not None else responses
    low = -1 if following is None else following
    found = bisect_left(turns, at)
    while found and turns[found - 1] > low:
        found -= 1
        response = response_of(rows[turns[found]])
        if response is None or response not in shown:
            return turns[found]
    return None
