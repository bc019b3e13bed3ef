"""Where the stages lead: that there is an end, that every stage can be reached and left, that nothing goes round for
ever, and that every edge can be taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handrail.blueprints.checks.known import Known
from handrail.blueprints.edges import END, Edge
from handrail.blueprints.edges.always import Always
from handrail.blueprints.edges.error import OnError
from handrail.blueprints.edges.limit import OnLimit
from handrail.blueprints.edges.model import ByModel
from handrail.blueprints.model import Blueprint, Stage
from handrail.blueprints.problems import Finding, Path, finding
from handrail.blueprints.ways import cycles, reached_from, targets, turned, ways_of


def check_flow(blueprint: Blueprint, _known: Known) -> Iterator[Finding]:
    """Ends, reach, rounds and the edges of each stage."""
    yield from _reach(blueprint)
    yield from _rounds(blueprint)
    bounded = {stage.name for stage in blueprint.stages if stage.max_visits is not None}
    for number, stage in enumerate(blueprint.stages):
        at: Path = ("stages", number)
        yield from _dead_ends(blueprint, stage, at, bounded)
        yield from _shadowed(stage, at, bounded)
        yield from _chosen(stage, at)
    yield from _skipped_outputs(blueprint)


def _reach(blueprint: Blueprint) -> Iterator[Finding]:
    ways = ways_of(blueprint)
    leads = targets(ways)
    reached = reached_from([blueprint.entry_stage], leads)
    ends = reached_from([END], turned(targets(ways, without=("worker",))))
    has_end = blueprint.entry_stage in ends
    if not has_end:
        yield finding("no-end", ("stages",), "no way leads to the end", 'an edge with to = "end", or edges = []')
    for number, stage in enumerate(blueprint.stages):
        if stage.name not in reached:
            told = "no fan-out uses this worker" if stage.is_worker else "no way leads to this stage"
            yield finding("unreachable-stage", ("stages", number), f"{stage.name!r}: {told}")
        elif has_end and stage.name not in ends:
            yield finding("no-way-out", ("stages", number), f"{stage.name!r}: no way leads from here to the end")


def _rounds(blueprint: Blueprint) -> Iterator[Finding]:
    numbers = {stage.name: number for number, stage in reversed(list(enumerate(blueprint.stages)))}
    bounded = {stage.name for stage in blueprint.stages if stage.max_visits is not None}
    # A goto is a person's choice each time, and bounds itself.
    written = targets(ways_of(blueprint), without=("goto", "worker"))
    leads = {
        name: [other for other in following if other not in bounded and other in numbers]
        for name, following in written.items()
        if name not in bounded
    }
    for group in cycles(leads):
        at: Path = ("stages", min(numbers[name] for name in group))
        if len(group) == 1:
            told = f"{group[0]!r} leads to itself without max_visits"
            yield finding("endless-self-loop", at, told, "max_visits = 3")
            continue
        shown = ", ".join(sorted(group, key=numbers.__getitem__)[:8])
        told = f"{shown} lead to one another and none has max_visits"
        yield finding("endless-cycle", at, told, "max_visits = 3")


def _dead_ends(blueprint: Blueprint, stage: Stage, at: Path, bounded: set[str]) -> Iterator[Finding]:
    edges = blueprint.edges_of(stage)
    if stage.edges == () or any(isinstance(edge, OnError) for edge in edges):
        return
    sure = [edge for edge in edges if isinstance(edge, Always) or (isinstance(edge, ByModel) and edge.is_default)]
    if not sure:
        told = f"{stage.name!r} may be done with no edge that fits: the run would fail"
        yield finding("dead-end", (*at, "edges"), told, "a last edge without a condition")
    elif all(edge.to in bounded for edge in sure):
        told = f"once the visits of {sure[-1].to!r} are used up, {stage.name!r} has no edge to take"
        yield finding("dead-end", (*at, "edges"), told, 'a last edge with to = "end", or one when = "error"')


def _shadowed(stage: Stage, at: Path, bounded: set[str]) -> Iterator[Finding]:
    taken: dict[str, int] = {}
    edges = stage.edges or ()
    for place, edge in enumerate(edges):
        if edge in edges[:place]:
            told = f"the same edge to {edge.to!r} stands before"
            yield finding("duplicate-edge", (*at, "edges", place), told)
            continue
        before = taken.get(edge.ends[0])
        if before is not None:
            told = f"edge {before} before it is always taken"
            yield finding("edge-never-taken", (*at, "edges", place), told, "put it before, or take it out")
        elif _is_catch_all(edge) and edge.to not in bounded:
            taken[edge.ends[0]] = place
    for place, edge in enumerate(edges):
        catch_all = taken.get("done")
        if isinstance(edge, ByModel) and catch_all is not None and place < catch_all:
            told = f"edge {catch_all} is always taken before the model is asked"
            yield finding("edge-never-taken", (*at, "edges", place), told, 'make that one when = "model"')


def _is_catch_all(edge: Edge) -> bool:
    return isinstance(edge, Always | OnError) or (isinstance(edge, OnLimit) and not edge.bounds)


def _chosen(stage: Stage, at: Path) -> Iterator[Finding]:
    chosen = [(place, edge) for place, edge in enumerate(stage.edges or ()) if isinstance(edge, ByModel)]
    if not chosen:
        return
    defaults = [place for place, edge in chosen if edge.is_default]
    first = (*at, "edges", chosen[0][0])
    if not defaults:
        told = "the model chooses, and no edge says what holds when it names none"
        yield finding("no-default", first, told, "is_default = true on one of them")
    for place in defaults[1:]:
        told = f"edge {defaults[0]} is the default already"
        yield finding("several-defaults", (*at, "edges", place, "is_default"), told)
    if len(chosen) == 1:
        yield finding("nothing-to-choose", first, "the model has one edge to choose from", "leave out its when")


def _skipped_outputs(blueprint: Blueprint) -> Iterator[Finding]:
    giving = {stage.name for stage in blueprint.stages if stage.output is not None and not stage.is_worker}
    leads = targets(ways_of(blueprint), without=("worker",))
    for number, stage in enumerate(blueprint.stages):
        ends = [n for n, edge in enumerate(stage.edges or ()) if isinstance(edge, ByModel) and edge.to == END]
        if ends and stage.name not in giving and (skipped := _later(stage, giving, leads)):
            told = f"the model may end the run before {skipped[0]!r}, which has an output"
            yield finding("output-skipped", ("stages", number, "edges", ends[0]), told)


def _later(stage: Stage, giving: set[str], leads: Mapping[str, Sequence[str]]) -> list[str]:
    return sorted(reached_from(leads.get(stage.name, ()), leads) & giving)
