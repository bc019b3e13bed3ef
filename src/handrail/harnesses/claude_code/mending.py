"""The edits that make a copy of a Claude Code file which resumes whole.

Nothing is rewritten that needs not be: a parent, an id, a block is replaced in its row, a row is taken out or moved,
a row is put in. What is put in says that it is synthetic, and its ids follow from what was there, so that the same
file gives the same copy and a copy of the copy is the copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from handrail import ids, jsonio
from handrail.errors import MalformedSession
from handrail.harnesses.claude_code.ledger import Ledger
from handrail.harnesses.claude_code.line import find_lines
from handrail.harnesses.claude_code.outlook import Outlook
from handrail.harnesses.claude_code.resume import response_of, resume
from handrail.harnesses.claude_code.spine import ids_of, in_order, place_late_results, straighten
from handrail.harnesses.families.layout import Layout
from handrail.harnesses.families.markers import REPAIR_NOTE
from handrail.harnesses.families.pairing import Occurrence
from handrail.harnesses.families.pictures import digest, measure
from handrail.harnesses.families.places import Path
from handrail.transcripts.repair import Edit, Source, Wishes, merged

SYNTHETIC_RESULT = f"{REPAIR_NOTE}interrupted: no result of this call was recorded"


def edits(source: Source, wishes: Wishes) -> tuple[Edit, ...]:
    """The edits for the file ``source``; ``MalformedSession`` when it has no line ``wishes.branch``."""
    ledger = Ledger().read(source.chunks())
    outlook = Outlook(ledger)
    return merged([*ledger.examiner.wounds, *_Mending(source, outlook).edits(wishes)])


class _Mending:
    """The changes of one file; what they do to the tree goes to ``outlook.view``, what to its bytes to ``layout``."""

    def __init__(self, source: Source, outlook: Outlook) -> None:
        self.source = source
        self.outlook = outlook
        self.entries = outlook.ledger.entries
        self.cut_blocks: dict[int, set[int]] = {}
        self.layout = Layout(source, self.entries, outlook.ledger.examiner.wounds)

    def edits(self, wishes: Wishes) -> Iterable[Edit]:
        view = self.outlook.view
        for index, first in view.copies.items():
            self.layout.drop(index, "drop_copy", f"the same row stands at byte {self.entries[first].start:,}")
        for index in view.dead:
            self.layout.drop(index, "drop_dead_tail", "a reply without a token that no model gave", is_loss=True)
        self._mend_blocks()
        if wishes.images is not None:
            self._replace_images()
        order, walk = self._lines(wishes.branch)
        self._bridge_the_rest(order)
        order = self._answer_calls(order, walk)
        for index, new in view.renamed.items():
            self.layout.replace(index, ("uuid",), jsonio.encode(new), "new_uuid", "the id belongs to another row")
        for index, parent in view.relinked.items():
            if not view.is_gone(index):
                self.layout.replace(index, ("parentUuid",), jsonio.encode(parent), "relink", "a parent bridged")
        for index, parent in view.logical.items():
            path: Path = ("logicalParentUuid",)
            self.layout.replace(index, path, jsonio.encode(parent), "relink", "what a compaction goes on from")
        self.layout.order = order
        return self.layout.edits()

    # Lines ---------------------------------------------------------------------------------------------------

    def _lines(self, branch: str | None) -> tuple[list[int], list[int]]:
        """The order of the rows to be, and the walk of the live line; parents are relinked where that needs it."""
        outlook, view = self.outlook, self.outlook.view
        everything = list(range(len(view.rows)))
        if branch is not None:
            order = in_order(view, self._rows_of(branch))
            live = find_lines([view.rows[index] for index in order]).live
            wanted = {order[at] for at in live}
        else:
            wanted = outlook.wanted
            order = place_late_results(view, everything, outlook.lines.live)
        mended = resume(view.rows, len(view.rows))
        if branch is None and order == everything and not outlook.stranded and not outlook.lost(mended):
            return order, list(reversed(mended.walk))
        return order, straighten(view, order, wanted, outlook.is_turn)

    def _bridge_the_rest(self, order: list[int]) -> None:
        """Give every row whose parent is missing the row before it, though no resume needs it; none, if it is first."""
        view = self.outlook.view
        known = view.by_id
        before: list[int] = []
        named: set[str | None] = set()
        for index in order:
            row = view.rows[index]
            if row.parentUuid is not None and row.parentUuid not in known:
                # Only a row that an earlier one names can have that one below it.
                safe = before if row.uuid not in named else [at for at in before if not view.is_above(index, at)]
                view.relink(index, view.rows[safe[-1]].uuid if safe else None)
            named.add(row.parentUuid)
            if row.uuid is not None:
                before.append(index)

    def _rows_of(self, branch: str) -> tuple[int, ...]:
        for other in self.outlook.lines.others:
            if any(self.outlook.view.rows[index].uuid == branch for index in other.rows):
                return other.rows
        raise MalformedSession(
            f"the session has no branch {branch[:80]!r}", hint="handrail doctor names the lines that were left"
        )

    # Calls and results ---------------------------------------------------------------------------------------

    def _mend_blocks(self) -> None:
        pairing = self.outlook.pairing
        for call in pairing.copies:
            self._drop_block(call, "drop_copy", f"call {call.id} says again what another of its id says")
        for result in pairing.doubles:
            self._drop_block(result, "drop_copy", f"call {result.id} has the same answer already")
        for (row, block), new in pairing.renamed.items():
            field = "id" if any(mark.block == block for mark in self.entries[row].calls) else "tool_use_id"
            path: Path = ("message", "content", block, field)
            self.layout.replace(row, path, jsonio.encode(new), "new_call_id", "the call id is used more than once")
        for result in pairing.orphans:
            self._note_result(result, "result of a call that is missing")
        for result in pairing.extra:
            self._note_result(result, "another result of a call that is answered")

    def _drop_block(self, item: Occurrence, kind: str, message: str) -> None:
        """Take a block out of its row, the row as well when nothing else is in it."""
        entry, view = self.entries[item.row], self.outlook.view
        content = entry.row.message.content if entry.row.message is not None else None
        cut = self.cut_blocks.setdefault(item.row, set())
        cut.add(item.block)
        if isinstance(content, list) and len(cut) < len(content):
            self.layout.cut(item.row, ("message", "content", item.block), kind, message)
            return
        self.layout.drop(item.row, kind, message)
        for index, row in enumerate(view.rows):
            if row.parentUuid is not None and row.parentUuid == entry.row.uuid:
                view.relink(index, view.rows[item.row].parentUuid)
        view.remove(item.row)
        self.outlook.wanted.discard(item.row)

    def _note_result(self, result: Occurrence, what: str) -> None:
        """Put a note with the words of a result in its place, since a request may not hold it."""
        path: Path = ("message", "content", result.block)
        block = self._value(result.row, path)
        head = {"type": "text", "text": f"{REPAIR_NOTE}{what} ({result.id}):\n{_words(block)}"}
        blocks = [head, *_pictures(block)]
        new = b",".join(jsonio.encode(item) for item in blocks)
        self.layout.replace(result.row, path, new, "result_to_note", f"{what}: {result.id}")

    def _value(self, index: int, path: Path) -> Any:
        entry = self.entries[index]
        value: Any = jsonio.decode(self.source.read(entry.start, entry.end).replace(b"\x00", b""))
        for key in path:
            value = value[key]
        return value

    def _replace_images(self) -> None:
        for index, entry in enumerate(self.entries):
            for image in entry.images:
                source = self._value(index, image.path)["source"]
                text = f"{REPAIR_NOTE}{_picture_note(source)}"
                new = jsonio.encode({"type": "text", "text": text})
                self.layout.replace(index, image.path, new, "image_to_note", _picture_note(source), is_loss=True)

    def _answer_calls(self, order: list[int], walk: list[int]) -> list[int]:
        """``order`` with a synthetic row of results tied in behind every response that has unanswered calls."""
        groups: dict[str | int, list[Occurrence]] = {}
        for call in self.outlook.pairing.unanswered:
            if not self.outlook.view.is_gone(call.row):
                groups.setdefault(call.group or call.row, []).append(call)
        if not groups:
            return order
        place = {index: at for at, index in enumerate(walk)}
        rows_of = self._responses()
        before: dict[int, list[int]] = {}
        behind: dict[int, list[int]] = {}
        last: list[int] = []
        for number, (group, calls) in enumerate(groups.items(), start=len(self.entries)):
            response = rows_of.get(group, [calls[-1].row])
            on_walk = [place[index] for index in response if index in place]
            parent = walk[max(on_walk)] if on_walk else calls[-1].row
            uuid = self._add_results(number, calls, parent)
            if not on_walk:
                behind.setdefault(max(response), []).append(number)
            elif max(on_walk) + 1 == len(walk):
                last.append(number)
            else:
                following = walk[max(on_walk) + 1]
                self.outlook.view.relink(following, uuid)
                before.setdefault(following, []).append(number)
        placed = (item for row in order for item in (*before.get(row, ()), row, *behind.get(row, ())))
        return [*placed, *last]

    def _add_results(self, number: int, calls: list[Occurrence], parent: int) -> str:
        """Put in the row ``number`` with results for ``calls``, a child of row ``parent``; its id."""
        names = [self.outlook.pairing.id_of(call) for call in calls]
        uuid = ids.stable_uuid("repair", "result", *names)
        row = self._synthetic(calls[-1].row, self.outlook.view.rows[parent].uuid, uuid, names)
        message = f"a synthetic result for {', '.join(names)}"
        self.layout.add(number, jsonio.encode(row) + b"\n", "synthetic_result", message)
        return uuid

    def _responses(self) -> dict[str | int, list[int]]:
        """The rows of every response, and those with results of its calls."""
        rows = self.outlook.view.rows
        found: dict[str | int, list[int]] = {}
        asked_in: dict[str, str] = {}
        for index, row in enumerate(rows):
            response = response_of(row)
            if response is not None:
                found.setdefault(response, []).append(index)
                asked_in.update(dict.fromkeys(ids_of(row, "tool_use"), response))
        for index, row in enumerate(rows):
            for response in {asked_in[call] for call in ids_of(row, "tool_result") if call in asked_in}:
                found[response].append(index)
        return found

    def _synthetic(self, call: int, parent: str | None, uuid: str, names: list[str]) -> dict[str, Any]:
        entry = self.entries[call]
        raw = jsonio.decode(self.source.read(entry.start, entry.end).replace(b"\x00", b""))
        kept = ("isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch")
        content = [
            {"tool_use_id": name, "type": "tool_result", "content": SYNTHETIC_RESULT, "is_error": True}
            for name in names
        ]
        return {
            "parentUuid": parent,
            **{key: raw[key] for key in kept if key in raw},
            "type": "user",
            "message": {"role": "user", "content": content},
            "uuid": uuid,
            **({"timestamp": raw["timestamp"]} if "timestamp" in raw else {}),
            "toolUseResult": f"Error: {SYNTHETIC_RESULT}",
            "isSynthetic": True,
        }


def _words(block: Any) -> str:
    content = block.get("content") if isinstance(block, dict) else None
    if isinstance(content, str):
        return content
    items = content if isinstance(content, list) else []
    return "\n".join(item["text"] for item in items if isinstance(item, dict) and isinstance(item.get("text"), str))


def _pictures(block: Any) -> Iterator[Any]:
    content = block.get("content") if isinstance(block, dict) else None
    for item in content if isinstance(content, list) else []:
        if isinstance(item, dict) and item.get("type") == "image":
            yield item


def _picture_note(source: dict[str, Any]) -> str:
    data = source["data"]
    kind = source.get("media_type") or "image"
    return f"image left out: {kind}, {measure(data).shown}, sha256 {digest(data)}"
