"""Fan-outs and their workers."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.blueprints.checks.known import Known
from handrail.blueprints.edges.error import OnError
from handrail.blueprints.model import Blueprint
from handrail.blueprints.problems import Finding, Path, finding
from handrail.blueprints.ways import cycles, targets, ways_of


def check_fan_outs(blueprint: Blueprint, _known: Known) -> Iterator[Finding]:
    """That workers say so, are used as workers only, and do not call themselves."""
    numbers = {stage.name: number for number, stage in enumerate(blueprint.stages)}
    workers = {stage.name for stage in blueprint.stages if stage.is_worker}
    ways = ways_of(blueprint)
    for way in ways:
        if way.kind == "worker" and way.to in numbers and way.to not in workers:
            told = f"{way.to!r} is used as a worker and does not say so"
            yield finding("worker-not-flagged", ("stages", numbers[way.to]), told, "is_worker = true")
        if way.kind != "worker" and way.to in workers:
            yield finding("way-to-a-worker", way.path, f"{way.to!r} is a worker: only a fan-out runs it")
    if blueprint.entry_stage in workers:
        path: Path = ("entry",) if blueprint.entry else ("stages", 0)
        told = f"a run cannot begin with {blueprint.entry_stage!r}, which is a worker"
        yield finding("way-to-a-worker", path, told)
    for group in cycles(targets(ways, without=("edge", "goto", "merge"))):
        first = min(numbers[name] for name in group)
        told = f"{', '.join(sorted(group))}: a worker that fans out to itself never ends"
        yield finding("fan-out-of-itself", ("stages", first, "fan_out", "stage"), told)
    for number, stage in enumerate(blueprint.stages):
        if stage.is_worker and stage.points:
            told = f"{stage.name!r} is run for each item, and asks each time"
            yield finding("worker-with-points", ("stages", number, "points"), told)
        is_strict = stage.fan_out is not None and stage.fan_out.on_failure == "fail"
        if is_strict and not any(isinstance(edge, OnError) for edge in stage.edges or ()):
            told = f"one failed worker fails {stage.name!r}, and the run with it"
            yield finding("no-escape", ("stages", number, "fan_out", "on_failure"), told, 'an edge when = "error"')
