"""The edits that make a copy of a rollout that Codex opens whole and its provider accepts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from handrail import ids, jsonio
from handrail.errors import MalformedSession
from handrail.harnesses.codex.ledger import Entry, Ledger, data_of, url_of
from handrail.harnesses.codex.outlook import Outlook
from handrail.harnesses.codex.wire import ITEM
from handrail.harnesses.families.layout import Layout
from handrail.harnesses.families.markers import REPAIR_NOTE
from handrail.harnesses.families.pairing import Occurrence
from handrail.harnesses.families.pictures import digest, measure
from handrail.transcripts.repair import Edit, Source, Wishes, merged

SYNTHETIC_OUTPUT = f"{REPAIR_NOTE}interrupted: no output of this call was recorded"
_OUTPUT_OF = {"custom_tool_call": "custom_tool_call_output", "tool_search_call": "tool_search_output"}


def edits(source: Source, wishes: Wishes) -> tuple[Edit, ...]:
    """The edits for the rollout ``source``; ``MalformedSession`` when a branch is wished for, since none can be taken.

    What Codex rolled back stands before the event that says so; a copy that took it would have to drop later turns.
    """
    if wishes.branch is not None:
        raise MalformedSession(
            "a rollout has one line; what was rolled back cannot be made the end of it",
            hint="handrail crop keeps the messages up to a place",
        )
    ledger = Ledger().read(source.chunks())
    mending = _Mending(source, Outlook(ledger))
    return merged([*ledger.examiner.wounds, *mending.edits(wishes)])


class _Mending:
    def __init__(self, source: Source, outlook: Outlook) -> None:
        self.source = source
        self.outlook = outlook
        self.entries = outlook.ledger.entries
        self.layout = Layout(source, self.entries, outlook.ledger.examiner.wounds)

    def edits(self, wishes: Wishes) -> Iterable[Edit]:
        """The edits, in no order."""
        for index, first in self.outlook.copies.items():
            self.layout.drop(index, "drop_copy", f"the same row stands at byte {self.entries[first].start:,}")
        self._mend_calls()
        if wishes.images is not None:
            self._replace_images()
        self._answer_calls()
        if self.outlook.lacks_header:
            self._add_header()
        return self.layout.edits()

    def _mend_calls(self) -> None:
        pairing = self.outlook.pairing
        for item in (*pairing.copies, *pairing.doubles):
            self.layout.drop(item.row, "drop_copy", f"call {item.id}: the same stands before")
        for (row, _), new in pairing.renamed.items():
            path = (*self._inside(row), "call_id")
            self.layout.replace(row, path, jsonio.encode(new), "new_call_id", "the call id is used more than once")
        for output in pairing.orphans:
            self._note_output(output, "output of a call that is missing")
        for output in pairing.extra:
            self._note_output(output, "another output of a call that is answered")

    def _note_output(self, output: Occurrence, what: str) -> None:
        """Put a note with the words of an output in its place, since a request may not hold it."""
        payload = self._payload(output.row)
        text = f"{REPAIR_NOTE}{what} ({output.id}):\n{_words(payload.get('output'))}"
        note = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        path = self._inside(output.row)
        self.layout.replace(output.row, path, jsonio.encode(note), "result_to_note", f"{what}: {output.id}")

    def _inside(self, index: int) -> tuple[str, ...]:
        """Where the item of a row stands in it."""
        return () if self.entries[index].is_bare else ("payload",)

    def _payload(self, index: int) -> dict[str, Any]:
        entry = self.entries[index]
        record = jsonio.decode(self.source.read(entry.start, entry.end).replace(b"\x00", b""))
        payload: dict[str, Any] = record if entry.is_bare else record["payload"]
        return payload

    def _replace_images(self) -> None:
        for index, entry in enumerate(self.entries):
            for image in entry.images:
                key, item = image.path[-2:]
                url = url_of(self._payload(index)[str(key)][item]) or ""
                data = data_of(url)
                kind = url[len("data:") :].partition(";")[0] or "image"
                message = f"image left out: {kind}, {measure(data).shown}, sha256 {digest(data)}"
                new = jsonio.encode({"type": "input_text", "text": f"{REPAIR_NOTE}{message}"})
                self.layout.replace(index, image.path, new, "image_to_note", message, is_loss=True)

    def _answer_calls(self) -> None:
        behind: dict[int, list[Occurrence]] = {}
        for call in self.outlook.pairing.unanswered:
            behind.setdefault(self.outlook.end_of_response(call.row), []).append(call)
        order: list[int] = []
        number = len(self.entries)
        for index in range(len(self.entries)):
            order.append(index)
            for call in behind.get(index, ()):
                name = self.outlook.pairing.id_of(call)
                row = _synthetic(self.entries[call.row], name)
                self.layout.add(
                    number, jsonio.encode(row) + b"\n", "synthetic_result", f"a synthetic output for {name}"
                )
                order.append(number)
                number += 1
        self.layout.order = order

    def _add_header(self) -> None:
        """Put a ``session_meta`` first; its id follows from the first row, its folder from the first that names one."""
        first = self.entries[0]
        cwd = next((entry.cwd for entry in self.entries if entry.cwd), "")
        time = next((entry.time for entry in self.entries if entry.time), "")
        session = ids.stable_uuid("repair", "header", self.source.read(first.start, first.end).hex())
        meta = {"id": session, "timestamp": time, "cwd": cwd, "originator": "handrail_repair", "cli_version": ""}
        row: dict[str, Any] = {"timestamp": time, "type": "session_meta", "payload": {**meta, "source": "unknown"}}
        if self.outlook.ledger.is_bare:
            row = {"id": session, "timestamp": time, "instructions": None}
        number = len(self.entries) + len(self.layout.order)
        self.layout.add(number, jsonio.encode(row) + b"\n", "new_header", f"a header with the id {session}")
        self.layout.order = [number, *self.layout.order]


def _synthetic(entry: Entry, call: str) -> dict[str, Any]:
    kind = _OUTPUT_OF.get(entry.kind, "function_call_output")
    payload: dict[str, Any] = {"type": kind, "call_id": call}
    if kind == "tool_search_output":
        payload |= {"status": "incomplete", "execution": "client", "tools": []}
    else:
        payload["output"] = SYNTHETIC_OUTPUT
    if entry.is_bare:
        return payload
    return {"timestamp": entry.time, "type": ITEM, "payload": payload}


def _words(output: Any) -> str:
    """The words of an output; those inside of the JSON that older versions put round them."""
    if isinstance(output, str):
        inner = _decoded(output)
        return _words(inner["output"]) if isinstance(inner, dict) and "output" in inner else output
    if isinstance(output, dict) and isinstance(output.get("content"), str):
        return str(output["content"])
    items = output if isinstance(output, list) else []
    return "\n".join(item["text"] for item in items if isinstance(item, dict) and isinstance(item.get("text"), str))


def _decoded(text: str) -> Any:
    try:
        return jsonio.decode(text.encode("utf-8", "surrogatepass")) if text.startswith("{") else None
    except jsonio.NotJson:
        return None
