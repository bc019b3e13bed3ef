"""Blueprints drawn: every stage and way is there, texts stay texts, boxes do not overlap."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.blueprints.captions import caption
from handrail.blueprints.edges.always import Always
from handrail.blueprints.edges.error import OnError
from handrail.blueprints.edges.limit import OnLimit
from handrail.blueprints.edges.model import ByModel
from handrail.blueprints.edges.output import OnOutput
from handrail.blueprints.edges.region import OnRegion
from handrail.blueprints.edges.stuck import OnStuck
from handrail.blueprints.edges.tool import OnTool
from handrail.blueprints.graph import mermaid
from handrail.blueprints.layout import Arrow, Box, laid_out
from handrail.blueprints.model import Blueprint, Stage
from handrail.blueprints.points import InteractionPoint, InteractionStyle
from handrail.blueprints.shelf import shipped_blueprint, shipped_names
from handrail.blueprints.svg import MAX_STAGES, TooManyStages, svg
from handrail.blueprints.ways import Way, drawn_ways
from handrail.journal.vocabulary import Bound
from tests.blueprints.blueprints import BLUEPRINTS

_HOSTILE = '"]; end --> x <script>alert(1)</script> & `|{}()\n%% \x1b[31m'


def _texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter() if element.tag.endswith("text")]


@pytest.mark.parametrize("name", shipped_names())
def test_a_drawing_has_every_stage_point_and_way(name: str) -> None:
    blueprint = shipped_blueprint(name)
    names = {stage.name for stage in blueprint.stages} | {"end"}
    points = {f"◆ {point.name}" for stage in blueprint.stages for point in stage.points}
    words = {caption(way) for way in drawn_ways(blueprint)} - {""}
    assert names | points | words <= set(_texts(svg(blueprint)))
    chart = mermaid(blueprint)
    assert all(f'"{stage.name}' in chart for stage in blueprint.stages)
    assert len(re.findall("-->|-.->", chart)) >= len(drawn_ways(blueprint)) + 1


def test_mermaid_draws_this_and_nothing_else() -> None:
    point = InteractionPoint(
        name="ok", prompt="?", style=InteractionStyle.MULTIPLE_CHOICE, options=["Go", "Back"], goto={"Back": "end"}
    )
    blueprint = Blueprint(
        name="b",
        stages=[
            Stage(name="end-game", points=[point], edges=[OnError(to="end"), Always(to="work")]),
            Stage(name="work", description="Do [it]", edges=[Always(to="nowhere")]),
        ],
    )
    assert mermaid(blueprint) == (
        "flowchart TD\n"
        "    start(( ))\n"
        '    s0["end-game"]\n'
        '    s0p0{"ok"}\n'
        '    s1["work<br/>Do #91;it#93;"]\n'
        '    finish(["end"])\n'
        "    start --> s0\n"
        "    s0 --> s0p0\n"
        '    s0 -.->|"on error"| finish\n'
        "    s0p0 --> s1\n"
        '    s0p0 -->|"“Back”"| finish\n'
    )


def test_no_text_of_a_blueprint_can_be_more_than_text() -> None:
    point = InteractionPoint(name=_HOSTILE, prompt="?", goto={_HOSTILE: "a"})
    edges = [ByModel(to="a", hint=_HOSTILE, is_default=True), OnTool(to="end", tool="x", contains=_HOSTILE)]
    blueprint = Blueprint(name="b", stages=[Stage(name="a", description=_HOSTILE, points=[point], edges=edges)])
    picture = svg(blueprint)
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(picture).iter()}
    assert tags == {"svg", "title", "style", "rect", "g", "path", "text", "circle"}
    assert "\x1b" not in picture
    chart = mermaid(blueprint)
    assert "<script" not in chart
    assert "\x1b" not in chart
    assert all(line.count('"') in (0, 2) for line in chart.splitlines())


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(BLUEPRINTS)
def test_any_blueprint_is_drawn_as_well_formed_xml(blueprint: Blueprint) -> None:
    ElementTree.fromstring(svg(blueprint))


def test_a_picture_of_too_many_stages_is_refused_and_mermaid_is_not() -> None:
    blueprint = Blueprint(name="b", stages=[Stage(name=f"s{number}") for number in range(MAX_STAGES + 1)])
    with pytest.raises(TooManyStages, match="cannot be drawn"):
        svg(blueprint)
    assert mermaid(blueprint).count("\n") > MAX_STAGES


_NODES = [f"n{number}" for number in range(9)]


@given(st.lists(st.tuples(st.sampled_from(_NODES), st.sampled_from(_NODES), st.floats(0, 200)), max_size=20))
def test_no_box_or_caption_lies_on_another(ways: list[tuple[str, str, float]]) -> None:
    boxes = {name: Box(60.0 + 10 * number, 30.0) for number, name in enumerate(_NODES)}
    arrows = [Arrow(source, to, Box(width, 16.0)) for source, to, width in ways]
    laid = laid_out(boxes, arrows, _NODES[0])
    placed = [(laid.nodes[name], box) for name, box in boxes.items()]
    placed += [(laid.captions[n], a.caption) for n, a in enumerate(arrows) if a.source != a.to and a.caption.width]
    for (one, size), (other, extent) in combinations(placed, 2):
        is_beside = abs(one.x - other.x) >= (size.width + extent.width) / 2
        is_below = abs(one.y - other.y) >= (size.height + extent.height) / 2
        assert is_beside or is_below
    assert all(0 <= point.x <= laid.width and 0 <= point.y <= laid.height for point, _ in placed)


@given(st.lists(st.tuples(st.sampled_from(_NODES), st.sampled_from(_NODES)), max_size=20))
def test_every_line_runs_from_its_source_to_its_target(ways: list[tuple[str, str]]) -> None:
    boxes = {name: Box(80.0, 30.0) for name in _NODES}
    laid = laid_out(boxes, [Arrow(source, to) for source, to in ways], _NODES[0])
    for (source, to), line in zip(ways, laid.lines, strict=True):
        if source == to:
            assert line == ()
            continue
        for name, end in ((source, line[0]), (to, line[-1])):
            centre = laid.nodes[name]
            assert abs(end.x - centre.x) <= 40
            assert abs(end.y - centre.y) == pytest.approx(15)


@pytest.mark.parametrize(
    ("edge", "words"),
    [
        (Always(to="a"), ""),
        (OnError(to="a"), "on error"),
        (OnLimit(to="a"), "at a limit"),
        (OnLimit(to="a", bounds=[Bound.MAX_ROUNDS, Bound.MAX_COST]), "at max_rounds or max_cost"),
        (OnStuck(to="a", rounds=3), "stuck: 3 rounds"),
        (OnStuck(to="a", same_file_edits=2, tool_calls=9), "stuck: 2 edits of a file or 9 calls"),
        (OnTool(to="a", tool="Bash"), "Bash was called"),
        (OnTool(to="a", tool="Bash", is_error=True), "Bash fails"),
        (OnTool(to="a", tool="Bash", contains="FAILED"), "Bash contains FAILED"),
        (OnRegion(to="a", region="todo", has_open_items=False), "todo is done"),
        (OnRegion(to="a", region="todo", has_open_items=True), "todo has open items"),
        (OnRegion(to="a", region="todo", is_empty=False), "todo is not empty"),
        (OnOutput(to="a", field="score", at_least=3), "score ≥ 3"),
        (OnOutput(to="a", equals=True), "output = true"),
        (OnOutput(to="a", field="verdict", one_of=["pass", "fine"]), "verdict = pass or fine"),
        (ByModel(to="a", hint="it is small", is_default=True), "model (default): it is small"),
        (ByModel(to="a"), "model: a"),
    ],
)
def test_an_arrow_says_when_it_is_taken(edge: Always, words: str) -> None:
    assert caption(Way(kind="edge", source="s", to="a", path=(), edge=edge)) == words
