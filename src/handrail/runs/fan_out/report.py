"""What came of every item, as one text: each has its section, and where room is short all are cut alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

LEAST_BYTES = 200
"""What a section keeps at least of what its worker said, where the room allows."""


class Section(Struct, frozen=True, kw_only=True):
    """What came of the item ``id``: the worker's ``text``, or why there is none, in words."""

    id: str
    is_done: bool
    text: str


def report_of(sections: Sequence[Section], fits: Callable[[str], bool]) -> str:
    """The report with as much of every section as ``fits`` lets in; no item is ever left out.

    Sections are cut to one length for all, the longest with which it fits; what was not cut is whole. Where not even
    ``LEAST_BYTES`` of each fit, less of each is kept, and where nothing fits the shortest report is given all the same.
    """
    whole = _report(sections, None)
    if fits(whole):
        return whole
    longest = max((len(section.text.encode()) for section in sections), default=0)
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_report(sections, middle)):
            low = middle
        else:
            high = middle - 1
    return _report(sections, low)


def _report(sections: Sequence[Section], slice_bytes: int | None) -> str:
    done = sum(1 for section in sections if section.is_done)
    parts = [f"{done} done, {len(sections) - done} failed"]
    for section in sections:
        parts.append(f"## {section.id} ({'done' if section.is_done else 'failed'})\n{_cut(section.text, slice_bytes)}")
    return "\n\n".join(parts)


def _cut(text: str, slice_bytes: int | None) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    if slice_bytes is None or len(raw) <= slice_bytes:
        return text
    kept = raw[:slice_bytes].decode("utf-8", "ignore")
    return f"{kept}\n[cut: {len(raw) - len(kept.encode())} of {len(raw)} bytes are left out]"
