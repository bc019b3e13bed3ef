"""Regions, entries and sizes for tests."""

from __future__ import annotations

from handrail.agents.regions import AddItems, Append, Change, MarkItems, NoteItem, RegionRefused, Remove, Write
from handrail.blueprints.regions import Checklist, Compacting, Keyed, Pinned, Region, Sliding
from handrail.journal.vocabulary import Actor, ActorKind, RegionEntry
from handrail.runs.regions.drafts import Origin
from handrail.runs.regions.size import Estimate, Size
from handrail.runs.regions.writing import changed
from handrail.transcripts.model import Taint

SIZE = Size(window=10_000, estimate=Estimate(4.0))
PERSON = Actor(ActorKind.PERSON, "ada")
MODEL = Actor(ActorKind.MODEL, "m")
PRIVATE = Taint(private=True)
UNTRUSTED = Taint(untrusted=True)

__all__ = [
    "MODEL",
    "PERSON",
    "PRIVATE",
    "SIZE",
    "UNTRUSTED",
    "AddItems",
    "Append",
    "Checklist",
    "Compacting",
    "Keyed",
    "MarkItems",
    "NoteItem",
    "Origin",
    "Pinned",
    "RegionEntry",
    "RegionRefused",
    "Remove",
    "Sliding",
    "Write",
    "after",
    "texts",
]


def after(region: Region, *changes: Change, origin: Origin | None = None, size: Size = SIZE) -> tuple[RegionEntry, ...]:
    """What ``region`` holds after ``changes``, from nothing."""
    entries: tuple[RegionEntry, ...] = ()
    for change in changes:
        entries = changed(region, entries, change, size, origin or Origin()).entries
    return entries


def texts(entries: tuple[RegionEntry, ...]) -> list[str]:
    return [entry.text for entry in entries]
