"""What regions take of the window, and whether what is put into them can be put there and stays."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.blueprints.checks.known import Known, tools_of
from handrail.blueprints.model import Blueprint, Stage, sees
from handrail.blueprints.problems import Finding, Path, finding
from handrail.blueprints.regions import CONVERSATION, CommandSeed, Compacting, Pinned, Region

_SMALL_WINDOW = 20_000
_WORKING_TOKENS = 8_000
"""What a stage needs beside its regions, where the window is not small itself."""

_LONG_DOCUMENT_TOKENS = 2_000


def check_regions(blueprint: Blueprint, known: Known) -> Iterator[Finding]:
    """Budgets, documents, what is required and what is never seen."""
    for number, stage in enumerate(blueprint.stages):
        at: Path = ("stages", number)
        yield from _budgets(blueprint, stage, at, known)
        yield from _documents(blueprint, stage, at, known)
        yield from _summed_up(blueprint, stage, at)
        for name, seed in stage.seeds.items():
            if isinstance(seed, CommandSeed):
                yield _command((*at, "seeds", name), seed)
    for number, region in enumerate(blueprint.regions):
        yield from _region(blueprint, region, ("regions", number), known)


def _budgets(blueprint: Blueprint, stage: Stage, at: Path, known: Known) -> Iterator[Finding]:
    regions = blueprint.regions_of(stage)
    total = sum(region.budget or 0 for region in regions)
    if total > 100:
        told = f"the regions that {stage.name!r} sees may take {total:g} % of the window"
        yield finding("budgets-above-all", (*at, "regions") if stage.regions else at, told)
        return
    taken = sum(region.budget_tokens(known.window) for region in regions if region.name != CONVERSATION)
    if known.window >= _SMALL_WINDOW and known.window - taken < _WORKING_TOKENS:
        told = (
            f"of a window of {known.window:,} tokens regions leave {max(known.window - taken, 0):,} to "
            f"{stage.name!r}, and {_WORKING_TOKENS:,} are needed"
        )
        yield finding("too-little-room", (*at, "regions") if stage.regions else at, told)


def _documents(blueprint: Blueprint, stage: Stage, at: Path, known: Known) -> Iterator[Finding]:
    kinds = {region.name: region for region in blueprint.regions}
    for place, point in enumerate(stage.points):
        region = kinds.get(point.document_region or "")
        path = (*at, "points", place, "document_region")
        if point.document_region == CONVERSATION and region is None:
            yield finding("document-not-pinned", path, "the conversation cannot hold a document")
        elif region is not None and not isinstance(region, Pinned):
            told = f"{region.name!r} is {region.kind}, and a document needs a pinned region"
            yield finding("document-not-pinned", path, told, 'kind = "pinned"')
        elif region is not None and (room := region.budget_tokens(known.window)) < _LONG_DOCUMENT_TOKENS:
            told = f"{region.name!r} holds {room:,} tokens: a longer document will be refused"
            yield finding("document-too-small", path, told, f"max_tokens = {_LONG_DOCUMENT_TOKENS} or more")


def _summed_up(blueprint: Blueprint, stage: Stage, at: Path) -> Iterator[Finding]:
    given = (("output", stage.output), ("fan_out", stage.fan_out))
    for key, written in given:
        name = None if written is None else written.region
        if any(region.name == name and isinstance(region, Compacting) for region in blueprint.regions):
            told = f"{name!r} is summed up when it grows, and what is written there must stay word for word"
            yield finding("summed-up", (*at, key, "region"), told, "a pinned region")


def _region(blueprint: Blueprint, region: Region, at: Path, known: Known) -> Iterator[Finding]:
    if not any(sees(stage, region.name) for stage in blueprint.stages):
        yield finding("region-never-seen", at, f"no stage sees {region.name!r}")
    if region.budget is not None and region.max_tokens is None and region.name != CONVERSATION:
        told = f"{region.budget:g} % of a window of a million tokens are {round(region.budget * 10_000):,}"
        yield finding("unbounded-budget", (*at, "budget"), told, "add max_tokens")
    if isinstance(region.seed, CommandSeed):
        yield _command((*at, "seed"), region.seed)
    is_judged = region.required and region.seed is None and known.tools is not None
    if is_judged and not any(_can_write(stage, region.name, known) for stage in blueprint.stages):
        told = f"{region.name!r} is required, and no stage can write it"
        yield finding("region-never-written", (*at, "required"), told, "a tool that writes regions, or a seed")


def _can_write(stage: Stage, name: str, known: Known) -> bool:
    written = {point.document_region for point in stage.points} | set(stage.seeds)
    written |= {stage.output.region} if stage.output else set()
    written |= {stage.fan_out.region} if stage.fan_out else set()
    return name in written or (sees(stage, name) and any(tool.writes_regions for tool in tools_of(stage.tools, known)))


def _command(path: Path, seed: CommandSeed) -> Finding:
    return finding("command-seed", path, f"it runs {' '.join(seed.command)!r}, where that is permitted")
