"""Context regions as a tool meets them: the port it reaches them by, and the changes it can ask for.

What a region lets in and what leaves to make room is decided behind the port; a tool says what it wants and gives
what came of it back as ``ToolOutput.regions``, so that the change is recorded with the call's result or not at all.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from msgspec import Struct

from handrail.errors import HandrailError
from handrail.journal.vocabulary import RegionEntry


class RegionRefused(HandrailError, ValueError):
    """A region does not take a change, or is not there; what it holds stays as it was."""

    code = "region"
    exit_code = 2


class Write(Struct, frozen=True):
    """Replace all a region holds by ``text``; with a ``key``, what it holds under that key."""

    text: str
    key: str | None = None


class Append(Struct, frozen=True):
    """Add an entry; with a ``key``, add to what is held under it."""

    text: str
    key: str | None = None


class Remove(Struct, frozen=True):
    """Take out the entry with that ``key``, or the one with that ``number``: of the item, or its place from 1."""

    key: str | None = None
    number: int | None = None


class AddItems(Struct, frozen=True):
    """Add open items to a checklist."""

    texts: tuple[str, ...]


class MarkItems(Struct, frozen=True):
    """Tick items of a checklist off, or open them again."""

    numbers: tuple[int, ...]
    is_done: bool = True


class NoteItem(Struct, frozen=True):
    """Add a note to an item of a checklist."""

    number: int
    note: str


Change: TypeAlias = Write | Append | Remove | AddItems | MarkItems | NoteItem


class Changed(Struct, frozen=True, kw_only=True):
    """What a change makes of a region: ``entries`` is all it holds then, ``tokens`` of ``budget_tokens``.

    ``numbers`` are those the change gave to items, ``dropped`` the entries that left to make room.
    """

    entries: tuple[RegionEntry, ...]
    tokens: int
    budget_tokens: int
    numbers: tuple[int, ...] = ()
    dropped: tuple[RegionEntry, ...] = ()


class Regions(Protocol):
    """The regions that a stage sees, as they are now."""

    def overview(self) -> str:
        """Every region: its name, its kind, what it holds and how much room is left."""
        ...

    def read(self, region: str, key: str | None = None) -> str:
        """What ``region`` holds, or what it holds under ``key``; ``RegionRefused`` when it is not there."""
        ...

    def changed(self, region: str, change: Change) -> Changed:
        """What ``change`` makes of ``region``; nothing is recorded. ``RegionRefused`` when it cannot be made."""
        ...

    def checklist(self) -> str:
        """The name of the one checklist; ``RegionRefused`` when there is none, or more than one."""
        ...
