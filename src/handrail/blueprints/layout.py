"""Where the boxes and arrows of a drawing go: a layered layout for a few dozen nodes.

Ways that lead back are turned round, so that all lead down. Nodes stand in layers by the longest way to them. Between
two layers of nodes lies one of captions, and an arrow has a place of its own in every layer it crosses, so arrows
and words go round boxes. Places within a layer are chosen so that arrows cross little and run straight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from handrail.blueprints.placing import Point, placed, without_crossings

GAP = 28.0
"""Between neighbours of a layer, in pixels."""

LAYER_GAP = 26.0
"""Between a layer and the one below."""


PORT_GAP = 24.0
"""Between arrows that touch a box on the same side, in pixels."""


class Box(Struct, frozen=True):
    """A node or a caption before it has a place: its size in pixels."""

    width: float
    height: float


class Arrow(Struct, frozen=True):
    """A way from the node ``source`` to the node ``to``, with the size of its caption (zero: none)."""

    source: str
    to: str
    caption: Box = Box(0.0, 0.0)


class Laid(Struct, frozen=True, kw_only=True):
    """A layout: the centre of each node; for each arrow its line, from source to target, and its caption's centre."""

    nodes: Mapping[str, Point]
    lines: tuple[tuple[Point, ...], ...]
    captions: tuple[Point, ...]
    width: float
    height: float


def laid_out(nodes: Mapping[str, Box], arrows: Sequence[Arrow], first: str) -> Laid:
    """The places of ``nodes`` and ``arrows``; ``first`` is at the top. Arrows to oneself are left to the drawing."""
    turned = _turned(nodes, arrows, first)
    layers = _layers(nodes, arrows, turned)
    chains = [_chain(number, arrow, layers, number in turned) for number, arrow in enumerate(arrows)]
    rows: dict[int, list[str]] = {}
    sizes: dict[str, Box] = dict(nodes)
    for name in nodes:
        rows.setdefault(layers[name], []).append(name)
    links: list[tuple[str, str]] = []
    for chain, arrow, number in zip(chains, arrows, range(len(arrows)), strict=True):
        caption = _caption_place(chain, number in turned)
        for place, (name, layer) in enumerate(chain[1:-1], start=1):
            rows.setdefault(layer, []).append(name)
            sizes[name] = arrow.caption if place == caption else Box(0.0, 0.0)
        links += [(chain[place][0], chain[place + 1][0]) for place in range(len(chain) - 1)]
    ordered = without_crossings([rows[layer] for layer in sorted(rows)], links)
    across = placed(ordered, links, {name: box.width for name, box in sizes.items()}, nodes, GAP)
    bands, height = _bands(ordered, sizes)
    centres = {name: Point(across[name], (bands[name][0] + bands[name][1]) / 2) for name in sizes}
    ports = _ports(chains, centres, sizes)
    return Laid(
        nodes={name: centres[name] for name in nodes},
        lines=tuple(
            _line(chain, centres, sizes, bands, ports[number], is_turned=number in turned)
            for number, chain in enumerate(chains)
        ),
        captions=tuple(
            centres[chain[_caption_place(chain, number in turned)][0]] if chain else Point(0.0, 0.0)
            for number, chain in enumerate(chains)
        ),
        width=max((across[name] + box.width / 2 for name, box in sizes.items()), default=0.0),
        height=height,
    )


def _turned(nodes: Mapping[str, Box], arrows: Sequence[Arrow], first: str) -> set[int]:
    """The arrows that lead back to where a walk from ``first`` comes from."""
    leaving: dict[str, list[int]] = {name: [] for name in nodes}
    for number, arrow in enumerate(arrows):
        leaving[arrow.source].append(number)
    turned: set[int] = set()
    state: dict[str, str] = {}
    for start in (first, *nodes):
        stack = [(start, iter(leaving[start]))] if start not in state else []
        state.setdefault(start, "open")
        while stack:
            name, following = stack[-1]
            taken = next(following, None)
            if taken is None:
                state[name] = "done"
                stack.pop()
                continue
            to = arrows[taken].to
            if state.get(to) == "open":
                turned.add(taken)
            elif to not in state:
                state[to] = "open"
                stack.append((to, iter(leaving[to])))
    return turned


def _layers(nodes: Mapping[str, Box], arrows: Sequence[Arrow], turned: set[int]) -> dict[str, int]:
    """The layer of each node, even numbers from 0: one below the lowest that leads to it."""
    above: dict[str, list[str]] = {name: [] for name in nodes}
    waiting = dict.fromkeys(nodes, 0)
    below: dict[str, list[str]] = {name: [] for name in nodes}
    for number, arrow in enumerate(arrows):
        if arrow.source == arrow.to:
            continue
        source, to = (arrow.to, arrow.source) if number in turned else (arrow.source, arrow.to)
        above[to].append(source)
        below[source].append(to)
        waiting[to] += 1
    layers: dict[str, int] = {}
    free = [name for name in nodes if not waiting[name]]
    for name in free:
        layers[name] = max((layers[other] + 2 for other in above[name]), default=0)
        for other in below[name]:
            waiting[other] -= 1
            if not waiting[other]:
                free.append(other)
    return layers


def _chain(number: int, arrow: Arrow, layers: Mapping[str, int], is_turned: bool) -> list[tuple[str, int]]:
    """The nodes and places an arrow runs through, from top to bottom, with their layers."""
    if arrow.source == arrow.to:
        return []
    top, bottom = (arrow.to, arrow.source) if is_turned else (arrow.source, arrow.to)
    inner = [(f"{number}/{layer}", layer) for layer in range(layers[top] + 1, layers[bottom])]
    return [(top, layers[top]), *inner, (bottom, layers[bottom])]


def _caption_place(chain: Sequence[tuple[str, int]], is_turned: bool) -> int:
    """Where in ``chain`` the caption stands: next to where the arrow begins."""
    return len(chain) - 2 if is_turned else 1


def _bands(rows: Sequence[Sequence[str]], sizes: Mapping[str, Box]) -> tuple[dict[str, tuple[float, float]], float]:
    """From where to where the row of each member goes down, and where the last one ends."""
    bands: dict[str, tuple[float, float]] = {}
    top = 0.0
    for row in rows:
        height = max((sizes[name].height for name in row), default=0.0)
        bands.update(dict.fromkeys(row, (top, top + height)))
        top += height + LAYER_GAP
    return bands, max(top - LAYER_GAP, 0.0)


def _ports(
    chains: Sequence[Sequence[tuple[str, int]]], centres: Mapping[str, Point], sizes: Mapping[str, Box]
) -> list[tuple[float, float]]:
    """Where across each arrow touches the box above and the box below it: side by side, in the order they come from."""
    leaving: dict[str, list[tuple[float, int]]] = {}
    coming: dict[str, list[tuple[float, int]]] = {}
    for number, chain in enumerate(chains):
        if chain:
            leaving.setdefault(chain[0][0], []).append((centres[chain[1][0]].x, number))
            coming.setdefault(chain[-1][0], []).append((centres[chain[-2][0]].x, number))
    upper, lower = _spread(leaving, centres, sizes), _spread(coming, centres, sizes)
    return [(upper.get(number, 0.0), lower.get(number, 0.0)) for number in range(len(chains))]


def _spread(
    touching: Mapping[str, list[tuple[float, int]]], centres: Mapping[str, Point], sizes: Mapping[str, Box]
) -> dict[int, float]:
    places: dict[int, float] = {}
    for name, ends in touching.items():
        step = min(PORT_GAP, sizes[name].width * 0.7 / len(ends))
        for place, (_, number) in enumerate(sorted(ends)):
            places[number] = centres[name].x + (place - (len(ends) - 1) / 2) * step
    return places


def _line(
    chain: Sequence[tuple[str, int]],
    centres: Mapping[str, Point],
    sizes: Mapping[str, Box],
    bands: Mapping[str, tuple[float, float]],
    ports: tuple[float, float],
    *,
    is_turned: bool,
) -> tuple[Point, ...]:
    """The points of an arrow's line: from the edge of its source, straight down past each row, to its target."""
    if not chain:
        return ()
    (top, _), (bottom, _) = chain[0], chain[-1]
    inner = [Point(centres[name].x, y) for name, _ in chain[1:-1] for y in bands[name]]
    begin = Point(ports[0], centres[top].y + sizes[top].height / 2)
    end = Point(ports[1], centres[bottom].y - sizes[bottom].height / 2)
    points = (begin, *inner, end)
    return tuple(reversed(points)) if is_turned else points
