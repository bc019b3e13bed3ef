"""What harnesses that keep a session as JSON lines share: bytes kept as given, rows read quickly, damage told.

Two things live here. ``JsonlFiles`` is the native body: it holds exactly what it was given and reads each part
once, when it is first asked for. ``RowReader`` turns the bytes of a part into a harness's own typed rows: whole
stretches at a time where every line is plainly one object, line by line where not, and row by row through
``families.rescue`` where a line is damaged. What goes through a file without holding it stands in ``streaming``.

A part is cut into lines at the byte ``\\n`` and nowhere else. The bytes decide; a row that was read is never
written back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any, Generic

from msgspec.structs import replace

from handrail.harnesses.families.decoding import Row, RowDecoder
from handrail.harnesses.families.rescue import Damage, rescue_line
from handrail.transcripts.codec import Fault, Parts

STRETCH_BYTES = 1 << 18
"""How many bytes are decoded in one call; between 64 KiB and 1 MiB the figure hardly matters."""

_WHITE = b" \t\r\n"

Span = tuple[int, int]


class Rows(Generic[Row]):
    """The rows of one part in file order, what could not be read, and where each row stands.

    ``rows`` is the list a reader works on; nobody changes it. ``starts`` is where every line begins. The spans of
    rows are only worked out when asked for; ``odd`` holds those of lines that are not one row, by their start.
    """

    __slots__ = ("_odd", "_spans", "_starts", "data", "faults", "rows")

    def __init__(
        self,
        data: bytes,
        rows: list[Row],
        faults: tuple[Fault, ...],
        starts: list[int],
        odd: Mapping[int, tuple[Span, ...]],
    ) -> None:
        self.data = data
        self.rows = rows
        self.faults = faults
        self._starts = starts
        self._odd = odd
        self._spans: list[Span] | None = None

    @property
    def spans(self) -> list[Span]:
        """``(start, end)`` of every row: byte offsets into the part, half-open, in the order of ``rows``.

        A row that fills its line has the whole line, line feed left out.
        """
        if self._spans is None:
            size = len(self.data)
            last = size - 1 if self.data.endswith(b"\n") else size
            lines = list(zip(self._starts, [start - 1 for start in self._starts[1:]] + [last], strict=False))
            odd = self._odd
            self._spans = [span for line in lines for span in odd.get(line[0], (line,))] if odd else lines
        return self._spans

    def lines(self) -> Iterator[tuple[int, int, tuple[Span, ...]]]:
        """``(start, end, row spans)`` of every line; ``end`` is past the line feed, if there is one.

        The lines between them are exactly the bytes of the part.
        """
        size = len(self.data)
        for start, end in zip(self._starts, [*self._starts[1:], size], strict=False):
            spans = self._odd.get(start)
            if spans is None:
                has_feed = end < size or self.data.endswith(b"\n")
                spans = ((start, end - 1 if has_feed else end),)
            yield start, end, spans

    def raw(self, index: int) -> bytes:
        """The bytes of row ``index``."""
        if self._odd:
            start, end = self.spans[index]
            return self.data[start:end]
        starts = self._starts
        if index + 1 < len(starts):
            return self.data[starts[index] : starts[index + 1] - 1]
        return self.data[starts[index] :].removesuffix(b"\n")

    def followed_by(self, more: Rows[Row]) -> Rows[Row]:
        """These rows and then those of ``more``, whose part was appended to this one after a whole line."""
        size = len(self.data)
        faults = (replace(fault, start=fault.start + size, end=fault.end + size) for fault in more.faults)
        odd = {
            line + size: tuple((start + size, end + size) for start, end in spans) for line, spans in more._odd.items()
        }
        starts = self._starts + [start + size for start in more._starts]
        return Rows(self.data + more.data, self.rows + more.rows, (*self.faults, *faults), starts, {**self._odd, **odd})


class JsonlFiles(Generic[Row]):
    """A native body of one or several JSONL parts; equal when the bytes are.

    ``given`` is what ``render`` gives back: the bytes, or the named parts. ``read`` turns one part into rows; the
    outcome is remembered, which changes nothing a caller can see. ``known`` are rows of parts that were read already.
    """

    __slots__ = ("_read", "_rows", "given", "parts")

    def __init__(
        self,
        given: bytes | Parts,
        read: Callable[[bytes, str], Rows[Row]],
        known: Mapping[str, Rows[Row]] | None = None,
    ) -> None:
        self.given = given if isinstance(given, bytes) else dict(given)
        self.parts: Parts = {"": given} if isinstance(given, bytes) else self.given  # type: ignore[assignment]
        self._read = read
        self._rows: dict[str, Rows[Row]] = dict(known or {})

    def rows(self, part: str = "") -> Rows[Row]:
        """The rows of ``part``; an absent part has none."""
        found = self._rows.get(part)
        if found is None:
            found = self._rows[part] = self._read(self.parts.get(part, b""), part)
        return found

    @property
    def one_file(self) -> bytes:
        """The bytes of a body that is one file; ``ValueError`` for one of several, which does not grow by bytes."""
        if not isinstance(self.given, bytes):
            raise ValueError("a session of several files does not say which of them grew: parse it again")
        return self.given

    def grown_rows(self, more: bytes) -> Rows[Row]:
        """The rows of this body, which is one file, with ``more`` appended; whole lines are not read again."""
        given = self.one_file
        if given and not given.endswith(b"\n"):
            return self._read(given + more, "")
        return self.rows().followed_by(self._read(more, ""))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonlFiles) and self.given == other.given

    def __hash__(self) -> int:
        return hash(tuple(sorted((name, len(data)) for name, data in self.parts.items())))

    def __repr__(self) -> str:
        size = sum(map(len, self.parts.values()))
        return f"<{len(self.parts)} part{'s' * (len(self.parts) != 1)}, {size} bytes>"

    def __copy__(self) -> JsonlFiles[Row]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> JsonlFiles[Row]:
        return self


class RowReader(Generic[Row]):
    """Reads the lines of a harness into rows of the wire struct ``row``, given itself or with its decoder.

    The struct declares only what is read (everything else is skipped by the decoder, which is where the speed
    comes from) and has a default for every field. ``starts`` are the bytes a record of the harness begins with;
    they are where reading picks up again inside a line in which one record was glued to the stub of another.
    """

    def __init__(
        self, row: type[Row] | RowDecoder[Row], starts: tuple[bytes, ...], *, stretch_bytes: int = STRETCH_BYTES
    ) -> None:
        self._starts = starts
        self._stretch_bytes = stretch_bytes
        self._decoder = row if isinstance(row, RowDecoder) else RowDecoder(row)

    def read(self, data: bytes, part: str = "") -> Rows[Row]:
        """All rows of ``data``; ``part`` names it in the faults. Nothing is raised for any bytes."""
        rows: list[Row] = []
        faults: list[Fault] = []
        odd: dict[int, tuple[Span, ...]] = {}
        starts: list[int] = []
        view = memoryview(data)
        start = 0
        size = len(data)
        while start < size:
            end = self._stretch_end(data, start)
            lines = _line_starts(data, start, end)
            if not self._read_stretch(view, data, lines, end, rows):
                self._read_lines(data, start, end, part, rows, faults, odd)
            starts += lines
            start = end
        return Rows(data, rows, tuple(faults), starts, odd)

    def _stretch_end(self, data: bytes, start: int) -> int:
        target = start + self._stretch_bytes
        if target >= len(data):
            return len(data)
        feed = data.rfind(b"\n", start, target)
        if feed < 0:
            feed = data.find(b"\n", target)
        return len(data) if feed < 0 else feed + 1

    def _read_stretch(self, view: memoryview, data: bytes, lines: list[int], end: int, rows: list[Row]) -> bool:
        """Decode the ``lines`` up to ``end`` at once, when that cannot mistake one line for another.

        The decoder takes a line feed for any white space. Where every line starts with a brace and ends with one,
        each line feed lies between two objects, so as many objects as lines means one object a line.
        """
        if not _are_objects(data, lines, end):
            return False
        found = self._decoder.decode_lines(view[lines[0] : end])
        if found is None or len(found) != len(lines):
            return False
        rows += found
        return True

    def _read_lines(
        self,
        data: bytes,
        start: int,
        end: int,
        part: str,
        rows: list[Row],
        faults: list[Fault],
        odd: dict[int, tuple[Span, ...]],
    ) -> None:
        decode = self._decoder.decode
        view = memoryview(data)
        while start < end:
            feed = data.find(b"\n", start, end)
            stop = end if feed < 0 else feed
            if start < stop and data[start] == 0x7B:
                row = decode(view[start:stop])
                if row is not None:
                    rows.append(row)
                    start = stop + 1
                    continue
            found, damages = self._rescue(data[start:stop], is_last=feed < 0)
            rows += [row for row, _ in found]
            odd[start] = tuple((start + first, start + last) for _, (first, last) in found)
            for damage in damages:
                faults.append(_fault(damage, start, part))
            start = stop + 1

    def _rescue(self, line: bytes, *, is_last: bool) -> tuple[list[tuple[Row, Span]], list[Damage]]:
        if not line.strip(_WHITE):
            return [], []
        objects, damages = rescue_line(line, self._starts, is_last=is_last)
        found: list[tuple[Row, Span]] = []
        for value, span in objects:
            filled, lost = self._decoder.fill(value)
            found.append((filled, span))
            if lost:
                shown = ", ".join(lost[:4]) + (" …" if len(lost) > 4 else "")
                damages.append(Damage("wrong_type", *span, f"fields of a type the format does not know: {shown}"))
        return found, damages


def _fault(damage: Damage, offset: int, part: str) -> Fault:
    return Fault(
        code=damage.code, start=offset + damage.start, end=offset + damage.end, message=damage.message, part=part
    )


def _line_starts(data: bytes, start: int, end: int) -> list[int]:
    """Where each line of ``data[start:end]`` begins. Going from feed to feed is faster than counting them."""
    starts = [start]
    find = data.find
    note = starts.append
    feed = find(b"\n", start, end - 1)
    while feed >= 0:
        note(feed + 1)
        feed = find(b"\n", feed + 1, end - 1)
    return starts


_OPENING = {0x7B}
_CLOSING = {0x7D}


def _are_objects(data: bytes, starts: list[int], end: int) -> bool:
    """Whether every line that begins at one of ``starts`` does so with a brace and ends with one."""
    last = end - 2 if data[end - 1] == 0x0A else end - 1
    ends = [start - 2 for start in starts]
    ends[0] = last
    return _bytes_at(data, starts) == _OPENING and _bytes_at(data, ends) == _CLOSING


def _bytes_at(data: bytes, places: list[int]) -> set[int]:
    """Which bytes stand at ``places``, of which there is one at least."""
    return set(itemgetter(places[0], *places)(data))
