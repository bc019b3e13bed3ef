"""The Claude Code codec: bytes to rows to the canonical model, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from handrail.errors import MalformedSession
from handrail.harnesses.claude_code.check import unnamed_losses
from handrail.harnesses.claude_code.children import find_children
from handrail.harnesses.claude_code.crop import crop_row, cut_marks, kept_rows, render_rows
from handrail.harnesses.claude_code.line import OtherLine
from handrail.harnesses.claude_code.native import Session
from handrail.harnesses.claude_code.read import read_line, read_line_rows
from handrail.harnesses.claude_code.wire import BULKY, KNOWN_KINDS, STARTS
from handrail.harnesses.claude_code.write import write_session
from handrail.harnesses.claude_code.written import render_rows as render_session
from handrail.harnesses.families.streaming import scan
from handrail.transcripts.codec import Branch, Child, Fault, Loss, Parts, Record
from handrail.transcripts.model import Common, Meta, Transcript
from handrail.transcripts.spans import Span


class ClaudeCodeCodec:
    """Reads and writes the sessions of Claude Code."""

    def parse(self, data: Parts | bytes) -> Transcript[Session]:
        """The native transcript of a session file, or of one with its side files as named parts."""
        session = Session(data)
        return Transcript(session.meta, session)

    def extend(self, native: Transcript[Session], more: bytes) -> Transcript[Session]:
        """What ``parse`` gives for a session of one file with the whole lines ``more`` appended."""
        rows = native.body.grown_rows(more)
        session = Session(rows.data, {"": rows})
        return Transcript(session.meta, session)

    def render(self, native: Transcript[Session]) -> Parts | bytes:
        """What ``parse`` was given."""
        return native.body.given

    def scan(self, chunks: Iterable[bytes]) -> Iterator[Record]:
        """Record by record; rows of ``progress`` are told by their first bytes."""
        return scan(chunks, STARTS, BULKY)

    def to_common(self, native: Transcript[Session], branch: str | None = None) -> Transcript[Common]:
        """The live line, or the line of ``branch`` from the beginning of the session to its end."""
        reading = _Reading(native)
        if branch is None:
            return Transcript(native.meta, reading.live())
        for other in reading.lines.others:
            if reading.own(other)[:1] and reading.own(other)[0].uid == branch:
                return Transcript(native.meta, reading.whole(other))
        raise MalformedSession(f"the session has no branch {branch!r}")

    def from_common(self, common: Transcript[Common]) -> Transcript[Session]:
        """The session as Claude Code would have written it; the same input gives the same bytes."""
        return self.parse(render_session(write_session(common).rows))

    def write(self, common: Transcript[Common]) -> tuple[Transcript[Session], Loss]:
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

    def crop(self, native: Transcript[Session], spans: Sequence[Span]) -> Transcript[Session]:
        """A copy that keeps the rows behind ``spans`` of the live line and their bookkeeping."""
        reading = _Reading(native)
        body, made_of = reading.live_rows()
        Transcript(native.meta, body).crop_to(spans)
        kept = sorted({index for span in spans for index in range(span.start, span.end)})
        rows = kept_rows(reading.rows, reading.lines.live, made_of, set(kept))
        data = render_rows(reading.rows, rows, cut_marks(made_of, body, kept))
        cut = Session(data)
        if (cut.meta, cut.setting) != (native.meta, native.body.setting):
            data = crop_row(native.meta, native.body.setting) + data
        given = native.body.given
        return Transcript(native.meta, Session(data if isinstance(given, bytes) else {**given, native.body.part: data}))

    def branches(self, native: Transcript[Session]) -> tuple[Branch, ...]:
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

    def children(self, native: Transcript[Session]) -> tuple[Child, ...]:
        """The sub-agents the session started, as far as its rows and parts tell."""
        return find_children(native)

    def response_ids(self, native: Transcript[Session]) -> Mapping[str, str]:
        """The id that the provider gave each response, by the id of every row of it, files of sub-agents included."""
        body = native.body
        return {
            row.uuid: row.message.id
            for part in body.parts
            for row in body.rows(part).rows
            if row.type == "assistant" and row.uuid is not None and row.message is not None and row.message.id
        }

    def faults(self, native: Transcript[Session]) -> tuple[Fault, ...]:
        """What could not be read, part by part."""
        body = native.body
        return tuple(fault for part in body.parts for fault in body.rows(part).faults)

    def unknown(self, native: Transcript[Session]) -> Mapping[str, int]:
        """How many records of each kind no version known to us writes."""
        body = native.body
        kinds = Counter(row.type for part in body.parts for row in body.rows(part).rows)
        return {kind: count for kind, count in sorted(kinds.items()) if kind not in KNOWN_KINDS}


class _Reading:
    """The messages of a native session, line by line."""

    def __init__(self, native: Transcript[Session]) -> None:
        self.rows = native.body.main
        self.lines = native.body.lines
        self._setting = native.body.setting
        self._session = _own_session(native.meta)

    def live(self) -> Common:
        return self._read(self.lines.live)

    def live_rows(self) -> tuple[Common, list[list[int]]]:
        """The live line with the rows each message is made of."""
        return read_line_rows(self.rows, self.lines.live, self._setting, self._session, self.lines.bridged)

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
        return read_line(self.rows, indices, self._setting, self._session, self.lines.bridged)


def _own_session(meta: Meta) -> str:
    parent = meta.parent
    return parent.session if parent is not None and parent.kind == "subagent" else meta.id
