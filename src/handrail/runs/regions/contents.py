"""What regions hold, looked at: whether there is anything, where it may have come from, what is still owed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from handrail.blueprints.regions import Region, Sliding
from handrail.journal.vocabulary import RegionEntry
from handrail.transcripts.model import Taint

Contents: TypeAlias = Mapping[str, tuple[RegionEntry, ...]]
"""What each region holds, hidden ones too; one that holds nothing may be missing."""


def is_empty(entries: Iterable[RegionEntry]) -> bool:
    """Whether there is nothing to read in ``entries``."""
    return not any(entry.text.strip() for entry in entries)


def text_of(entries: Iterable[RegionEntry]) -> str:
    """The words of ``entries`` and nothing else: for a document, the document."""
    return "\n\n".join(entry.text for entry in entries if entry.text.strip())


def taint_of(entries: Iterable[RegionEntry]) -> Taint:
    """What may have come in with ``entries``: it is recomputed from what is there, and goes with what leaves."""
    taint = Taint()
    for entry in entries:
        taint |= entry.taint
    return taint


def taint_of_all(regions: Iterable[Region], contents: Contents) -> Taint:
    """The taint that a conversation takes on by seeing ``regions``."""
    return taint_of(entry for region in regions for entry in contents.get(region.name, ()))


def missing(regions: Iterable[Region], contents: Contents) -> tuple[Region, ...]:
    """The required ones among ``regions`` that hold nothing."""
    return tuple(
        region
        for region in regions
        if region.required and not is_conversation(region) and is_empty(contents.get(region.name, ()))
    )


def is_conversation(region: Region) -> bool:
    """Whether ``region`` is the view of the conversation, which holds no entries of its own but summaries."""
    return isinstance(region, Sliding) and region.is_conversation
