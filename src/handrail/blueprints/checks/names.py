"""Names that stand twice, and names of stages and regions that are not there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from handrail.blueprints.checks.known import Known
from handrail.blueprints.edges import END
from handrail.blueprints.edges.region import OnRegion
from handrail.blueprints.model import Blueprint, Stage, sees
from handrail.blueprints.problems import Finding, Path, finding, nearest
from handrail.blueprints.regions import CONVERSATION, Checklist
from handrail.blueprints.ways import ways_of


def check_names(blueprint: Blueprint, _known: Known) -> Iterator[Finding]:
    """Twins, the reserved name, stages and regions that are named and not there or not seen."""
    yield from _twins("duplicate-stage", [(("stages", n, "name"), s.name) for n, s in enumerate(blueprint.stages)])
    yield from _twins("duplicate-region", [(("regions", n, "name"), r.name) for n, r in enumerate(blueprint.regions)])
    for number, stage in enumerate(blueprint.stages):
        points = [(("stages", number, "points", n, "name"), point.name) for n, point in enumerate(stage.points)]
        yield from _twins("duplicate-point", points)
        if stage.name == END:
            told = "a stage cannot be called 'end': that is where a run ends"
            yield finding("reserved-name", ("stages", number, "name"), told, "finish")
    yield from _unknown_stages(blueprint)
    yield from _regions(blueprint)


def _twins(code: str, names: Iterable[tuple[Path, str]]) -> Iterator[Finding]:
    seen: set[str] = set()
    for path, name in names:
        if name in seen and name:
            yield finding(code, path, f"{name!r} stands twice")
        seen.add(name)


def _unknown_stages(blueprint: Blueprint) -> Iterator[Finding]:
    names = [stage.name for stage in blueprint.stages]
    known = {*names, END}
    if blueprint.entry is not None and blueprint.entry not in names:
        yield _unknown("stage", blueprint.entry, ("entry",), names)
    for way in ways_of(blueprint):
        if way.to not in known or (way.to == END and way.kind in ("worker", "merge")):
            yield _unknown("stage", way.to, way.path, known)


def _unknown(what: str, name: str, path: Path, known: Collection[str]) -> Finding:
    return finding(f"unknown-{what}", path, f"no {what} is called {name!r}", nearest(name, known))


def _regions(blueprint: Blueprint) -> Iterator[Finding]:
    kinds = {region.name: region for region in blueprint.regions}
    known = {CONVERSATION, *kinds}
    for number, stage in enumerate(blueprint.stages):
        for place, name in enumerate(stage.regions or ()):
            if name not in known:
                yield _unknown("region", name, ("stages", number, "regions", place), known)
        for path, name in _named_regions(stage, ("stages", number)):
            if name not in known:
                yield _unknown("region", name, path, known)
            elif not sees(stage, name):
                told = f"stage {stage.name!r} needs the region {name!r} and does not see it"
                yield finding("unseen-region", path, told, f"add {name!r} to its regions")
        for place, edge in enumerate(stage.edges or ()):
            is_list = isinstance(edge, OnRegion) and edge.has_open_items is not None
            if is_list and isinstance(edge, OnRegion) and not isinstance(kinds.get(edge.region), Checklist | None):
                told = f"{edge.region!r} has no items that could be open: it is no checklist"
                yield finding("not-a-checklist", ("stages", number, "edges", place, "region"), told)


def _named_regions(stage: Stage, at: Path) -> Iterator[tuple[Path, str]]:
    """The regions a stage works with, and where it says so."""
    for name in stage.seeds:
        yield (*at, "seeds", name), name
    for place, point in enumerate(stage.points):
        if point.document_region is not None:
            yield (*at, "points", place, "document_region"), point.document_region
    for place, edge in enumerate(stage.edges or ()):
        if isinstance(edge, OnRegion):
            yield (*at, "edges", place, "region"), edge.region
    if stage.output is not None and stage.output.region is not None:
        yield (*at, "output", "region"), stage.output.region
    if stage.fan_out is not None and stage.fan_out.region is not None:
        yield (*at, "fan_out", "region"), stage.fan_out.region
