"""A file of rows to be: which rows go, which move, which are put in, what of them is replaced; and the edits for it.

A row that stays in its place keeps its bytes but for what is replaced in it. One that moves is taken out at its place
and put in at the other, each said. Nothing here reads a row unless something in it changes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from handrail.harnesses.families.places import Path, find_places, replaced
from handrail.transcripts.repair import Edit, Source, merged


class Placed(Protocol):
    """Where a row stands: its bytes, its line (``line_end`` is past the line feed), whether it has it for itself."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def line_start(self) -> int: ...
    @property
    def line_end(self) -> int: ...
    @property
    def is_alone(self) -> bool: ...


class _Change(NamedTuple):
    new: bytes
    kind: str
    message: str
    is_loss: bool = False


class Layout:
    """The changes to a file whose rows are ``entries``; ``order`` is the order of rows to be.

    ``wounds`` are the edits that mend its bytes; a row that moves takes those within it along. Rows that are put in
    have numbers of their own in ``order``: from ``len(entries)`` on, any that is free.
    """

    def __init__(self, source: Source, entries: Sequence[Placed], wounds: Sequence[Edit]) -> None:
        self.source = source
        self._wounds = wounds
        self.entries = entries
        self.order: list[int] = list(range(len(entries)))
        self._dropped: dict[int, _Change] = {}
        self._values: dict[int, dict[Path, _Change]] = {}
        self._cuts: dict[int, dict[Path, _Change]] = {}
        self._added: dict[int, _Change] = {}

    def drop(self, index: int, kind: str, message: str, *, is_loss: bool = False) -> None:
        """Take row ``index`` out."""
        self._dropped.setdefault(index, _Change(b"", kind, message, is_loss))

    def replace(self, index: int, path: Path, new: bytes, kind: str, message: str, *, is_loss: bool = False) -> None:
        """Put the JSON ``new`` in place of the value at ``path`` of row ``index``."""
        self._values.setdefault(index, {})[path] = _Change(new, kind, message, is_loss)

    def cut(self, index: int, path: Path, kind: str, message: str) -> None:
        """Take the item at ``path`` out of its list in row ``index``; others of the list stay."""
        self._cuts.setdefault(index, {})[path] = _Change(b"", kind, message)

    def add(self, number: int, line: bytes, kind: str, message: str) -> None:
        """Put in ``line`` (with its line feed) where ``order`` has ``number``."""
        self._added[number] = _Change(line, kind, message)

    def edits(self) -> Iterator[Edit]:
        """The edits, in no order."""
        moved = _out_of_place(self.order, len(self.entries))
        pending: list[tuple[bytes, str, str]] = []
        end = 0
        for index in self.order:
            if index in self._added:
                change = self._added[index]
                pending.append((change.new, change.kind, change.message))
            elif index in self._dropped:
                yield self._removal(index, self._dropped[index])
            elif index in moved:
                yield self._removal(index, _Change(b"", "move_out", "a row that stands in its place now"))
                pending.append((self._moved_line(index), "move_in", f"the row of byte {self.entries[index].start:,}"))
            else:
                entry = self.entries[index]
                yield from _insertions(self._front(index), pending)
                pending = []
                yield from self._inner_edits(index)
                end = max(end, entry.line_end)
        end = max([end, *(entry.line_end for entry in self.entries)], default=0)
        yield from _insertions(end, pending)

    def _front(self, index: int) -> int:
        """Where a line can be put in before row ``index``."""
        entry = self.entries[index]
        is_first = index == 0 or self.entries[index - 1].line_start != entry.line_start
        return entry.line_start if is_first else entry.start

    def _removal(self, index: int, change: _Change) -> Edit:
        entry = self.entries[index]
        if entry.is_alone:
            return Edit(entry.line_start, entry.line_end, b"", change.kind, change.message, change.is_loss)
        is_first = index == 0 or self.entries[index - 1].line_start != entry.line_start
        is_last = index + 1 == len(self.entries) or self.entries[index + 1].line_start != entry.line_start
        if is_first and is_last and entry.end >= entry.line_end - 1:
            return Edit(entry.start, entry.line_end, b"", change.kind, change.message, change.is_loss)
        is_end = is_last and entry.end == entry.line_end
        new = b"\n" if is_end or not (is_first or is_last) else b""
        return Edit(entry.start, entry.end, new, change.kind, change.message, change.is_loss)

    def _inner_edits(self, index: int) -> Iterator[Edit]:
        values, cuts = self._values.get(index, {}), self._cuts.get(index, {})
        if not values and not cuts:
            return
        start = self.entries[index].start
        raw = self.source.read(start, self.entries[index].end)
        news = {path: change.new for path, change in values.items()}
        for path, first, last, new in replaced(raw, news):
            if raw[first:last] != new:
                change = values[path]
                yield Edit(start + first, start + last, new, change.kind, change.message, change.is_loss)
        for first, last, change in _cut_out(raw, cuts):
            yield Edit(start + first, start + last, b"", change.kind, change.message)

    def _moved_line(self, index: int) -> bytes:
        """The bytes of a row with its changes made, on a line of its own."""
        entry = self.entries[index]
        raw = self.source.read(entry.start, entry.end)
        wounds = [wound for wound in self._wounds if entry.start <= wound.start and wound.end <= entry.end]
        inside = [wound for wound in wounds if wound.end > wound.start]
        edits = merged([*inside, *self._inner_edits(index)])
        pieces: list[bytes] = []
        at = entry.start
        for edit in edits:
            pieces += [raw[at - entry.start : edit.start - entry.start], edit.new]
            at = edit.end
        return b"".join([*pieces, raw[at - entry.start :], b"\n"])


def _out_of_place(order: Sequence[int], count: int) -> set[int]:
    """The fewest rows that must move so that the others stand in file order: all but a longest rising sequence."""
    rows = [index for index in order if index < count]
    if all(before < after for before, after in pairwise(rows)):
        return set()
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, index in enumerate(rows):
        length = bisect_left(tails, index)
        tails[length : length + 1] = [index]
        ends[length : length + 1] = [at]
        before.append(ends[length - 1] if length else -1)
    kept = set()
    at = ends[-1]
    while at >= 0:
        kept.add(rows[at])
        at = before[at]
    return set(rows) - kept


def _insertions(at: int, pending: Sequence[tuple[bytes, str, str]]) -> Iterator[Edit]:
    for new, kind, message in pending:
        yield Edit(at, at, new, kind, message)


def _cut_out(raw: bytes, cuts: dict[Path, _Change]) -> Iterator[tuple[int, int, _Change]]:
    """The stretches that take items out of their lists, each with the comma that set it apart."""
    if not cuts:
        return
    parents = {path[:-1] for path in cuts}
    found = find_places(raw, lambda path: bool(path) and path[:-1] in parents)
    for parent in parents:
        items = sorted(path for path in found if path[:-1] == parent)
        kept_before = False
        for position, path in enumerate(items):
            start, end = found[path]
            if path not in cuts:
                kept_before = True
            elif kept_before:
                yield found[items[position - 1]][1], end, cuts[path]
            else:
                following = found[items[position + 1]][0] if position + 1 < len(items) else end
                yield start, following, cuts[path]
