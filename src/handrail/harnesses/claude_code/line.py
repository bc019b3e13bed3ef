"""Which rows of a Claude Code file were on the line that was live last, and which were left.

A file is a tree: each row names its parent, a rewind starts a second child. But real trees are torn. Parents are
missing, results of parallel calls hang beside the line, hooks and local commands fork it without anybody having
left it. So walking parents alone loses more than a quarter of the rows. The rule here is: walk back from the last
thing said, bridge what is missing, then take back whatever belongs to what is on the line already.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from handrail.harnesses.claude_code.said import Held, blocks_of, is_aside, response_id, words_of
from handrail.harnesses.claude_code.wire import Row

_NO_PARENT = -1


class OtherLine(NamedTuple):
    """Rows of a line that is not live: ``rows`` are its own, ``stem`` those between the live line and them,
    ``leaves_at`` the live row it hangs on (-1 when it starts on its own)."""

    rows: tuple[int, ...]
    stem: tuple[int, ...]
    leaves_at: int


class Lines(NamedTuple):
    """The lines of a file by row index, in file order. ``bridged`` are rows whose recorded parent is missing."""

    live: list[int]
    others: tuple[OtherLine, ...] = ()
    bridged: frozenset[int] = frozenset()


def find_lines(rows: list[Row]) -> Lines:
    """The live line of ``rows`` and the others.

    The live line holds rows without an id too (queue records, titles), which stand outside the tree. Side-chain
    rows count only when there is nothing else, as in a sub-agent's own file. Of rows with the same id the first
    counts.
    """
    if _is_chain(rows):
        return Lines(list(range(len(rows))))
    tree = _Tree(rows)
    live = tree.line_of(tree.nodes, frozenset())
    left = [index for index in tree.nodes if index not in live]
    if left:
        held = Held(rows, live)
        left = tree.take_back(live, tree.set_aside_copies(live, left, held), held)
    gone = tree.outside.union(left)
    kept = [index for index in range(len(rows)) if index not in gone] if gone else list(range(len(rows)))
    return Lines(kept, tree.other_lines(live, left), frozenset(tree.bridged))


def _is_chain(rows: list[Row]) -> bool:
    """Whether every row with an id is the child of the one before it, which needs no tree."""
    last: str | None = None
    seen: set[str] = set()
    has_sides = False
    for row in rows:
        uuid = row.uuid
        if uuid is not None:
            if row.parentUuid != last or uuid in seen:
                return False
            if row.isSidechain:
                has_sides = True
            seen.add(uuid)
            last = uuid
    return not has_sides or not _has_main(rows)


def _has_main(rows: list[Row]) -> bool:
    """Whether any turn is not of a side chain."""
    return any(row.is_talk and not row.isSidechain for row in rows)


class _Tree:
    """The rows with ids as nodes, by row index; ``parents`` has an entry for every row, -1 for a root."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.bridged: set[int] = set()
        self.outside: set[int] = set()
        self.nodes: list[int] = []
        self.by_id: dict[str, int] = {}
        self.parents: list[int] = [_NO_PARENT] * len(rows)
        self._collect()

    def _collect(self) -> None:
        """Find the nodes and link each to its parent, which nearly always is the row with an id before it."""
        main = _has_main(self.rows)
        by_id, nodes, parents = self.by_id, self.nodes, self.parents
        torn: list[int] = []
        has_kept = False
        last, last_id = _NO_PARENT, None
        for index, row in enumerate(self.rows):
            uuid = row.uuid
            if uuid is None:
                continue
            if (row.isSidechain and main) or by_id.setdefault(uuid, index) != index:
                self.outside.add(index)
                continue
            if row.parentUuid == last_id and last_id is not None:
                parents[index] = last
            else:
                torn.append(index)
            if row.compactMetadata is not None:
                has_kept = True
            nodes.append(index)
            last, last_id = index, uuid
        kept = _preserved(self.rows, nodes, by_id) if has_kept else {}
        for index in nodes if kept else torn:
            parents[index] = self._parent(index, kept)

    def _parent(self, index: int, kept: dict[int, int]) -> int:
        """The row that row ``index`` follows."""
        row, last = self.rows[index], self._before(index)
        parent = self.by_id.get(row.parentUuid) if row.parentUuid is not None else None
        if parent is None or parent == index:
            return self._bridge(index, row, last)
        moved = kept.get(parent)
        if moved is not None and parent < moved < index:
            return moved
        return last if parent < last and self._is_caveat(parent) else parent

    def _before(self, index: int) -> int:
        """The row with an id that stands before ``index`` in the file."""
        at = bisect_left(self.nodes, index)
        return self.nodes[at - 1] if at else _NO_PARENT

    def _is_caveat(self, index: int) -> bool:
        row = self.rows[index]
        return bool(row.isMeta) and row.type == "user" and is_aside(row)

    def _bridge(self, index: int, row: Row, last: int) -> int:
        recorded = row.parentUuid or row.logicalParentUuid
        if recorded is None and (last == _NO_PARENT or _starts_anew(row)):
            return _NO_PARENT
        logical = self.by_id.get(row.logicalParentUuid) if row.logicalParentUuid is not None else None
        if logical is not None and logical < index:
            return logical
        self.bridged.add(index)
        return last

    def line_of(self, nodes: Collection[int], stop: AbstractSet[int]) -> set[int]:
        """The rows from the last thing said among ``nodes`` back to a root or a row of ``stop`` (not included)."""
        latest = sorted(nodes, reverse=True)  # a sorted list costs nothing to sort again
        at = next((index for index in latest if self._is_leaf(index)), None)
        if at is None:
            at = next((index for index in latest if self.rows[index].is_talk), latest[0] if latest else _NO_PARENT)
        line: set[int] = set()
        lowest = at
        while at != _NO_PARENT and at not in stop:
            if at in line:  # a cycle: go on before all that was walked
                self.bridged.add(lowest)
                at = self._before(lowest)
                continue
            line.add(at)
            if at < lowest:
                lowest = at
            at = self.parents[at]
        return line

    def _is_leaf(self, index: int) -> bool:
        """Whether a row says something. A result does not: a late one may be flushed at the end of a file."""
        row = self.rows[index]
        if row.type == "assistant":
            return True
        return row.type == "user" and not row.isMeta and not blocks_of(row, "tool_result") and not is_aside(row)

    def take_back(self, line: set[int], among: Iterable[int], held: Held) -> list[int]:
        """Add to ``line`` the rows of ``among`` that belong to it though they do not lead to its end; the others.

        ``held`` is what the rows of ``line`` said.
        """
        candidates = [index for index in among if index not in line]
        if not candidates:
            return candidates
        passed = self._passed(line)
        while candidates:
            left = []
            for index in candidates:
                if self._is_passed(index, passed) or self._belongs(index, line, held):
                    line.add(index)
                    held.add(index)
                else:
                    left.append(index)
            if len(left) == len(candidates):
                break
            candidates = left
        return candidates

    def _passed(self, line: set[int]) -> dict[int, int]:
        """By row of ``line`` that the line goes on from through bookkeeping: where it next says something.

        A reply and a hook's summary may be written as two children of one row. What is said next hangs on the
        summary, and nobody has left the reply.
        """
        rows, parents = self.rows, self.parents
        passed: dict[int, int] = {}
        following = len(rows)
        for index in sorted(line, reverse=True):
            kind = rows[index].type
            if kind == "assistant" or kind == "user":
                following = index
            elif parents[index] in line:
                passed[parents[index]] = following
        return passed

    def _is_passed(self, index: int, passed: dict[int, int]) -> bool:
        """Whether a reply, or what it led to, stands beside bookkeeping that the line went on from."""
        until = passed.get(self.parents[index])
        if until is None or index >= until or (self.rows[index].type == "user" and self._is_leaf(index)):
            return False
        passed[index] = until
        return True

    def _belongs(self, index: int, line: set[int], held: Held) -> bool:
        row = self.rows[index]
        if row.type == "assistant":
            return row.message is not None and row.message.id in held.responses
        if row.type == "user":
            results = blocks_of(row, "tool_result")
            if results:
                return held.has_call(results, self.parents[index])
        if row.isCompactSummary or row.subtype == "compact_boundary":
            return True
        if row.type == "user" and not is_aside(row):
            return False
        return self.parents[index] in line or self.parents[index] == _NO_PARENT

    def set_aside_copies(self, live: set[int], beside: list[int], held: Held) -> list[int]:
        """Leave out what stands on the line ``live`` a second time under other ids; what else is ``beside`` it.

        A client that takes over a session may write its history anew, with a root of its own. Then responses, the
        results of their calls and the prompts around them are there twice, with the same words and times. ``held`` is
        what the rows of ``live`` said.
        """
        rows = self.rows
        off = [index for index in beside if rows[index].is_talk]
        said = [
            index for index in off if rows[index].type == "assistant" and response_id(rows[index]) in held.responses
        ]
        if not said:
            return beside
        named = {response_id(rows[index]) for index in said}
        words = {words_of(message) for message in held.said if message.id in named} - {None}
        twice = [index for index in said if words_of(rows[index].message) in words]
        if not twice:
            return beside
        again = {response_id(rows[index]) for index in twice}
        calls = {block.id for index in twice for block in blocks_of(rows[index], "tool_use")}
        times = {rows[index].timestamp for index in live if rows[index].type == "user"} - {None}
        copies: set[int] = set()
        for index in off:
            row = rows[index]
            results = blocks_of(row, "tool_result")
            if row.type == "assistant":
                is_copy = response_id(row) in again
            elif results:
                is_copy = all(block.tool_use_id in calls for block in results)
            else:
                is_copy = row.timestamp in times
            if is_copy:
                copies.add(index)
        self.outside |= copies
        self.nodes = [index for index in self.nodes if index not in copies]
        return [index for index in beside if index not in copies]

    def other_lines(self, live: set[int], left: list[int]) -> tuple[OtherLine, ...]:
        """What is ``left``, line by line: of each tree beside the live line its last line, then what left that one."""
        found: list[OtherLine] = []
        taken = set(live)
        for group in self._trees_of(left):
            while group:
                line = self.line_of(group, taken)
                self.take_back(line, sorted(group), Held(self.rows, line))
                line &= group
                if not line:
                    break
                stem, leaves_at = self._stem(min(line), live)
                if any(self.rows[index].is_talk for index in line):
                    found.append(OtherLine(tuple(sorted(line)), stem, leaves_at))
                taken |= line
                group -= line
        return tuple(sorted(found, key=lambda other: (other.leaves_at, other.rows[0])))

    def _trees_of(self, left: list[int]) -> Iterable[set[int]]:
        """The rows of ``left`` in groups that hang together, each row with its parent where that stands before it."""
        groups: dict[int, set[int]] = {}
        trees: list[set[int]] = []
        for index in left:
            group = groups.get(self.parents[index])
            if group is None:
                group = set()
                trees.append(group)
            group.add(index)
            groups[index] = group
        return trees

    def _stem(self, first: int, live: set[int]) -> tuple[tuple[int, ...], int]:
        stem: dict[int, None] = {}
        at = self.parents[first]
        while at != _NO_PARENT and at not in live and at not in stem:
            stem[at] = None
            at = self.parents[at]
        return tuple(reversed(stem)), at if at in live else _NO_PARENT


def _preserved(rows: list[Row], nodes: list[int], by_id: dict[str, int]) -> dict[int, int]:
    """For the last row of a stretch that a compaction kept: the row that stands for it after the compaction."""
    kept: dict[int, int] = {}
    for index in nodes:
        metadata = rows[index].compactMetadata
        if metadata is None or metadata.preservedSegment is None:
            continue
        tail = by_id.get(metadata.preservedSegment.tailUuid or "")
        if tail is not None:
            kept[tail] = by_id.get(metadata.preservedSegment.anchorUuid or "", index)
    return kept


def _starts_anew(row: Row) -> bool:
    """Whether a row without any parent is a first prompt that was said again."""
    return row.type == "user" and not row.isMeta and not row.isCompactSummary and not is_aside(row)
