"""A blueprint as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from handrail.blueprints.captions import caption
from handrail.blueprints.edges import END
from handrail.blueprints.model import Blueprint, Stage
from handrail.blueprints.problems import shown
from handrail.blueprints.ways import Way, drawn_ways

_LONGEST = 60
_ESCAPES = {character: f"#{ord(character)};" for character in '#"&<>`[]{}()|\\;%'}


def mermaid(blueprint: Blueprint) -> str:
    """The text of a flowchart: a box a stage, a rhomb a point, an arrow a way; broken ones leave the usual path."""
    return "\n".join(_lines(blueprint)) + "\n"


def _lines(blueprint: Blueprint) -> Iterator[str]:
    ids = {stage.name: f"s{number}" for number, stage in enumerate(blueprint.stages)}
    names = {**ids, END: "finish"}
    yield "flowchart TD"
    yield "    start(( ))"
    for number, stage in enumerate(blueprint.stages):
        yield f"    s{number}{_box(stage)}"
        for place, point in enumerate(stage.points):
            yield f'    s{number}p{place}{{"{_escaped(point.name)}"}}'
    yield '    finish(["end"])'
    if blueprint.entry_stage in ids:
        yield f"    start --> {ids[blueprint.entry_stage]}"
    for number, stage in enumerate(blueprint.stages):
        inner = [f"s{number}", *(f"s{number}p{place}" for place in range(len(stage.points)))]
        yield from (f"    {one} --> {other}" for one, other in pairwise(inner))
    for way in drawn_ways(blueprint):
        yield f"    {_source(blueprint, way, ids)} {_arrow(way)} {names[way.to]}"


def _box(stage: Stage) -> str:
    text = _escaped(stage.name)
    if stage.description.strip():
        text += f"<br/>{_escaped(stage.description)}"
    return f'[["{text}"]]' if stage.is_worker else f'["{text}"]'


def _source(blueprint: Blueprint, way: Way, ids: dict[str, str]) -> str:
    """Where the arrow of ``way`` begins: at its point, or at the last one of the stage when its work was done."""
    name = ids[way.source]
    if way.kind == "goto":
        return f"{name}p{way.path[3]}"
    points = blueprint.stage(way.source).points
    is_usual = way.kind == "merge" or (way.edge is not None and "done" in way.edge.ends)
    return f"{name}p{len(points) - 1}" if points and is_usual else name


def _arrow(way: Way) -> str:
    text = caption(way)
    is_usual = way.kind in ("merge", "goto") or (way.edge is not None and "done" in way.edge.ends)
    line = "-->" if is_usual else "-.->"
    return f'{line}|"{_escaped(text)}"|' if text else line


def _escaped(text: str) -> str:
    """``text`` on one line, with nothing in it that means something to Mermaid or to HTML."""
    return "".join(_ESCAPES.get(character, character) for character in shown(" ".join(text.split()), _LONGEST))
