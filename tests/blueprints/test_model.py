"""The typed model: what it takes, what it refuses, what it says about ways and regions, and its digest."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from handrail.agents.permissions import Rule, Verdict
from handrail.blueprints.edges import END
from handrail.blueprints.edges.always import Always
from handrail.blueprints.edges.model import ByModel
from handrail.blueprints.edges.stuck import OnStuck
from handrail.blueprints.edges.tool import OnTool
from handrail.blueprints.forms import digest_of, from_plain, to_plain
from handrail.blueprints.model import Blueprint, Bounds, FanOut, Output, Permissions, Stage
from handrail.blueprints.points import InteractionPoint
from handrail.blueprints.regions import Pinned
from handrail.journal.vocabulary import Limits

_POINT = InteractionPoint(name="ok", prompt="Good?", options=["Yes", "No"], deadline=timedelta(hours=2))
_WHOLE = Blueprint(
    name="whole",
    regions=[Pinned(name="plan", budget=15)],
    stages=[
        Stage(
            name="first",
            tools=["Read"],
            permissions=Permissions(allow=["Bash(command=git *)"]),
            limits=Bounds(max_rounds=5),
            points=[_POINT],
            output=Output(schema={"type": "object"}),
            edges=[OnTool(to="second", tool="Bash", is_error=True), OnStuck(to=END, rounds=4), Always(to="second")],
        ),
        Stage(name="second", seeds={"plan": "task"}, edges=[ByModel(to="first", hint="again"), ByModel(to=END)]),
    ],
)


def _stages(**names: dict[str, Any]) -> Blueprint:
    return from_plain({"name": "b", "stages": [{"name": name, **rest} for name, rest in names.items()]})


def test_python_objects_and_plain_data_build_the_same_blueprint() -> None:
    assert from_plain(to_plain(_WHOLE)) == _WHOLE


def test_plain_data_names_the_kind_of_each_edge_and_leaves_defaults_out() -> None:
    edges = to_plain(_WHOLE)["stages"][0]["edges"]
    assert edges == [
        {"to": "second", "when": "tool", "tool": "Bash", "is_error": True},
        {"to": "end", "when": "stuck", "rounds": 4},
        {"to": "second"},
    ]


def test_a_blueprint_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        _WHOLE.name = "other"


@pytest.mark.parametrize(
    ("stage", "where"),
    [
        ({"tools_": []}, "tools_"),
        ({"name": ""}, "name"),
        ({"name": "a b"}, "name"),
        ({"limits": {"max_rounds": 0}}, "max_rounds"),
        ({"limits": {"max_rounds": -1}}, "max_rounds"),
        ({"limits": {"max_rounds": 1.5}}, "max_rounds"),
        ({"limits": {"max_rounds": True}}, "max_rounds"),
        ({"limits": {"max_cost": float("nan")}}, "max_cost"),
        ({"max_visits": 0}, "max_visits"),
        ({"permissions": {"allow": ["Bash(command"]}}, "allow"),
        ({"permissions": {"forbid": ["Bash"]}}, "forbid"),
        ({"tools": "Bash"}, "tools"),
        ({"tools": [" "]}, "tools"),
        ({"edges": [{"to": "a", "when": "sometimes"}]}, "edges"),
        ({"edges": [{"to": "a", "when": "stuck"}]}, "edges"),
        ({"edges": [{"to": "a", "when": "error", "rounds": 3}]}, "rounds"),
        ({"edges": [{"when": "error"}]}, "to"),
        ({"edges": [{"to": "a", "when": "output", "equals": 1, "at_least": 1}]}, "edges"),
        ({"edges": [{"to": "a", "when": "output"}]}, "edges"),
        ({"edges": [{"to": "a", "when": "region", "region": "r"}]}, "edges"),
        ({"edges": [{"to": "a", "when": "limit", "bounds": ["max_fun"]}]}, "bounds"),
        ({"fan_out": {}}, "fan_out"),
        ({"fan_out": {"stage": "a", "agent": "b"}}, "fan_out"),
        ({"fan_out": {"stage": "a", "max_workers": -1}}, "max_workers"),
        ({"output": {"schema": {}}}, "schema"),
        ({"output": {"schema": {"enum": [float("inf")]}}}, "schema"),
        ({"unattended": {"approvals": "allow"}}, "approvals"),
    ],
)
def test_what_is_malformed_is_refused_at_its_place(stage: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError) as raised:
        _stages(a={}, b=stage)
    assert where in {step for error in raised.value.errors() for step in error["loc"]}


def test_every_fault_is_reported_at_once() -> None:
    with pytest.raises(ValidationError) as raised:
        from_plain({"name": "?", "colour": 1, "stages": [{"tools": 3}, {"name": "x", "max_visits": 0}]})
    assert raised.value.error_count() == 5


def test_a_list_of_stages_without_edges_goes_on_in_order_and_then_ends() -> None:
    """H 141."""
    blueprint = _stages(a={}, b={}, c={})
    ways = [[edge.to for edge in blueprint.edges_of(stage)] for stage in blueprint.stages]
    assert ways == [["b"], ["c"], [END]]


def test_no_edges_at_all_end_the_run_and_no_word_about_them_goes_on() -> None:
    blueprint = _stages(a={"edges": []}, b={})
    assert blueprint.edges_of(blueprint.stage("a")) == ()


def test_workers_are_passed_over_by_the_list() -> None:
    blueprint = _stages(a={}, w={"is_worker": True}, c={})
    assert [edge.to for edge in blueprint.edges_of(blueprint.stage("a"))] == ["c"]
    assert [edge.to for edge in blueprint.edges_of(blueprint.stage("w"))] == [END]


def test_a_fan_out_with_a_merge_goes_there() -> None:
    blueprint = _stages(a={"fan_out": {"stage": "w", "merge": "m"}}, w={"is_worker": True}, x={}, m={})
    assert [edge.to for edge in blueprint.edges_of(blueprint.stage("a"))] == ["m"]


def test_the_entry_is_the_first_stage_unless_one_is_named() -> None:
    assert _stages(a={}, b={}).entry_stage == "a"
    assert _stages(a={}, b={}).model_copy(update={"entry": "b"}).entry_stage == "b"


def test_a_stage_sees_the_regions_it_names_and_all_when_it_names_none() -> None:
    regions = [Pinned(name="plan"), Pinned(name="notes")]
    blueprint = Blueprint(name="b", regions=regions, stages=[Stage(name="a", regions=["notes"]), Stage(name="b")])
    seen = [[region.name for region in blueprint.regions_of(stage)] for stage in blueprint.stages]
    assert seen == [["notes"], ["plan", "notes"]]


def test_a_stage_has_the_models_of_the_blueprint_unless_it_names_its_own() -> None:
    blueprint = Blueprint(name="b", models=["x:1", "x:2"], stages=[Stage(name="a", models=["y:1"]), Stage(name="b")])
    assert [blueprint.models_of(stage) for stage in blueprint.stages] == [("y:1",), ("x:1", "x:2")]


def test_rules_come_with_the_strictest_first() -> None:
    permissions = Permissions(allow=["Read"], deny=["Bash(command=rm *)"], ask=["Bash"])
    assert permissions.rules() == (
        Rule(Verdict.DENY, "Bash", {"command": "rm *"}),
        Rule(Verdict.ASK, "Bash"),
        Rule(Verdict.ALLOW, "Read"),
    )


def test_bounds_are_those_of_the_journal() -> None:
    assert Bounds(max_rounds=3, max_cost=1).limits() == Limits(max_rounds=3, max_cost=1.0)
    assert Bounds().limits() == Limits()


def test_the_digest_depends_on_what_is_said_and_on_nothing_else() -> None:
    spelled_out = from_plain({**to_plain(_WHOLE), "format": 1, "description": "", "models": []})
    assert digest_of(spelled_out) == digest_of(_WHOLE)
    assert digest_of(_WHOLE.model_copy(update={"version": "2"})) != digest_of(_WHOLE)


def test_the_digest_depends_on_the_order_of_stages() -> None:
    turned = _WHOLE.model_copy(update={"stages": tuple(reversed(_WHOLE.stages))})
    assert digest_of(turned) != digest_of(_WHOLE)


def test_the_digest_of_a_blueprint_is_for_ever() -> None:
    blueprint = Blueprint(name="b", stages=[Stage(name="a", instructions="Do it."), Stage(name="b")])
    assert digest_of(blueprint) == "25d6799b81b9cee6479a0c16cdcc90cd24abf0d9bafa83546de2b37ca2896d8e"


def test_a_fan_out_names_one_worker() -> None:
    assert FanOut(agent="coder").stage is None
