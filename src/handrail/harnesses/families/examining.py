"""Looking at JSON lines as a stream: each record with its place, and what is wrong with the bytes themselves.

An ``Examiner`` yields the records of a stream one by one and collects ``wounds``: edits that mend the bytes (a byte
order mark, NUL runs, glued records, stubs, bytes that are not UTF-8, lone surrogates, separators that other readers
cut lines at). What a wound means to a person is said in ``wound_findings``. Memory is bounded by the longest line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from handrail.harnesses.families.rescue import Damage, lenient, rescue_line
from handrail.jsonio import BOM, iter_chunk_lines
from handrail.transcripts.repair import Edit, Finding, Remedy, Severity, counted, merged, splice

Row = TypeVar("Row")

LARGE_RECORD_BYTES = 10_000_000
"""A record this long freezes pickers and resumes (reports begin at 12.8 million characters)."""

_WHITE = b" \t\r\n"
_NUL = re.compile(rb"\x00+")
_SEPARATOR = re.compile(rb"\xe2\x80[\xa8\xa9]|\xc2\x85")
_ESCAPES = {b"\xe2\x80\xa8": b"\\u2028", b"\xe2\x80\xa9": b"\\u2029", b"\xc2\x85": b"\\u0085"}
_SURROGATE = re.compile(rb"\\(?:u([dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
_NO_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*"|(-?\b(?:NaN|Infinity)\b)', re.DOTALL)
_STUBS = {
    "torn_tail": ("torn_tail", "the last record was cut"),
    "not_object": ("not_object", "no record"),
    "not_json": ("cut_record", "a record was cut"),
}
_STOPS = frozenset({"bom", "nul", "glued", "cut_record", "torn_tail", "not_strict"})
"""Wounds at which a strict reader of lines fails."""


class Examined(NamedTuple, Generic[Row]):
    """One record: its bytes as they will be once mended, where they stand, and the line they stand on.

    ``line_end`` is past the line feed. ``is_alone``: nothing else stands on the line but white space and NUL bytes.
    """

    row: Row
    raw: bytes
    start: int
    end: int
    line_start: int
    line_end: int
    is_alone: bool


class Examiner(Generic[Row]):
    """One pass over the lines of a file, as rows of the struct ``row``, whose records begin with ``starts``."""

    def __init__(self, row: type[Row], starts: tuple[bytes, ...]) -> None:
        self.wounds: list[Edit] = []
        self.notes: list[Finding] = []
        self.size = 0
        self._decoder = msgspec.json.Decoder(row)
        self._info = msgspec.inspect.type_info(row)
        self._starts = starts

    def examine(self, chunks: Iterable[bytes]) -> Iterator[Examined[Row]]:
        """The records in file order; when they are out, ``wounds`` and ``notes`` say what is wrong with their bytes."""
        held: tuple[int, bytes] | None = None
        for offset, line in iter_chunk_lines(self._measured(chunks)):
            if held is not None:
                yield from self._line(*held, has_feed=True)
            held = (offset, line)
        if held is not None:
            yield from self._line(*held, has_feed=held[0] + len(held[1]) < self.size)

    @property
    def stops_at(self) -> int | None:
        """The first byte at which a strict reader of lines fails; None when it does not."""
        return min((wound.start for wound in self.wounds if wound.kind in _STOPS), default=None)

    def _measured(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.size += len(chunk)
            yield chunk

    def _line(self, offset: int, line: bytes, *, has_feed: bool) -> Iterator[Examined[Row]]:
        end = offset + len(line)
        line_end = end + 1 if has_feed else end
        if len(line) > LARGE_RECORD_BYTES:
            self.notes.append(_large(offset, line))
        if line[:1] == b"{":
            try:
                row = self._decoder.decode(line)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                pass
            else:
                if not line.isascii():
                    self._mend_text(offset, line)
                if not has_feed:
                    self._wound(end, end, b"\n", "no_final_newline", "the last record has no line feed")
                yield Examined(row, line, offset, end, offset, line_end, True)
                return
        if line.strip(_WHITE):
            yield from self._damaged(offset, line, line_end, has_feed=has_feed)

    def _damaged(self, offset: int, line: bytes, line_end: int, *, has_feed: bool) -> Iterator[Examined[Row]]:
        objects, damages = rescue_line(line, self._starts, is_last=not has_feed)
        spans = [span for _, span in objects]
        if any(damage.code == "too_deep" for damage in damages) and not spans:
            message = "a record is nested deeper than we read; it is kept as it is"
            self.notes.append(_note("too_deep", offset, offset + len(line), message))
            return
        self._mend_gaps(offset, line, line_end, spans, damages)
        is_alone = len(spans) == 1 and not _beside(line, spans[0]).strip(_WHITE + b"\x00")
        for value, (start, end) in objects:
            mended = self._mend_record(offset + start, line[start:end])
            row = self._row(mended, value, offset + start, offset + end)
            yield Examined(row, mended, offset + start, offset + end, offset, line_end, is_alone)

    def _row(self, mended: bytes, value: dict[str, Any], start: int, end: int) -> Row:
        """The row of a record: as an undamaged one is read where its mended bytes allow it, else field by field."""
        try:
            return self._decoder.decode(mended)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            pass
        row: Row
        row, lost = lenient(value, self._info)
        if lost:
            message = f"fields of a type the format does not know ({', '.join(lost[:4])}); kept as they are"
            self.notes.append(_note("wrong_type", start, end, message))
        return row

    def _mend_gaps(
        self, offset: int, line: bytes, line_end: int, spans: list[tuple[int, int]], damages: list[Damage]
    ) -> None:
        """Take out what stands on a line beside its records, and give each record a line of its own."""
        if not spans:
            return self._drop_line(offset, line, line_end, damages)
        if line.startswith(BOM):
            self._wound(offset, offset + len(BOM), b"", "bom", "a byte order mark hides the first record")
        edges = [(len(BOM) if line.startswith(BOM) else 0, spans[0][0])]
        edges += [(left[1], right[0]) for left, right in pairwise(spans)]
        for index, (start, end) in enumerate(edges):
            between = b"\n" if index else b""
            self._mend_gap(offset, line, start, end, between, damages)
        self._mend_gap(offset, line, spans[-1][1], len(line), b"", damages)
        if line_end == offset + len(line):
            self._wound(line_end, line_end, b"\n", "no_final_newline", "the last record has no line feed")
        return None

    def _mend_gap(self, offset: int, line: bytes, start: int, end: int, new: bytes, damages: list[Damage]) -> None:
        gap = line[start:end]
        if not gap.strip(_WHITE) and not new:
            return
        if gap.strip(_WHITE + b"\x00"):
            kind, message = _stub(damages, start, end)
            self._wound(offset + start, offset + end, new, kind, f"{message} ({len(gap):,} bytes)", is_loss=True)
        elif new:
            self._wound(offset + start, offset + end, new, "glued", "two records stand on one line")
        else:
            self._wound(offset + start, offset + end, new, "nul", f"{counted(gap.count(0), 'NUL byte')}")

    def _drop_line(self, offset: int, line: bytes, line_end: int, damages: list[Damage]) -> None:
        """Take out a line of which nothing can be read."""
        if not line.replace(BOM, b"").strip(_WHITE + b"\x00"):
            self._wound(offset, line_end, b"", "nul", f"{counted(line.count(0), 'NUL byte')}")
            return
        kind, message = _stub(damages, 0, len(line))
        self._wound(offset, line_end, b"", kind, f"{message} ({len(line):,} bytes)", is_loss=True)

    def _mend_record(self, offset: int, raw: bytes) -> bytes:
        """Make a record strict JSON that says the same; the bytes it will have."""
        known = len(self.wounds)
        for found in _NUL.finditer(raw):
            size = found.end() - found.start()
            self._wound(offset + found.start(), offset + found.end(), b"", "nul", counted(size, "NUL byte"))
        if b"\\u" in raw:
            for start, end in _lone_surrogates(raw):
                message = "half of a character, written as an escape"
                self._wound(offset + start, offset + end, b"\\ufffd", "lone_surrogate", message)
        if b"NaN" in raw or b"Infinity" in raw:
            for found in _NO_NUMBER.finditer(raw):
                if found[1]:
                    message = "a number that JSON has no spelling for"
                    self._wound(offset + found.start(1), offset + found.end(1), b"null", "not_strict", message)
        if not raw.isascii():
            self._mend_text(offset, raw)
        own = [
            Edit(wound.start - offset, wound.end - offset, wound.new, wound.kind, wound.message)
            for wound in self.wounds[known:]
        ]
        return b"".join(splice((raw,), merged(own)))

    def _mend_text(self, offset: int, raw: bytes) -> None:
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            for start, end in _bad_utf8(raw):
                message = counted(end - start, "byte that is not UTF-8", "bytes that are not UTF-8")
                self._wound(offset + start, offset + end, b"\xef\xbf\xbd", "bad_utf8", message)
        if not any(separator in raw for separator in _ESCAPES):
            return
        for found in _SEPARATOR.finditer(raw):
            message = "a line separator inside a text"
            self._wound(offset + found.start(), offset + found.end(), _ESCAPES[found[0]], "line_separator", message)

    def _wound(self, start: int, end: int, new: bytes, kind: str, message: str, *, is_loss: bool = False) -> None:
        self.wounds.append(Edit(start, end, new, kind, message, is_loss, True))


def _beside(line: bytes, span: tuple[int, int]) -> bytes:
    return line[: span[0]].removeprefix(BOM) + line[span[1] :]


def _stub(damages: list[Damage], start: int, end: int) -> tuple[str, str]:
    """The kind of a stretch that is no record, and what to call it."""
    for damage in damages:
        if damage.code in _STUBS and damage.start < end and start < damage.end:
            return _STUBS[damage.code]
    return _STUBS["not_json"]


def _bad_utf8(raw: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(raw):
        try:
            raw[at:].decode("utf-8")
        except UnicodeDecodeError as problem:
            yield at + problem.start, at + problem.end
            at += problem.end
        else:
            return


def _lone_surrogates(raw: bytes) -> Iterator[tuple[int, int]]:
    """Where an escape of half a character stands without its other half."""
    high: tuple[int, int] | None = None
    for found in _SURROGATE.finditer(raw):
        digits = found[1]
        place = (found.start(), found.end())
        is_low = digits is not None and digits[1:2].lower() in b"cdef"
        if high is not None and not (is_low and place[0] == high[1]):
            yield high
            high = None
        elif high is not None:
            high = None
            continue
        if digits is None:
            continue
        if is_low:
            yield place
        else:
            high = place
    if high is not None:
        yield high


# What it means ------------------------------------------------------------------------------------------------

_MEANING = {
    "bom": "a byte order mark stands before the first record: strict readers lose that record",
    "nul": "{message} (a power cut leaves them): strict readers stop here",
    "glued": "two records stand on one line: strict readers stop here or lose both",
    "cut_record": "{message} and cannot be read: strict readers stop here",
    "torn_tail": "{message}: it is lost, and what is appended next will be glued to it",
    "not_object": "a line holds no record but another JSON value: it says nothing",
    "bad_utf8": "{message}: shown as U+FFFD",
    "lone_surrogate": "{message}: requests that send it are refused as invalid JSON",
    "not_strict": "{message}: strict readers stop here",
    "line_separator": "U+2028, U+2029 or U+0085 stands inside a text: legal, but readers that cut lines there lose it",
    "no_final_newline": "{message}: a writer that appends without looking glues the next record to it",
}
_ONLY_NOTES = frozenset({"line_separator", "no_final_newline"})


def wound_findings(wounds: Iterable[Edit]) -> Iterator[Finding]:
    """A finding for each wound."""
    for wound in wounds:
        yield Finding(
            code=wound.kind,
            severity=Severity.NOTE if wound.kind in _ONLY_NOTES else Severity.DAMAGE,
            start=wound.start,
            end=wound.end,
            message=_MEANING[wound.kind].format(message=wound.message),
            remedy=Remedy.REPAIR,
        )


def _large(offset: int, line: bytes) -> Finding:
    message = f"one record of {len(line) / 1e6:.1f} MB: pickers and resumes of the tool may freeze on it"
    return _note("large_record", offset, offset + len(line), message)


def _note(code: str, start: int, end: int, message: str) -> Finding:
    return Finding(code=code, severity=Severity.NOTE, start=start, end=end, message=message)


def empty_findings(size: int, records: int, what: str) -> Iterator[Finding]:
    """The finding of a file in which there is no session at all."""
    if size == 0:
        yield Finding(code="empty", severity=Severity.UNREADABLE, start=0, end=0, message="the file is empty")
    elif records == 0:
        message = f"no record of {what} can be read in {counted(size, 'byte')}"
        yield Finding(code="no_session", severity=Severity.UNREADABLE, start=0, end=size, message=message)
