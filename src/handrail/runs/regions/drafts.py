"""What a change would make of a region's entries, before it is asked whether there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from handrail.agents.regions import AddItems, Append, Change, MarkItems, NoteItem, RegionRefused, Remove, Write
from handrail.blueprints.regions import Checklist, Keyed, Region
from handrail.journal.vocabulary import Actor, RegionEntry
from handrail.runs.regions.blocks import shown
from handrail.transcripts.model import Taint

_LONGEST_KEY = 200


class Origin(Struct, frozen=True, gc=False):
    """Where a text comes from: what it may hold of others' words or data, and who writes it."""

    taint: Taint = Taint()
    by: Actor | None = None


class Draft(Struct, frozen=True, kw_only=True):
    """All entries as they would be. ``fresh`` are the places of those that were written now and so must stay.

    ``is_growing`` False: the change only takes away, and needs no room. ``numbers`` were given to new items.
    """

    entries: tuple[RegionEntry, ...]
    fresh: frozenset[int] = frozenset()
    is_growing: bool = True
    numbers: tuple[int, ...] = ()


def drafted(region: Region, entries: tuple[RegionEntry, ...], change: Change, origin: Origin) -> Draft:
    """The draft of ``change``; ``RegionRefused`` when it does not fit the kind of region, or what is there."""
    match change:
        case Write():
            return _written(region, entries, change, origin)
        case Append():
            return _appended(region, entries, change, origin)
        case Remove():
            return _removed(region, entries, change)
        case AddItems():
            return _items_added(_checklist(region), entries, change, origin)
        case MarkItems():
            return _items_marked(_checklist(region), entries, change)
        case NoteItem():
            return _item_noted(_checklist(region), entries, change, origin)
        case _:
            assert_never(change)


# Texts ------------------------------------------------------------------------------------------------------


def _written(region: Region, entries: tuple[RegionEntry, ...], change: Write, origin: Origin) -> Draft:
    _check_text(region, change.text)
    key = _checked_key(region, change.key)
    entry = RegionEntry(change.text, key=key, taint=origin.taint, by=origin.by)
    return Draft(entries=(entry,), fresh=frozenset({0})) if key is None else _placed(region, entries, entry)


def _appended(region: Region, entries: tuple[RegionEntry, ...], change: Append, origin: Origin) -> Draft:
    _check_text(region, change.text)
    key = _checked_key(region, change.key)
    entry = RegionEntry(change.text, key=key, taint=origin.taint, by=origin.by)
    held = None if key is None else next((one for one in entries if one.key == key), None)
    if held is not None:
        entry = replace(entry, text=f"{held.text}\n{change.text}", taint=held.taint | origin.taint)
    return _placed(region, entries, entry)


def _placed(region: Region, entries: tuple[RegionEntry, ...], entry: RegionEntry) -> Draft:
    """``entry`` in the place of the one with its key, else at the end; keyed regions keep the order of writing."""
    place = next((at for at, one in enumerate(entries) if entry.key is not None and one.key == entry.key), None)
    if place is None:
        return Draft(entries=(*entries, entry), fresh=frozenset({len(entries)}))
    if isinstance(region, Keyed):
        return Draft(entries=(*entries[:place], *entries[place + 1 :], entry), fresh=frozenset({len(entries) - 1}))
    return Draft(entries=(*entries[:place], entry, *entries[place + 1 :]), fresh=frozenset({place}))


def _check_text(region: Region, text: str) -> None:
    if isinstance(region, Checklist):
        raise RegionRefused(f"{region.name} is a checklist: its items are added, ticked off and noted on")
    if not text.strip():
        raise RegionRefused(f"a text without a word would say nothing in {region.name}")


def _checked_key(region: Region, key: str | None) -> str | None:
    if key is None:
        if isinstance(region, Keyed):
            raise RegionRefused(f"{region.name} holds its entries by key: name the key")
        return None
    if not key.strip() or len(key) > _LONGEST_KEY or not key.isprintable():
        raise RegionRefused(f"a key is one line of 1 to {_LONGEST_KEY} printable characters")
    return key


# Taking out -------------------------------------------------------------------------------------------------


def _removed(region: Region, entries: tuple[RegionEntry, ...], change: Remove) -> Draft:
    found = _found(region, entries, change)
    if found is None:
        what = f"key {change.key!r}" if change.key is not None else f"number {change.number}"
        raise RegionRefused(f"{region.name} holds nothing under {what}. {_listing(region, entries)}")
    place = next(at for at, one in enumerate(entries) if one is found)
    # The highest number stays behind, empty: it is how the list knows which numbers were given.
    is_last_given = isinstance(region, Checklist) and found.number == _highest(entries)
    left = (RegionEntry("", number=found.number, is_done=True),) if is_last_given else ()
    return Draft(entries=(*entries[:place], *left, *entries[place + 1 :]), is_growing=False)


def _found(region: Region, entries: tuple[RegionEntry, ...], change: Remove) -> RegionEntry | None:
    seen = shown(region, entries)
    if change.key is not None:
        return next((entry for entry in seen if entry.key == change.key), None)
    if isinstance(region, Checklist):
        return next((entry for entry in seen if entry.number == change.number), None)
    number = change.number or 0
    return seen[number - 1] if 1 <= number <= len(seen) else None


def _listing(region: Region, entries: Sequence[RegionEntry]) -> str:
    seen = shown(region, entries)
    if not seen:
        return "It is empty."
    if isinstance(region, Checklist):
        return f"Its items are {', '.join(str(entry.number) for entry in seen)}."
    keys = [repr(entry.key) for entry in seen if entry.key is not None]
    return f"Its keys are {', '.join(keys)}." if keys else f"It holds {len(seen)}, numbered from 1."


# Checklists -------------------------------------------------------------------------------------------------


def _checklist(region: Region) -> Checklist:
    if not isinstance(region, Checklist):
        raise RegionRefused(f"{region.name} is no checklist but {region.kind}")
    return region


def _highest(entries: Sequence[RegionEntry]) -> int:
    return max((entry.number or 0 for entry in entries), default=0)


def _items_added(region: Checklist, entries: tuple[RegionEntry, ...], change: AddItems, origin: Origin) -> Draft:
    texts = [text.strip() for text in change.texts]
    if not texts or not all(texts):
        raise RegionRefused(f"an item without a word would say nothing in {region.name}")
    first = _highest(entries) + 1
    numbers = tuple(range(first, first + len(texts)))
    added = tuple(
        RegionEntry(text, number=number, taint=origin.taint, by=origin.by)
        for number, text in zip(numbers, texts, strict=True)
    )
    fresh = frozenset(range(len(entries), len(entries) + len(added)))
    return Draft(entries=(*entries, *added), fresh=fresh, numbers=numbers)


def _items_marked(region: Checklist, entries: tuple[RegionEntry, ...], change: MarkItems) -> Draft:
    wanted = set(change.numbers)
    unknown = sorted(wanted - {entry.number for entry in shown(region, entries)})
    if unknown or not wanted:
        which = f"no item {', '.join(map(str, unknown))}" if unknown else "no number was given"
        raise RegionRefused(f"{region.name}: {which}. {_listing(region, entries)}")
    marked = (replace(entry, is_done=change.is_done) if entry.number in wanted else entry for entry in entries)
    return Draft(entries=tuple(marked), is_growing=False)


def _item_noted(region: Checklist, entries: tuple[RegionEntry, ...], change: NoteItem, origin: Origin) -> Draft:
    place = next((at for at, one in enumerate(entries) if one.number == change.number and one.text.strip()), None)
    if place is None:
        raise RegionRefused(f"{region.name}: no item {change.number}. {_listing(region, entries)}")
    if not change.note.strip():
        raise RegionRefused("a note without a word would say nothing")
    held = entries[place]
    noted = replace(held, text=f"{held.text}\n{change.note.strip()}", taint=held.taint | origin.taint)
    return Draft(entries=(*entries[:place], noted, *entries[place + 1 :]), fresh=frozenset({place}))
