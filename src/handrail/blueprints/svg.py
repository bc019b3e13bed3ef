"""A blueprint as a picture (SVG): nothing in it is fetched, and no text in it can be more than text."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from msgspec import Struct

from handrail.blueprints.captions import caption
from handrail.blueprints.edges import END
from handrail.blueprints.layout import Arrow, Box, Laid, laid_out
from handrail.blueprints.model import Blueprint, Stage
from handrail.blueprints.placing import Point
from handrail.blueprints.problems import shown
from handrail.blueprints.ways import Way, drawn_ways
from handrail.errors import HandrailError

MAX_STAGES = 100
"""More stages are not drawn: nobody could read it."""

_START = "/start"
_MARGIN = 24.0
_LINE = 18.0
_PADDING = 12.0
_LONGEST = 46
_LINE_LENGTH = 38
_LOOP = 26.0

_STYLE = """
.bg{fill:#fff}.box{fill:#f6f8fa;stroke:#57606a;stroke-width:1.2}.worker{stroke-dasharray:5 3}
.end{fill:#24292f}.endname{fill:#fff;font-weight:600}.dot{fill:#24292f}
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#24292f;text-anchor:middle;dominant-baseline:central}
.name{font-weight:600;font-size:14px}.about{fill:#57606a;font-size:12px}.caption{font-size:12px}
.point{fill:#fff3c4;stroke:#b58105}.pointname{fill:#5c4200;font-size:12px}
.way{fill:none;stroke:#57606a;stroke-width:1.4}.head{fill:#57606a}
.person .way{stroke:#b58105}.person .head{fill:#b58105}.person text{fill:#7a5600}
.model .way{stroke:#8250df}.model .head{fill:#8250df}.model text{fill:#6639ba}
.odd .way{stroke:#cf222e;stroke-dasharray:6 4}.odd .head{fill:#cf222e}.odd text{fill:#a40e26}
.worker-way .way{stroke-dasharray:2 3}
@media (prefers-color-scheme:dark){.bg{fill:#0d1117}.box{fill:#161b22;stroke:#8b949e}text{fill:#e6edf3}
.about{fill:#9da7b3}.end,.dot{fill:#e6edf3}.endname{fill:#0d1117}.way{stroke:#8b949e}.head{fill:#8b949e}
.point{fill:#3d2e00;stroke:#d4a72c}.pointname{fill:#f2cc60}.person text{fill:#e3b341}.model text{fill:#d2a8ff}
.odd text{fill:#ff7b72}}
""".strip().replace("\n", "")


class TooManyStages(HandrailError, ValueError):
    """A blueprint with so many stages that a picture of it would say nothing."""

    code = "too_many_stages"


class _Drawn(Struct, frozen=True, kw_only=True):
    """Ways from one stage to another that are one arrow: their words, and how it looks."""

    source: str
    to: str
    looks: str
    words: tuple[str, ...]


def svg(blueprint: Blueprint) -> str:
    """The picture: a box a stage with its points, an arrow a way. ``TooManyStages``."""
    if len(blueprint.stages) > MAX_STAGES:
        raise TooManyStages(
            f"{len(blueprint.stages)} stages cannot be drawn, {MAX_STAGES} are the most", hint="Mermaid has no bound"
        )
    stages = {stage.name: stage for stage in blueprint.stages}
    drawn = _drawn(blueprint, stages)
    boxes = {_START: Box(12.0, 12.0), **{name: _size(stage) for name, stage in stages.items()}, END: Box(64.0, 30.0)}
    loops = {one.source: _caption_size(one.words).width + _LOOP for one in drawn if one.source == one.to}
    arrows = [Arrow(one.source, one.to, _caption_size(one.words)) for one in drawn]
    # A box with an arrow to itself needs room beside it, on both sides so that it stays the middle.
    roomy = {name: Box(box.width + 2 * loops.get(name, 0.0), box.height) for name, box in boxes.items()}
    laid = laid_out(roomy, arrows, _START)
    width = laid.width + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {laid.height + 2 * _MARGIN:.0f}" '
        f'width="{width:.0f}" height="{laid.height + 2 * _MARGIN:.0f}" role="img" aria-labelledby="title">',
        f'<title id="title">{_text(f"The stages of {blueprint.name}")}</title><style>{_STYLE}</style>',
        '<rect class="bg" width="100%" height="100%"/>',
        f'<g transform="translate({_MARGIN:.0f} {_MARGIN:.0f})">',
        *(_arrow(one, number, laid, boxes) for number, one in enumerate(drawn)),
        *(part for name, stage in stages.items() for part in _stage(stage, laid.nodes[name], boxes[name])),
        *_ends(laid.nodes),
        "</g></svg>",
    ]
    return "\n".join(parts) + "\n"


# What is drawn ----------------------------------------------------------------------------------------------


def _drawn(blueprint: Blueprint, stages: Mapping[str, Stage]) -> list[_Drawn]:
    merged: dict[tuple[str, str, str], dict[str, None]] = {}
    if blueprint.entry_stage in stages:
        merged[_START, blueprint.entry_stage, "usual"] = {}
    for way in drawn_ways(blueprint):
        words = merged.setdefault((way.source, way.to, _looks(way)), {})
        if text := caption(way):
            words[text] = None
    return [_Drawn(source=s, to=t, looks=looks, words=tuple(words)) for (s, t, looks), words in merged.items()]


def _looks(way: Way) -> str:
    if way.kind == "goto":
        return "person"
    if way.kind == "worker":
        return "worker-way"
    if way.edge is not None and "done" not in way.edge.ends:
        return "odd"
    return "model" if way.edge is not None and way.edge.when == "model" else "usual"


def _about(stage: Stage) -> list[str]:
    """The description of ``stage``, in two lines at most."""
    return textwrap.wrap(shown(stage.description), _LINE_LENGTH, max_lines=2, placeholder=" …")


def _width(text: str, size: float) -> float:
    """How wide ``text`` is about, in a font of ``size`` pixels whose glyphs are not known."""
    return sum(1.0 if unicodedata.east_asian_width(one) in "WF" else 0.58 for one in text) * size


def _size(stage: Stage) -> Box:
    about = _about(stage)
    lines = [
        (stage.name, 14.5),
        *((line, 12.0) for line in about),
        *((f"◆ {point.name}", 13.5) for point in stage.points),
    ]
    width = max(_width(text, size) for text, size in lines) + 2 * _PADDING
    height = _LINE * (1 + len(about)) + (_LINE + 6) * len(stage.points) + 2 * _PADDING - 4
    return Box(max(width, 90.0), height)


def _caption_size(words: Sequence[str]) -> Box:
    return Box(max((_width(text, 12.0) for text in words), default=0.0), 16.0 * len(words))


# How it is drawn --------------------------------------------------------------------------------------------


def _stage(stage: Stage, centre: Point, box: Box) -> Iterator[str]:
    left, top = centre.x - box.width / 2, centre.y - box.height / 2
    looks = "box worker" if stage.is_worker else "box"
    shadows = (8, 4) if stage.is_worker else ()
    yield "<g>"
    for shift in (*shadows, 0):
        yield (
            f'<rect class="{looks}" x="{left + shift:.1f}" y="{top + shift:.1f}" width="{box.width:.1f}" '
            f'height="{box.height:.1f}" rx="8"/>'
        )
    y = top + _PADDING + _LINE / 2 - 2
    yield f'<text class="name" x="{centre.x:.1f}" y="{y:.1f}">{_text(stage.name)}</text>'
    for line in _about(stage):
        y += _LINE
        yield f'<text class="about" x="{centre.x:.1f}" y="{y:.1f}">{_text(line)}</text>'
    for point in stage.points:
        y += _LINE + 6
        name = shown(point.name, _LONGEST)
        width = _width(f"◆ {name}", 13.5) + 6
        yield (
            f'<rect class="point" x="{centre.x - width / 2:.1f}" y="{y - 10:.1f}" width="{width:.1f}" '
            f'height="20" rx="10"/><text class="pointname" x="{centre.x:.1f}" y="{y:.1f}">◆ {_text(name)}</text>'
        )
    yield "</g>"


def _ends(nodes: Mapping[str, Point]) -> Iterator[str]:
    start, end = nodes[_START], nodes[END]
    yield f'<circle class="dot" cx="{start.x:.1f}" cy="{start.y:.1f}" r="6"/>'
    yield f'<rect class="end" x="{end.x - 32:.1f}" y="{end.y - 15:.1f}" width="64" height="30" rx="15"/>'
    yield f'<text class="endname" x="{end.x:.1f}" y="{end.y:.1f}">end</text>'


def _arrow(one: _Drawn, number: int, laid: Laid, boxes: Mapping[str, Box]) -> str:
    if one.source == one.to:
        path, tip, at = _loop(laid.nodes[one.source], boxes[one.source], one.words)
    else:
        line = laid.lines[number]
        path, tip, at = _curve(line), _tip(line), laid.captions[number]
    words = _words(one.words, at)
    return f'<g class="{one.looks}"><path class="way" d="{path}"/><path class="head" d="{tip}"/>{words}</g>'


def _curve(line: Sequence[Point]) -> str:
    """A line that leaves each of its points straight up or down."""
    path = f"M{line[0].x:.1f} {line[0].y:.1f}"
    for one, other in pairwise(line):
        middle = (one.y + other.y) / 2
        path += f"C{one.x:.1f} {middle:.1f} {other.x:.1f} {middle:.1f} {other.x:.1f} {other.y:.1f}"
    return path


def _tip(line: Sequence[Point]) -> str:
    end, side = line[-1], 1 if line[-1].y > line[-2].y else -1
    return f"M{end.x:.1f} {end.y:.1f}l-4.5 {-9 * side}h9z"


def _loop(centre: Point, box: Box, words: Sequence[str]) -> tuple[str, str, Point]:
    """The arrow of a stage to itself, at its right side."""
    right = centre.x + box.width / 2
    path = f"M{right:.1f} {centre.y + 9:.1f}h{_LOOP / 2}q8 0 8 -8v-2q0 -8 -8 -8h-{_LOOP / 2 - 8}"
    tip = f"M{right:.1f} {centre.y - 9:.1f}l9 -4.5v9z"
    return path, tip, Point(right + _LOOP + 2 + _caption_size(words).width / 2, centre.y)


def _words(words: Sequence[str], at: Point) -> str:
    top = at.y - 8.0 * (len(words) - 1)
    width = _caption_size(words).width
    backing = f'<rect class="bg" x="{at.x - width / 2:.1f}" y="{top - 8:.1f}" width="{width:.1f}" height="16"/>'
    lines = (
        f'<text class="caption" x="{at.x:.1f}" y="{top + 16 * place:.1f}">{_text(text)}</text>'
        for place, text in enumerate(words)
    )
    return (backing if words else "") + "".join(lines)


def _text(text: str) -> str:
    return escape(shown(text))
