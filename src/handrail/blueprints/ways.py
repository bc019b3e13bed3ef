"""The ways between the stages of a blueprint: what edges, gotos and fan-outs lead to, and what can be reached."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from handrail.blueprints.edges import END, Edge
from handrail.blueprints.labels import find_label
from handrail.blueprints.model import Blueprint, Stage
from handrail.blueprints.problems import Path


class Way(Struct, frozen=True, kw_only=True):
    """A way from the stage ``source`` to the stage ``to`` (or ``end``), which may not be there.

    ``edge`` is set for an edge, ``label`` for the option of a point. ``path`` leads to where it is written; to the
    stage where it is not written at all.
    """

    kind: Literal["edge", "goto", "worker", "merge"]
    source: str
    to: str
    path: Path
    edge: Edge | None = None
    label: str = ""


def ways_of(blueprint: Blueprint) -> tuple[Way, ...]:
    """Every way of ``blueprint``, stage by stage, in the order in which it is written."""
    return tuple(way for number, stage in enumerate(blueprint.stages) for way in _ways(blueprint, stage, number))


def _ways(blueprint: Blueprint, stage: Stage, number: int) -> Iterator[Way]:
    at: Path = ("stages", number)
    fan_out = stage.fan_out
    if fan_out is not None and fan_out.stage is not None:
        yield Way(kind="worker", source=stage.name, to=fan_out.stage, path=(*at, "fan_out", "stage"))
    if fan_out is not None and fan_out.merge is not None:
        yield Way(kind="merge", source=stage.name, to=fan_out.merge, path=(*at, "fan_out", "merge"))
    for place, edge in enumerate(blueprint.edges_of(stage)):
        if stage.edges is not None:
            yield Way(kind="edge", source=stage.name, to=edge.to, path=(*at, "edges", place, "to"), edge=edge)
        elif fan_out is None or fan_out.merge is None:
            yield Way(kind="edge", source=stage.name, to=edge.to, path=at, edge=edge)
    for place, point in enumerate(stage.points):
        for key, target in point.goto.items():
            label = find_label(key, point.labels) or key
            path = (*at, "points", place, "goto", key)
            yield Way(kind="goto", source=stage.name, to=target, path=path, label=label)


def drawn_ways(blueprint: Blueprint) -> tuple[Way, ...]:
    """The ways a drawing shows: those to stages that are there, and without the ends of workers, which end no run."""
    workers = {stage.name for stage in blueprint.stages if stage.is_worker}
    there = {stage.name for stage in blueprint.stages}
    return tuple(
        way
        for way in ways_of(blueprint)
        if way.to in there or (way.to == END and way.source not in workers and way.kind in ("edge", "goto"))
    )


def targets(ways: Iterable[Way], *, without: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """The stages each stage leads to, ways of the kinds in ``without`` left out."""
    found: dict[str, dict[str, None]] = {}
    for way in ways:
        if way.kind not in without:
            found.setdefault(way.source, {})[way.to] = None
    return {source: tuple(reached) for source, reached in found.items()}


def reached_from(starts: Iterable[str], leads: Mapping[str, Collection[str]]) -> set[str]:
    """Everything that can be reached from ``starts``, themselves included."""
    reached: set[str] = set()
    left = list(starts)
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left.extend(leads.get(name, ()))
    return reached


def turned(leads: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """The ways the other way round."""
    back: dict[str, list[str]] = {}
    for source, reached in leads.items():
        for name in reached:
            back.setdefault(name, []).append(source)
    return back


def cycles(leads: Mapping[str, Collection[str]]) -> list[list[str]]:
    """The groups of stages that lead to one another (a stage that leads to itself is one), in order of finding."""
    order: list[str] = []
    seen: set[str] = set()
    for start in leads:
        stack: list[tuple[str, Iterator[str]]] = [(start, iter(leads.get(start, ())))] if start not in seen else []
        seen.add(start)
        while stack:
            name, following = stack[-1]
            for other in following:
                if other not in seen:
                    seen.add(other)
                    stack.append((other, iter(leads.get(other, ()))))
                    break
            else:
                order.append(name)
                stack.pop()
    return _groups(order, leads)


def _groups(order: list[str], leads: Mapping[str, Collection[str]]) -> list[list[str]]:
    # Kosaraju: from the last that was left, against the ways, a walk stays within one group.
    back = turned(leads)
    placed: set[str] = set()
    groups: list[list[str]] = []
    for start in reversed(order):
        if start in placed:
            continue
        group, left = [], [start]
        placed.add(start)
        while left:
            name = left.pop()
            group.append(name)
            for other in back.get(name, ()):
                if other not in placed:
                    placed.add(other)
                    left.append(other)
        if len(group) > 1 or start in leads.get(start, ()):
            groups.append(group)
    return groups
