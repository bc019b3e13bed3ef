"""Making room in a window that is nearly full: what may be dropped is dropped, what may be summed up is named."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from handrail.blueprints.regions import Compacting, Region, Sliding
from handrail.journal.vocabulary import RegionEntry
from handrail.runs.regions.blocks import entry_tokens, tokens_of
from handrail.runs.regions.contents import Contents, is_conversation
from handrail.runs.regions.size import Size

FULL = 0.9
"""The share of the window from which room is made, and down to which it is made."""


class Relief(Struct, frozen=True, kw_only=True):
    """What makes room: ``changed`` holds the regions that lose entries, with all they hold then.

    ``freed_tokens`` is what that comes to. ``to_sum`` names the compacting regions that are to be summed up as well,
    the largest first, where dropping alone is not enough.
    """

    changed: Contents = {}
    freed_tokens: int = 0
    to_sum: tuple[str, ...] = ()


def relieved(visible: Sequence[Region], contents: Contents, size: Size, used_tokens: int) -> Relief:
    """How to bring ``used_tokens`` of the window below ``FULL``; nothing when they are, or no window is known.

    Only what a stage sees counts, so only that is looked at. Logs that slide lose their oldest entries, one log after
    the other, and never their newest. Nothing that refuses writes when it is full loses anything, and the
    conversation is cut by its own view.
    """
    over = 0 if size.window is None else used_tokens - int(size.window * FULL)
    changed: dict[str, tuple[RegionEntry, ...]] = {}
    freed = 0
    for region in visible:
        if freed < over and isinstance(region, Sliding) and not is_conversation(region):
            left, gone = _without_oldest(region, contents.get(region.name, ()), size, over - freed)
            if gone:
                changed[region.name] = left
                freed += gone
    if freed >= over:
        return Relief(changed=changed, freed_tokens=freed)
    sizes = {
        region.name: tokens_of(region, contents.get(region.name, ()), size.estimate)
        for region in visible
        if isinstance(region, Compacting)
    }
    to_sum = sorted((name for name in sizes if sizes[name]), key=lambda name: -sizes[name])
    return Relief(changed=changed, freed_tokens=freed, to_sum=tuple(to_sum))


def _without_oldest(
    region: Sliding, entries: tuple[RegionEntry, ...], size: Size, wanted: int
) -> tuple[tuple[RegionEntry, ...], int]:
    freed, first = 0, 0
    while freed < wanted and first < len(entries) - 1:
        freed += entry_tokens(region, entries[first], size.estimate)
        first += 1
    return entries[first:], freed
