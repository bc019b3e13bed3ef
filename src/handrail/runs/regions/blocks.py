"""Regions as the text a model reads: one block each, which nothing inside it can close or forge.

What a region holds came from models, tools, files and people. Marks of our own in it are spelled so that they are
none, and characters that are not seen, or that move what follows, are shown as what they are: replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from handrail.blueprints.regions import Checklist, Keyed, Region, Volatility
from handrail.journal.vocabulary import ActorKind, RegionEntry
from handrail.runs.regions.size import Estimate

_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# Controls, marks that reverse or hide what follows, and the invisible alphabet of tags.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_MARK = re.compile(r"[<＜﹤‹](?=\s*[/／]?\s*(?:region|entry|summed)\b)", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_ATTRIBUTE = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"})

_ORDER = {Volatility.STABLE: 0, Volatility.GROWS: 1, Volatility.REWRITTEN: 2}


def in_order(regions: Iterable[Region]) -> tuple[Region, ...]:
    """``regions`` as they stand in a prompt: what stays first, what is rewritten last, as declared among equals.

    A provider's cache holds as long as the start of a request is the same: what changes most must not stand before
    what does not.
    """
    return tuple(sorted(regions, key=lambda region: _ORDER[region.volatility]))


def guarded(text: str) -> str:
    """``text`` so that it cannot close a block or look like one; lines stay lines, half characters are replaced."""
    lines = _UNSEEN.sub("\ufffd", _BREAKS.sub("\n", text))
    whole = lines.encode("utf-8", "replace").decode() if not lines.isascii() else lines
    return _MARK.sub("&lt;", whole)


def attribute(value: str) -> str:
    """``value`` on one line, as it may stand in quotes."""
    return _SPACES.sub(" ", guarded(value)).strip().translate(_ATTRIBUTE)


def shown(region: Region, entries: Sequence[RegionEntry]) -> tuple[RegionEntry, ...]:
    """``entries`` as they are read: open items before done ones, keys in their order, what is blank left out."""
    filled = [entry for entry in entries if entry.text.strip()]
    if isinstance(region, Checklist):
        filled.sort(key=lambda entry: (entry.is_done, entry.number or 0))
    elif isinstance(region, Keyed):
        filled.sort(key=lambda entry: entry.key or "")
    return tuple(filled)


def render_entry(region: Region, entry: RegionEntry) -> str:
    """One entry as a model reads it."""
    text = guarded(entry.text).strip("\n")
    if isinstance(region, Checklist):
        mark = "x" if entry.is_done else " "
        # Further lines are set in, so that none of them reads as an item.
        return f"[{mark}] {entry.number}. " + text.strip().replace("\n", "\n    ")
    if entry.key is not None:
        return f'<entry key="{attribute(entry.key)}">\n{text}\n</entry>'
    return text


def render_body(region: Region, entries: Sequence[RegionEntry]) -> str:
    """All that ``region`` holds, without the block around it; "" for nothing."""
    between = "\n" if isinstance(region, Checklist | Keyed) else "\n\n"
    return between.join(render_entry(region, entry) for entry in shown(region, entries))


def render_block(region: Region, entries: Sequence[RegionEntry]) -> str:
    """The block of ``region``: its name, title and description, what it holds, and that a person wrote it.

    A region without content is one empty line of markup: a model that may write it has to know that it is there.
    """
    marks = [f'name="{region.name}"']
    if region.title:
        marks.append(f'title="{attribute(region.title)}"')
    if region.description and region.is_described:
        marks.append(f'about="{attribute(region.description)}"')
    if any(entry.by is not None and entry.by.kind is ActorKind.PERSON for entry in entries):
        marks.append('edited-by="a person: keep what they wrote"')
    body = render_body(region, entries)
    opening = " ".join(marks)
    return f"<region {opening}>\n{body}\n</region>" if body else f"<region {opening}/>"


def entry_tokens(region: Region, entry: RegionEntry, estimate: Estimate) -> int:
    """The tokens of one entry as it is rendered; none for what is not shown."""
    return estimate.of(render_entry(region, entry)) if entry.text.strip() else 0


def tokens_of(region: Region, entries: Iterable[RegionEntry], estimate: Estimate) -> int:
    """The tokens of all that ``region`` holds."""
    return sum(entry_tokens(region, entry, estimate) for entry in entries)
