"""The Claude Code codec: bytes to rows to the canonical model, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from handrail.errors import MalformedSession
from handrail.harnesses.claude_code.check import unnamed_losses
from handrail.harnesses.claude_code.children import find_children
from handrail.harnesses.claude_code.crop import crop_row, cut_marks, kept_rows, render_rows
from handrail.harnesses.claude_code.head import read_head, read_meta, read_setting
from handrail.harnesses.claude_code.line import Lines, OtherLine, find_lines
from handrail.harnesses.claude_code.read import read_line, read_line_rows
from handrail.harnesses.claude_code.speech import Setting
from handrail.harnesses.claude_code.wire import BULKY, KNOWN_KINDS, STARTS, Native, Row, read_rows
from handrail.harnesses.claude_code.write import write_session
from handrail.harnesses.claude_code.written import render_rows as render_session
from handrail.harnesses.families.jsonl import JsonlFiles
from handrail.harnesses.families.streaming import scan
from handrail.transcripts.codec import Branch, Child, Fault, Loss, Parts, Record
from handrail.transcripts.model import Common, Transcript
from handrail.transcripts.spans import Span


def main_part(parts: Parts) -> str:
    """The name of the session's own file among its parts: the one that lies in no folder and is no sub-agent's."""
    names = sorted(parts, key=lambda name: (name.count("/"), name.rpartition("/")[2].startswith("agent-"), name))
    return next((name for name in names if not name or name.endswith(".jsonl")), "")


class ClaudeCodeCodec:
    """Reads and writes the sessions of Claude Code."""

    def parse(self, data: Parts | bytes) -> Transcript[Native]:
        """The native transcript of a session file, or of one with its side files as named parts."""
        native = JsonlFiles(data, read_rows)
        rows = native.rows(main_part(native.parts))
        return Transcript(read_meta(rows.rows, read_head(rows)), native)

    def extend(self, native: Transcript[Native], more: bytes) -> Transcript[Native]:
        """What ``parse`` gives for a session of one file with the whole lines ``more`` appended."""
        rows = native.body.grown_rows(more)
        return Transcript(read_meta(rows.rows, read_head(rows)), JsonlFiles(rows.data, read_rows, {"": rows}))

    def render(self, native: Transcript[Native]) -> Parts | bytes:
        """What ``parse`` was given."""
        return native.body.given

    def scan(self, chunks: Iterable[bytes]) -> Iterator[Record]:
        """Record by record; rows of ``progress`` are told by their first bytes."""
        return scan(chunks, STARTS, BULKY)

    def to_common(self, native: Transcript[Native], branch: str | None = None) -> Transcript[Common]:
        """The live line, or the line of ``branch`` from the beginning of the session to its end."""
        reading = _Reading(native)
        if branch is None:
            return Transcript(native.meta, reading.live())
        for other in reading.lines.others:
            if reading.own(other)[:1] and reading.own(other)[0].uid == branch:
                return Transcript(native.meta, reading.whole(other))
        raise MalformedSession(f"the session has no branch {branch!r}")

    def from_common(self, common: Transcript[Common]) -> Transcript[Native]:
        """The session as Claude Code would have written it; the same input gives the same bytes."""
        return self.parse(render_session(write_session(common).rows))

    def write(self, common: Transcript[Common]) -> tuple[Transcript[Native], Loss]:
        """``from_common`` and what it could not carry, found by reading back what was written."""
        written = write_session(common)
        native = self.parse(render_session(written.rows))
        items = [*written.losses, *unnamed_losses(written, self.to_common(native))]
        items.sort(key=lambda item: (-1 if item.message is None else item.message, item.block or 0))
        uids = {
            message.uid: own[0]
            for message, own in zip(common.body, written.row_ids, strict=True)
            if message.uid and own
        }
        return native, Loss(items=tuple(items), uids=uids)

    def crop(self, native: Transcript[Native], spans: Sequence[Span]) -> Transcript[Native]:
        """A copy that keeps the rows behind ``spans`` of the live line and their bookkeeping."""
        reading = _Reading(native)
        body, made_of = reading.live_rows()
        Transcript(native.meta, body).crop_to(spans)
        kept = sorted({index for span in spans for index in range(span.start, span.end)})
        rows = kept_rows(reading.rows, reading.lines.live, made_of, set(kept))
        data = render_rows(reading.rows, rows, cut_marks(made_of, body, kept))
        cut = read_rows(data, "")
        head = read_head(cut)
        if (read_meta(cut.rows, head), read_setting(cut.rows, head)) != (native.meta, reading.setting):
            data = crop_row(native.meta, reading.setting) + data
        given = native.body.given
        if isinstance(given, bytes):
            return Transcript(native.meta, JsonlFiles(data, read_rows))
        return Transcript(native.meta, JsonlFiles({**given, main_part(given): data}, read_rows))

    def branches(self, native: Transcript[Native]) -> tuple[Branch, ...]:
        """The other lines of the session, in the order they leave the live one."""
        reading = _Reading(native)
        if not reading.lines.others:
            return ()
        live = reading.live()
        found = []
        for other in reading.lines.others:
            body = reading.own(other)
            if body:
                found.append(Branch(id=body[0].uid, at=reading.place(other, live), body=body))
        return tuple(sorted(found, key=lambda branch: branch.at))

    def children(self, native: Transcript[Native]) -> tuple[Child, ...]:
        """The sub-agents the session started, as far as its rows and parts tell."""
        return find_children(native, main_part(native.body.parts))

    def response_ids(self, native: Transcript[Native]) -> Mapping[str, str]:
        """The id that the provider gave each response, by the id of every row of it, files of sub-agents included."""
        body = native.body
        return {
            row.uuid: row.message.id
            for part in body.parts
            for row in body.rows(part).rows
            if row.type == "assistant" and row.uuid is not None and row.message is not None and row.message.id
        }

    def faults(self, native: Transcript[Native]) -> tuple[Fault, ...]:
        """What could not be read, part by part."""
        body = native.body
        return tuple(fault for part in body.parts for fault in body.rows(part).faults)

    def unknown(self, native: Transcript[Native]) -> Mapping[str, int]:
        """How many records of each kind no version known to us writes."""
        body = native.body
        kinds = Counter(row.type for part in body.parts for row in body.rows(part).rows)
        return {kind: count for kind, count in sorted(kinds.items()) if kind not in KNOWN_KINDS}


class _Reading:
    """One reading of a native session: its rows, its lines, what its prompts are worth."""

    def __init__(self, native: Transcript[Native]) -> None:
        self.rows = native.body.rows(main_part(native.body.parts))
        self.setting: Setting = read_setting(self.rows.rows, read_head(self.rows))
        self.lines: Lines = find_lines(self.rows.rows)
        self.session = _own_session(native, self.rows.rows)

    def live(self) -> Common:
        return self._read(self.lines.live)

    def live_rows(self) -> tuple[Common, list[list[int]]]:
        """The live line with the rows each message is made of."""
        return read_line_rows(self.rows, self.lines.live, self.setting, self.session, self.lines.bridged)

    def own(self, other: OtherLine) -> Common:
        return self._read(other.rows)

    def whole(self, other: OtherLine) -> Common:
        """The rows of the live line up to where ``other`` leaves it, then what leads to it, then its own."""
        before = [index for index in self.lines.live if index <= other.leaves_at]
        return self._read(sorted({*before, *other.stem, *other.rows}))

    def place(self, other: OtherLine, live: Common) -> int:
        """The index in ``live`` of the first message that ``other`` does not share."""
        rows = self.rows.rows
        shared = {rows[index].uuid for index in self.lines.live if index <= other.leaves_at}
        for index, message in enumerate(live):
            if message.uids and not any(uid in shared for uid in message.uids):
                return index
        return len(live)

    def _read(self, indices: Iterable[int]) -> Common:
        return read_line(self.rows, indices, self.setting, self.session, self.lines.bridged)


def _own_session(native: Transcript[Native], rows: list[Row]) -> str:
    parent = native.meta.parent
    if parent is not None and parent.kind == "subagent":
        return parent.session
    return native.meta.id
