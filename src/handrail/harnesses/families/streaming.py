"""JSON lines that are not held: records of a stream one by one, and what a file's first and last bytes tell.

``scan`` walks a stream of chunks in memory bounded by the longest line; the rest is for listing, which reads heads
and tails only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from handrail.harnesses.families.rescue import rescue_line
from handrail.jsonio import BOM, iter_chunk_lines
from handrail.transcripts.codec import Record

_KIND_WINDOW = 2048
_WHITE = b" \t\r\n"

Span = tuple[int, int]


class _Kind(msgspec.Struct):
    type: str = ""


_kind_decoder = msgspec.json.Decoder(_Kind)


def scan(chunks: Iterable[bytes], starts: tuple[bytes, ...], bulky: frozenset[str] = frozenset()) -> Iterator[Record]:
    """The records of a stream, one by one, in memory bounded by the longest line.

    ``bulky`` names kinds whose rows are told by their first bytes and not looked at further, as long as they end
    like an object: files may hold gigabytes of them. A line with several records gives several; a damaged one
    gives what can be read and says what is wrong in ``fault``. Blank lines are left out.
    """
    for offset, line in iter_chunk_lines(chunks):
        kind = quick_kind(line)
        if kind in bulky and line.endswith(b"}"):
            yield Record(start=offset, end=offset + len(line), kind=kind, raw=line)
            continue
        if line[:1] == b"{":
            try:
                kind = _kind_decoder.decode(line).type
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                pass
            else:
                yield Record(start=offset, end=offset + len(line), kind=kind, raw=line)
                continue
        if line.strip(_WHITE):
            yield from _scan_damaged(offset, line, starts)


def _scan_damaged(offset: int, line: bytes, starts: tuple[bytes, ...]) -> Iterator[Record]:
    """The records of a damaged line, none overlapping another: what was saved, and what was lost between."""
    objects, damages = rescue_line(line, starts, is_last=False)
    kinds: dict[Span, str] = {}
    for value, span in objects:
        kind = value.get("type")
        kinds[span] = kind if isinstance(kind, str) else ""
    faults: dict[Span, str] = {}
    for damage in damages:
        place = (damage.start, damage.end)
        touched = [span for span in kinds if span[0] < place[1] and place[0] < span[1]]
        if not touched:
            kinds[place] = ""
        faults.setdefault(touched[0] if touched else place, damage.code)
    for span in sorted(kinds):
        start, end = span
        kind, raw = kinds[span], line[start:end]
        yield Record(start=offset + start, end=offset + end, kind=kind, raw=raw, fault=faults.get(span))


def quick_kind(line: bytes) -> str:
    """The ``type`` of a record when it stands before anything nested in it; ``""`` when it does not.

    Inside a JSON string a quote is escaped, so the key cannot be mistaken for text.
    """
    at = line.find(b'"type":"', 0, _KIND_WINDOW)
    if at < 0 or line.find(b"{", 1, at) >= 0 or line.find(b"[", 1, at) >= 0:
        return ""
    end = line.find(b'"', at + 8, at + 8 + 64)
    return line[at + 8 : end].decode("utf-8", "replace") if end > 0 else ""


def head_lines(data: bytes) -> list[bytes]:
    """The whole lines of a file's first bytes; a last line that is cut is left out."""
    data = data.removeprefix(BOM)
    return [line for line in data[: data.rfind(b"\n") + 1].split(b"\n") if line.strip(_WHITE)]


def tail_lines(data: bytes, *, is_whole: bool) -> list[bytes]:
    """The whole lines of a file's last bytes; a first line that is cut is left out unless ``is_whole``."""
    lines = data.split(b"\n")
    return [line for line in (lines if is_whole else lines[1:]) if line.strip(_WHITE)]
