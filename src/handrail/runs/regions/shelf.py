"""The regions of one stage as its tools reach them."""

from __future__ import annotations

from handrail.agents.regions import Change, Changed, RegionRefused
from handrail.blueprints.regions import Checklist, Region
from handrail.runs.regions.blocks import render_entry, shown, tokens_of
from handrail.runs.regions.contents import Contents, is_conversation
from handrail.runs.regions.drafts import Origin
from handrail.runs.regions.size import Size
from handrail.runs.regions.writing import changed


class Shelf:
    """Fulfils ``agents.regions.Regions`` for the ``visible`` regions and what they hold now.

    ``origin`` is what a call may bring in and who makes it. ``locked`` are regions whose document a person approved:
    they are read only until a point or their own stage takes them up again. It is a value of one moment: a run makes
    one for each call, since a call before it may have changed the contents.
    """

    def __init__(
        self,
        visible: tuple[Region, ...],
        contents: Contents,
        size: Size,
        origin: Origin,
        locked: frozenset[str] = frozenset(),
    ) -> None:
        self._regions = {region.name: region for region in visible if not is_conversation(region)}
        self._contents = contents
        self._size = size
        self._origin = origin
        self._locked = locked

    def overview(self) -> str:
        lines = [self._told(region) for region in self._regions.values()]
        return "\n".join(lines) or "There are no regions here."

    def read(self, region: str, key: str | None = None) -> str:
        declared = self._region(region)
        seen = shown(declared, self._contents.get(region, ()))
        if key is not None:
            seen = tuple(entry for entry in seen if entry.key == key)
            if not seen:
                raise RegionRefused(f"{region} holds nothing under the key {key!r}")
        if not seen:
            return f"[{region} is empty]"
        if isinstance(declared, Checklist) or len(seen) == 1:
            return "\n".join(render_entry(declared, entry) for entry in seen)
        return "\n\n".join(f"[{at}]\n{render_entry(declared, entry)}" for at, entry in enumerate(seen, 1))

    def changed(self, region: str, change: Change) -> Changed:
        declared = self._region(region)
        if declared.is_read_only:
            raise RegionRefused(f"{region} is not for tools to write")
        if region in self._locked:
            raise RegionRefused(
                f"{region} holds what a person approved and stays as it is until it is asked about again"
            )
        return changed(declared, self._contents.get(region, ()), change, self._size, self._origin)

    def checklist(self) -> str:
        names = [name for name, region in self._regions.items() if isinstance(region, Checklist)]
        if len(names) != 1:
            told = f"there are several checklists: {', '.join(names)}" if names else "there is no checklist here"
            raise RegionRefused(told)
        return names[0]

    def _region(self, name: str) -> Region:
        if name not in self._regions:
            raise RegionRefused(f"there is no region {name!r} here. There are: {', '.join(self._regions) or 'none'}")
        return self._regions[name]

    def _told(self, region: Region) -> str:
        held = self._contents.get(region.name, ())
        tokens, budget = tokens_of(region, held, self._size.estimate), region.budget_tokens(self._size.window)
        is_shut = region.is_read_only or region.name in self._locked
        about = f" – {region.description}" if region.description else ""
        count = len(shown(region, held))
        return (
            f"{region.name} ({region.kind}{', read only' if is_shut else ''}): {count} "
            f"{'entry' if count == 1 else 'entries'}, about {tokens} of {budget} tokens{about}"
        )
