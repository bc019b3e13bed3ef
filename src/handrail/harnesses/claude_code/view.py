"""The rows of a damaged file as they would be with every id its own, copies gone and no circle among parents.

Doctor says what this view differs in; repair writes it. Rows keep their index; one that goes is an empty row here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from handrail import ids
from handrail.harnesses.claude_code.ledger import Ledger
from handrail.harnesses.claude_code.resume import response_of
from handrail.harnesses.claude_code.wire import Row
from handrail.harnesses.families.pairing import Occurrence, Pairing, pair

_GONE = Row()


@dataclass
class View:
    """``rows`` with the changes, and the changes by row index.

    ``copies`` names for each copy what it copies, ``renamed`` new ids, ``relinked`` and ``logical`` new parents,
    ``dead`` the responses at the end that no model gave, ``cycles`` the rows at which a circle was opened.
    """

    rows: list[Row]
    copies: dict[int, int] = field(default_factory=dict)
    renamed: dict[int, str] = field(default_factory=dict)
    relinked: dict[int, str | None] = field(default_factory=dict)
    logical: dict[int, str | None] = field(default_factory=dict)
    dead: list[int] = field(default_factory=list)
    cycles: list[int] = field(default_factory=list)

    @property
    def by_id(self) -> dict[str, int]:
        """Row index by id; ids are unique here."""
        return {row.uuid: index for index, row in enumerate(self.rows) if row.uuid is not None}

    def is_gone(self, index: int) -> bool:
        """Whether row ``index`` is left out."""
        return self.rows[index] is _GONE

    def remove(self, index: int) -> None:
        """Leave row ``index`` out."""
        self.rows[index] = _GONE

    def relink(self, index: int, parent: str | None) -> None:
        """Give row ``index`` another parent."""
        row = self.rows[index]
        if row.parentUuid == parent:
            return
        self.relinked[index] = parent
        self.rows[index] = msgspec.structs.replace(row, parentUuid=parent)

    def relink_logically(self, index: int, parent: str | None) -> None:
        """Give row ``index``, which begins the line anew after a compaction, another row that it goes on from."""
        row = self.rows[index]
        if row.logicalParentUuid != parent:
            self.logical[index] = parent
            self.rows[index] = msgspec.structs.replace(row, logicalParentUuid=parent)

    def is_above(self, ancestor: int, index: int) -> bool:
        """Whether ``ancestor`` is among the parents of row ``index``, or is that row."""
        by_id = self.by_id
        seen: set[int] = set()
        at: int | None = index
        while at is not None and at not in seen:
            if at == ancestor:
                return True
            seen.add(at)
            at = by_id.get(self.rows[at].parentUuid or "")
        return False


def make_view(ledger: Ledger) -> View:
    """The view of ``ledger``."""
    view = View(list(ledger.rows))
    _drop_dead_tail(ledger, view)
    _resolve_ids(ledger, view)
    _open_cycles(view)
    return view


def _drop_dead_tail(ledger: Ledger, view: View) -> None:
    for index in range(len(view.rows) - 1, -1, -1):
        if not view.rows[index].is_talk:
            continue
        if not ledger.entries[index].is_dead:
            return
        view.dead.append(index)
        view.remove(index)


def _resolve_ids(ledger: Ledger, view: View) -> None:
    """Drop copies and give a row that uses another's id one of its own; rows after it that name the id mean it."""
    first: dict[str, int] = {}
    said: dict[str, set[int]] = {}
    current: dict[str, str] = {}
    before: str | None = None
    for index, row in enumerate(view.rows):
        if row.uuid is None:
            continue
        uuid, parent = row.uuid, current.get(row.parentUuid or "", row.parentUuid)
        if uuid not in first:
            first[uuid] = index
            said[uuid] = {ledger.entries[index].digest}
        elif ledger.entries[index].digest in said[uuid]:
            view.copies[index] = first[uuid]
            view.remove(index)
            continue
        else:
            new = ids.stable_uuid("repair", uuid, len(said[uuid]))
            said[uuid].add(ledger.entries[index].digest)
            view.renamed[index] = current[uuid] = new
            view.rows[index] = msgspec.structs.replace(row, uuid=new)
            if row.parentUuid in (uuid, ledger.entries[first[uuid]].row.parentUuid):
                parent = before
        view.relink(index, parent)
        before = view.rows[index].uuid


def _open_cycles(view: View) -> None:
    """Link the first row of every circle of parents to the row before it."""
    by_id = view.by_id
    done: set[int] = set()
    for start in by_id.values():
        path: list[int] = []
        on_path: set[int] = set()
        at: int | None = start
        while at is not None and at not in done and at not in on_path:
            path.append(at)
            on_path.add(at)
            at = by_id.get(view.rows[at].parentUuid or "")
        if at is not None and at in on_path:
            opened = min(path[path.index(at) :])
            view.cycles.append(opened)
            view.relink(opened, _before(view, opened))
        done |= on_path


def _before(view: View, index: int) -> str | None:
    rows = view.rows
    return next((rows[at].uuid for at in range(index - 1, -1, -1) if rows[at].uuid is not None), None)


def pair_calls(ledger: Ledger, view: View) -> Pairing:
    """The calls and results of all rows that stay."""
    calls: list[Occurrence] = []
    results: list[Occurrence] = []
    for index, entry in enumerate(ledger.entries):
        if view.is_gone(index):
            continue
        group = response_of(view.rows[index])
        calls += (Occurrence(mark.id, mark.digest, index, mark.block, group) for mark in entry.calls)
        results += (Occurrence(mark.id, mark.digest, index, mark.block) for mark in entry.results)
    return pair(calls, results)
