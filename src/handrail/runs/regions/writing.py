"""Changing a region: room is made or the change is refused, and either way nothing is ever half done.

Everything here is pure: entries in, entries out. ``RegionRefused`` means that the entries given are still what the
region holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from handrail.agents.regions import Change, Changed, RegionRefused, Write
from handrail.blueprints.regions import Admission, Checklist, Keyed, Region, Sliding
from handrail.journal.vocabulary import ActorKind, RegionEntry
from handrail.runs.regions.blocks import entry_tokens
from handrail.runs.regions.contents import is_conversation, taint_of
from handrail.runs.regions.drafts import Draft, Origin, drafted
from handrail.runs.regions.size import Size


def changed(region: Region, entries: tuple[RegionEntry, ...], change: Change, size: Size, origin: Origin) -> Changed:
    """What ``change`` makes of ``region``, which holds ``entries``; ``RegionRefused`` when it cannot be made.

    What was written now always stays; room for it is made, where the region's admission says so, by dropping the
    oldest: the entries written longest ago, of a checklist the done items with the lowest numbers.
    """
    if is_conversation(region):
        raise RegionRefused(f"{region.name} is the conversation itself and is not written to")
    return _admitted(region, drafted(region, entries, change, origin), size)


def replaced(
    region: Region, entries: tuple[RegionEntry, ...], text: str, size: Size, origin: Origin
) -> tuple[RegionEntry, ...]:
    """The entries of a region that is to hold the document ``text`` and nothing else.

    A blank document leaves the region as it is. What a person makes of a document may still hold what was in it, so
    their text keeps the document's taint. ``RegionRefused`` when the document is larger than the region.
    """
    if not text.strip():
        return entries
    is_edit = origin.by is not None and origin.by.kind is ActorKind.PERSON
    taint = origin.taint | taint_of(entries) if is_edit else origin.taint
    return changed(region, entries, Write(text), size, Origin(taint, origin.by)).entries


def _admitted(region: Region, draft: Draft, size: Size) -> Changed:
    budget = region.budget_tokens(size.window)
    tokens = [entry_tokens(region, entry, size.estimate) for entry in draft.entries]
    _check_fresh(region, draft, tokens, budget)
    excess = _excess(region, len(draft.entries)) if draft.is_growing else 0
    over = sum(tokens) - budget if draft.is_growing else 0
    leaving: set[int] = set()
    candidates = _candidates(region, draft)
    while excess > 0 or over > 0:
        place = next(candidates, None)
        if place is None:
            raise RegionRefused(_no_room(region, sum(tokens), budget))
        leaving.add(place)
        excess -= 1
        over -= tokens[place]
    return Changed(
        entries=tuple(entry for place, entry in enumerate(draft.entries) if place not in leaving),
        tokens=sum(count for place, count in enumerate(tokens) if place not in leaving),
        budget_tokens=budget,
        numbers=draft.numbers,
        dropped=tuple(draft.entries[place] for place in sorted(leaving)),
    )


def _check_fresh(region: Region, draft: Draft, tokens: list[int], budget: int) -> None:
    """One text that is larger than the whole region would be there alone, or drive all else out for nothing."""
    largest = max((tokens[place] for place in draft.fresh), default=0)
    if largest > budget:
        raise RegionRefused(
            f"{region.name} has room for {budget} tokens in all, and this text alone has about {largest}. "
            "What it holds stays as it was; make the text shorter."
        )


def _excess(region: Region, count: int) -> int:
    """How many entries there are too many, by number alone."""
    match region:
        case Keyed():
            return count - region.max_entries
        case Sliding(strategy="per_item"):
            return count - region.max_items
        case Sliding(strategy="bulk"):
            return count - region.max_items if count > region.max_items + region.overflow else 0
        case _:
            return 0


def _candidates(region: Region, draft: Draft) -> Iterator[int]:
    """The places of entries that may leave, the first to leave first."""
    places = (place for place in range(len(draft.entries)) if place not in draft.fresh)
    if isinstance(region, Checklist):
        highest = max((entry.number or 0 for entry in draft.entries), default=0)
        done = (place for place in places if draft.entries[place].is_done)
        by_number = sorted(done, key=lambda place: draft.entries[place].number or 0)
        return (place for place in by_number if draft.entries[place].number != highest)
    return places if region.admission is Admission.EVICT else iter(())


def _no_room(region: Region, tokens: int, budget: int) -> str:
    kept = "What it holds stays as it was."
    if isinstance(region, Keyed) and tokens <= budget:
        return f"{region.name} is full: it holds {region.max_entries} keys at most. {kept} Take one out first."
    advice = "Replace or take out what is no longer needed first."
    if isinstance(region, Checklist):
        advice = "Add fewer items, or tick some off first."
    return f"{region.name} has room for {budget} tokens and would hold about {tokens}. {kept} {advice}"
