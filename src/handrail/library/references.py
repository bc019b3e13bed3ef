"""References as people type them: a source, and after a ``#`` the messages they mean.

``ID#5-12``, ``ID#5-``, ``ID#-12``, ``ID#5`` and lists of these (``ID#2-4,9``). Numbers count from 1 and both
ends are included. Titles and file names may hold a ``#`` themselves, so the whole input is looked up first and
what stands after the last ``#`` is a range only where it reads as one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from handrail.transcripts.spans import InvalidSpan, Span, SpanPastEnd

_RANGE = re.compile(r"(?P<first>[0-9]{1,18})?(?P<dash>-)?(?P<last>[0-9]{1,18})?", re.ASCII)


class RangeRequest(Struct, frozen=True, gc=False):
    """Messages ``first`` to ``last``, 1-based, both included; None leaves that end open."""

    first: int | None
    last: int | None

    def __str__(self) -> str:
        if self.first == self.last:
            return f"#{self.first}"
        start = "" if self.first is None else self.first
        end = "" if self.last is None else self.last
        return f"#{start}-{end}"


class Reference(Struct, frozen=True):
    """What was typed: ``whole`` as it stands, and its reading as ``source`` and ``ranges`` (empty: no range)."""

    whole: str
    source: str
    ranges: tuple[RangeRequest, ...] = ()


def parse_reference(text: str) -> Reference:
    """Split ``text`` at its last ``#`` when a source stands before it and ranges after it."""
    source, mark, suffix = text.rpartition("#")
    if mark and source:
        ranges = [_parse_range(part) for part in suffix.split(",")]
        known = tuple(item for item in ranges if item is not None)
        if len(known) == len(ranges):
            return Reference(text, source, known)
    return Reference(text, text)


def _parse_range(text: str) -> RangeRequest | None:
    found = _RANGE.fullmatch(text)
    if found is None or (found["first"] is None and found["last"] is None):
        return None
    first = int(found["first"]) if found["first"] else None
    last = int(found["last"]) if found["last"] else None
    if found["dash"] is None:
        # Without a dash the pattern may have cut one number in two; it is one number.
        if len(text) > 18:
            return None
        first = last = int(text)
    return RangeRequest(first, last)


def resolve_ranges(ranges: Sequence[RangeRequest], length: int) -> tuple[Span, ...]:
    """The spans that ``ranges`` name in a session of ``length`` messages; all of it when there are none.

    Raises ``InvalidSpan`` for a 0 or an inverted range, ``SpanPastEnd`` for one that reaches past the end; the
    message names the range as it was typed.
    """
    if not ranges:
        return (Span(0, length),)
    return tuple(_resolve(item, length) for item in ranges)


def _resolve(item: RangeRequest, length: int) -> Span:
    has = f"the session has {length} message{'' if length == 1 else 's'}"
    if item.first == 0 or item.last == 0:
        raise InvalidSpan(f"range {item} has a 0: messages are counted from 1")
    if item.first is not None and item.first > length:
        raise SpanPastEnd(f"range {item} is out of bounds: {has}", span=Span(item.first - 1, item.last or item.first))
    if length == 0:
        raise SpanPastEnd(f"range {item} is out of bounds: {has}")
    first = item.first or 1
    last = length if item.last is None else item.last
    if first > last:
        raise InvalidSpan(f"range {item} is inverted: it ends before it starts", span=Span(first - 1, last))
    if last > length:
        raise SpanPastEnd(f"range {item} is out of bounds: {has}", span=Span(first - 1, last))
    return Span(first - 1, last)
