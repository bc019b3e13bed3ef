"""Filling a region from its beginning: texts as they are where they fit, and a mark where one was cut or left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from handrail.agents.regions import RegionRefused
from handrail.blueprints.regions import Checklist, Keyed, Region
from handrail.journal.vocabulary import RegionEntry
from handrail.runs.regions.blocks import entry_tokens
from handrail.runs.regions.drafts import Origin
from handrail.runs.regions.size import Size, size_bytes

_LEFT_OUT = "[left out]"
_NAMED = 5
"""How many of those that were left out are named."""

_WORTH_CUTTING = 16
"""The least room, in tokens, that a text is cut to; in less there is nothing to learn from its start."""


class Piece(Struct, frozen=True, kw_only=True):
    """A text a region begins with. ``name`` is the path it was read from; ``whole_bytes`` is the size of all of it,
    where only its start was read.
    """

    text: str
    name: str | None = None
    whole_bytes: int | None = None


def filled(
    region: Region,
    pieces: Sequence[Piece],
    size: Size,
    origin: Origin,
    *,
    left_out: Sequence[str] = (),
    unread: int = 0,
) -> tuple[RegionEntry, ...]:
    """The entries of ``region`` when it holds ``pieces`` and nothing else, within its budget.

    What does not fit is cut or left out, and an entry says so, as it does of ``left_out``: sentences about what could
    not be had, and of how many texts were left ``unread``. Each line is an item of a checklist. ``RegionRefused``
    where there is no room even for a start.
    """
    entries = _items(pieces, origin) if isinstance(region, Checklist) else _texts(region, pieces, origin)
    tokens = sum(entry_tokens(region, entry, size.estimate) for entry in entries)
    most = region.max_entries if isinstance(region, Keyed) else len(entries)
    is_cut = bool(left_out or unread) or any(piece.whole_bytes is not None for piece in pieces)
    if not is_cut and tokens <= region.budget_tokens(size.window) and len(entries) <= most:
        return entries
    kept = _within(region, entries, {piece.name: piece.whole_bytes for piece in pieces}, size, left_out, unread)
    missing = len(entries) - len(kept) + unread
    return (*kept, _mark(region, missing, left_out, len(entries))) if missing or left_out else kept


def _items(pieces: Sequence[Piece], origin: Origin) -> tuple[RegionEntry, ...]:
    lines = (line.strip() for piece in pieces for line in piece.text.splitlines())
    numbered = enumerate((line for line in lines if line), 1)
    return tuple(RegionEntry(line, number=number, taint=origin.taint, by=origin.by) for number, line in numbered)


def _texts(region: Region, pieces: Sequence[Piece], origin: Origin) -> tuple[RegionEntry, ...]:
    unnamed = "seed" if isinstance(region, Keyed) else None
    return tuple(
        RegionEntry(piece.text, key=piece.name or unnamed, taint=origin.taint, by=origin.by)
        for piece in pieces
        if piece.text.strip()
    )


def _within(
    region: Region,
    entries: tuple[RegionEntry, ...],
    whole: Mapping[str | None, int | None],
    size: Size,
    left_out: Sequence[str],
    unread: int,
) -> tuple[RegionEntry, ...]:
    """As many of ``entries`` as there is room for, beside the mark that says what is missing."""
    mark = _mark(region, len(entries) + unread, left_out, len(entries))
    room = region.budget_tokens(size.window) - entry_tokens(region, mark, size.estimate)
    most = region.max_entries - 1 if isinstance(region, Keyed) else len(entries)
    kept: list[RegionEntry] = []
    for entry in entries[:most]:
        fitting = _fitted(region, entry, whole.get(entry.key), room, size)
        if fitting is None:
            break
        kept.append(fitting)
        room -= entry_tokens(region, fitting, size.estimate)
        if fitting is not entry:
            break
    if room < 0 or not (kept or left_out):
        raise RegionRefused(f"{region.name} has no room for even the start of what it begins with")
    return tuple(kept)


def _mark(region: Region, missing: int, left_out: Sequence[str], count: int) -> RegionEntry:
    """The entry that says what is not there, of ``count`` that might have been."""
    told = [f"{missing} more had no room"] if missing else []
    told += left_out[:_NAMED]
    if len(left_out) > _NAMED:
        told.append(f"and {len(left_out) - _NAMED} more that could not be had")
    text = f"[left out: {'; '.join(told)}]"
    if isinstance(region, Checklist):
        # Done, so that nobody sets to work on it.
        return RegionEntry(text, number=count + 1, is_done=True)
    return RegionEntry(text, key=_LEFT_OUT if isinstance(region, Keyed) else None)


def _fitted(region: Region, entry: RegionEntry, whole: int | None, room: int, size: Size) -> RegionEntry | None:
    """``entry`` itself where it is whole and fits, else its start with a mark; None where there is no room for one."""
    if whole is None and entry_tokens(region, entry, size.estimate) <= room:
        return entry
    if isinstance(region, Checklist) or room < _WORTH_CUTTING:
        return None
    least, most = 0, len(entry.text)
    while least < most:
        middle = (least + most + 1) // 2
        if entry_tokens(region, _cut(entry, middle, whole), size.estimate) <= room:
            least = middle
        else:
            most = middle - 1
    return _cut(entry, least, whole) if least else None


def _cut(entry: RegionEntry, count: int, whole: int | None) -> RegionEntry:
    start = entry.text[:count]
    told = f"the first {size_bytes(start)} of {whole or size_bytes(entry.text)} bytes are here"
    return replace(entry, text=f"{start}\n[cut: {told}]")
