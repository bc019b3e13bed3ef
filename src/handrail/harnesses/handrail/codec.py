"""Journals as sessions of a harness: events to the canonical model and back, bytes kept.

Reading is the journal's own projection. A canonical session from elsewhere is written as an opened session and one
imported message a message, which holds everything the model holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from handrail.errors import MalformedSession, UnconvertibleSession
from handrail.harnesses.families.jsonl import JsonlFiles, RowReader, Rows
from handrail.harnesses.families.streaming import scan
from handrail.harnesses.handrail.imports import import_session
from handrail.journal.events import Event, Unknown
from handrail.journal.transcript import Projection, project_all
from handrail.journal.wire import EventRow, NotAnEvent, encode_event, read_row
from handrail.transcripts.codec import Branch, Child, Fault, Loss, Parts, Record
from handrail.transcripts.model import Common, Meta, Transcript
from handrail.transcripts.spans import Span

NAME = "handrail"
STARTS = (b'{"at":',)

Journal: TypeAlias = JsonlFiles[EventRow]

_reader = RowReader(EventRow, STARTS)


class HandrailCodec:
    """The codec of journal files. Stateless."""

    def parse(self, data: Parts | bytes) -> Transcript[Journal]:
        """The events of ``data``, kept as bytes and read when asked for."""
        body = JsonlFiles(data, _reader.read)
        return Transcript(_meta(_project(body).session.meta), body)

    def render(self, native: Transcript[Journal]) -> Parts | bytes:
        """The bytes or parts that were given."""
        return native.body.given

    def scan(self, chunks: Iterable[bytes]) -> Iterator[Record]:
        """One record an event; its kind is the event's."""
        return scan(chunks, STARTS)

    def to_common(self, native: Transcript[Journal], branch: str | None = None) -> Transcript[Common]:
        """The live line, or the line that a rewind left; ``MalformedSession`` when no line has that id."""
        projection = _project(native.body)
        meta, live = _meta(projection.session.meta), projection.session.body
        if branch is None:
            return Transcript(meta, live)
        for other in projection.branches:
            if other.id == branch:
                return Transcript(meta, (*live[: other.at], *other.body))
        raise MalformedSession(f"the session has no branch {branch!r}")

    def from_common(self, common: Transcript[Common]) -> Transcript[Journal]:
        """A journal that holds ``common`` as imported messages."""
        return self.write(common)[0]

    def write(self, common: Transcript[Common]) -> tuple[Transcript[Journal], Loss]:
        """``from_common`` and what no journal holds: JSON without a spelling, a person inside a model's response."""
        try:
            events, loss = import_session(common)
            data = b"".join(encode_event(event) + b"\n" for event in events)
        except RecursionError as problem:
            raise UnconvertibleSession("the session holds JSON that is nested too deeply to be written") from problem
        return self.parse(data), loss

    def crop(self, native: Transcript[Journal], spans: Sequence[Span]) -> Transcript[Journal]:
        """A journal of the messages of ``spans`` only.

        Events are numbered without gaps and tell of runs, so events cannot be cut out one by one: the copy is a
        journal of imported messages, which can be gone on with like any other.
        """
        return self.from_common(self.to_common(native).crop_to(spans))

    def branches(self, native: Transcript[Journal]) -> tuple[Branch, ...]:
        """The lines that rewinds left."""
        return _project(native.body).branches

    def children(self, native: Transcript[Journal]) -> tuple[Child, ...]:
        """The agents that the session's calls started; their talk is in journals of their own."""
        return _project(native.body).children

    def faults(self, native: Transcript[Journal]) -> tuple[Fault, ...]:
        """Lines that could not be read and rows that are no events."""
        return tuple(fault for part in native.body.parts for fault in _part_faults(native.body.rows(part), part))

    def unknown(self, native: Transcript[Journal]) -> Mapping[str, int]:
        """Events of kinds, or versions of kinds, that this release does not know."""
        return Counter(event.body.type for event in read_events(native.body) if isinstance(event.body, Unknown))


def read_events(body: Journal) -> list[Event]:
    """The events of ``body`` by sequence number, copies of an event dropped; rows that are none are left out."""
    found: dict[int, list[Event]] = {}
    for part in body.parts:
        for row in body.rows(part).rows:
            try:
                event = read_row(row)
            except NotAnEvent:
                continue
            same = found.setdefault(event.seq, [])
            if event not in same:
                same.append(event)
    return [event for seq in sorted(found) for event in found[seq]]


def _project(body: Journal) -> Projection:
    return project_all(read_events(body))


def _meta(meta: Meta) -> Meta:
    return replace(meta, harness=NAME)


def _part_faults(rows: Rows[EventRow], part: str) -> Iterator[Fault]:
    told = {fault.start for fault in rows.faults}
    yield from rows.faults
    fault_at = partial(Fault, code="not_an_event", part=part)
    for index, row in enumerate(rows.rows):
        try:
            read_row(row)
        except NotAnEvent as problem:
            start, end = rows.spans[index]
            if start not in told:
                yield fault_at(start=start, end=end, message=problem.message)
