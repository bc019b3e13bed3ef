"""Order and place within the layers of a drawing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

_SWEEPS = 12


class Point(Struct, frozen=True):
    """A place in a drawing, in pixels from its upper left corner."""

    x: float
    y: float


def without_crossings(rows: Sequence[Sequence[str]], links: Iterable[tuple[str, str]]) -> list[list[str]]:
    """``rows`` with each ordered so that ``links`` between neighbouring rows cross as little as a few sweeps can do.

    Each sweep puts every member at the mean place of those it is linked to in the row before; the best order seen
    is kept.
    """
    above, below = _neighbours(links)
    ordered = [list(row) for row in rows]
    best, fewest = [list(row) for row in ordered], _crossings(ordered, below)
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        linked = above if is_down else below
        numbers = range(1, len(ordered)) if is_down else range(len(ordered) - 2, -1, -1)
        for number in numbers:
            fixed = ordered[number - 1 if is_down else number + 1]
            places = {name: place for place, name in enumerate(fixed)}
            current = {name: float(place) for place, name in enumerate(ordered[number])}
            ordered[number].sort(key=lambda name: _mean([places[o] for o in linked.get(name, ())], current[name]))
        crossings = _crossings(ordered, below)
        if crossings < fewest:
            best, fewest = [list(row) for row in ordered], crossings
    return best


def placed(
    rows: Sequence[Sequence[str]],
    links: Iterable[tuple[str, str]],
    widths: Mapping[str, float],
    boxes: Collection[str],
    gap: float,
) -> dict[str, float]:
    """The centre of every member of ``rows``, left edge of all at 0: near those it is linked to, none overlapping.

    What is not in ``boxes`` is a place that an arrow runs through, and those of one arrow are drawn into a line.
    """
    above, below = _neighbours(links)
    across = {name: 0.0 for row in rows for name in row}
    for row in rows:
        across.update(_apart(row, across, widths, gap))
    for sweep in range(2 * _SWEEPS):
        linked = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = {
                name: _mean(
                    [across[other] for other in linked.get(name, ()) for _ in range(_pull(name, other, boxes))],
                    across[name],
                )
                for name in row
            }
            across.update(_apart(row, wanted, widths, gap))
    left = min((across[name] - widths[name] / 2 for name in across), default=0.0)
    return {name: place - left for name, place in across.items()}


def _pull(one: str, other: str, boxes: Collection[str]) -> int:
    """How strongly two linked members pull at one another."""
    return 1 if one in boxes and other in boxes else 2 if one in boxes or other in boxes else 8


def _neighbours(links: Iterable[tuple[str, str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for upper, lower in links:
        below.setdefault(upper, []).append(lower)
        above.setdefault(lower, []).append(upper)
    return above, below


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _crossings(rows: Sequence[Sequence[str]], below: Mapping[str, Sequence[str]]) -> int:
    count = 0
    for upper, lower in pairwise(rows):
        places = {name: place for place, name in enumerate(lower)}
        ends = [sorted(places[other] for other in below.get(name, ())) for name in upper]
        seen: list[int] = []
        for targets in ends:
            count += sum(1 for target in targets for earlier in seen if earlier > target)
            seen += targets
    return count


def _apart(
    row: Sequence[str], wanted: Mapping[str, float], widths: Mapping[str, float], gap: float
) -> dict[str, float]:
    """The places nearest to ``wanted`` (least squares) at which the members of ``row`` keep their order and the gap.

    With the least distances taken off, the places must only not decrease: neighbours that would are pooled.
    """
    offsets: list[float] = []
    for place, name in enumerate(row):
        before = offsets[-1] + (widths[row[place - 1]] + widths[name]) / 2 + gap if place else 0.0
        offsets.append(before)
    pools: list[tuple[float, int]] = []
    for name, offset in zip(row, offsets, strict=True):
        total, count = wanted[name] - offset, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            earlier = pools.pop()
            total, count = total + earlier[0], count + earlier[1]
        pools.append((total, count))
    levels = [total / count for total, count in pools for _ in range(count)]
    return {name: level + offset for name, level, offset in zip(row, levels, offsets, strict=True)}
