"""What holds for every blueprint: texts of it read back as it, and no damage to one makes a check fail."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.blueprints.check import problems, problems_of
from handrail.blueprints.forms import digest_of, from_plain, to_plain
from handrail.blueprints.graph import mermaid
from handrail.blueprints.model import Blueprint
from handrail.blueprints.reading import FORMS, read_blueprint, reading_of
from handrail.blueprints.schema import json_schema
from handrail.blueprints.shelf import shipped_names, shipped_text
from handrail.blueprints.toml import parse_json, parse_toml, render_json, render_toml
from tests.blueprints.blueprints import BLUEPRINTS

_SCHEMA = jsonschema.Draft202012Validator(json_schema())
_SLOW = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None, max_examples=60
)


@_SLOW
@given(BLUEPRINTS)
def test_toml_and_json_read_back_as_the_same_blueprint(blueprint: Blueprint) -> None:
    assert parse_toml(render_toml(blueprint)) == blueprint
    assert parse_json(render_json(blueprint)) == blueprint
    assert from_plain(to_plain(blueprint)) == blueprint
    assert digest_of(parse_toml(render_toml(blueprint))) == digest_of(blueprint)


@_SLOW
@given(BLUEPRINTS)
def test_a_check_and_a_graph_are_made_of_any_blueprint_and_the_same_each_time(blueprint: Blueprint) -> None:
    assert problems(blueprint) == problems(blueprint)
    assert mermaid(blueprint) == mermaid(blueprint)


@_SLOW
@given(BLUEPRINTS)
def test_the_json_schema_takes_every_blueprint(blueprint: Blueprint) -> None:
    assert [problem.message for problem in _SCHEMA.iter_errors(to_plain(blueprint))] == []


_JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 2**70, float("nan"), "", "x" * 300, [], [[]], {}, {"to": 1}, {"name": "a"}, "\x00"]
)


def _places(plain: Any) -> list[tuple[Any, Any]]:
    keys = list(plain) if isinstance(plain, dict) else range(len(plain)) if isinstance(plain, list) else []
    return [(plain, key) for key in keys] + [place for key in keys for place in _places(plain[key])]


@_SLOW
@given(data=st.data(), blueprint=BLUEPRINTS)
def test_no_damage_to_a_blueprint_makes_a_check_fail(data: st.DataObject, blueprint: Blueprint) -> None:
    plain = copy.deepcopy(to_plain(blueprint))
    for _ in range(data.draw(st.integers(1, 4))):
        holder, key = data.draw(st.sampled_from(_places(plain)))
        match data.draw(st.sampled_from(["put", "take", "double", "rename"])):
            case "put":
                holder[key] = data.draw(_JUNK)
            case "take":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.append(holder[key])
            case "rename" if isinstance(holder, dict):
                holder[f"{key}x"] = holder.pop(key)
        if not _places(plain):
            break
    reading = reading_of(plain, {})
    found = problems_of(reading)
    assert (reading.blueprint is None) is bool(reading.findings)
    assert reading.blueprint is not None or any(problem.level == "error" for problem in found)


@_SLOW
@given(data=st.data(), name=st.sampled_from(shipped_names()))
def test_no_damage_to_a_file_makes_a_check_fail(data: st.DataObject, name: str) -> None:
    raw = bytearray(shipped_text(name))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        raw[start : start + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=8))
    found = problems_of(read_blueprint(bytes(raw), "toml"))
    assert all(problem.line is not None and problem.line <= raw.count(b"\n") + 1 for problem in found)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_error(raw: bytes) -> None:
    for form in FORMS:
        reading = read_blueprint(raw, form)
        assert (reading.blueprint is None) is bool(reading.findings)


@_SLOW
@given(BLUEPRINTS)
def test_every_place_of_a_text_has_its_line(blueprint: Blueprint) -> None:
    text = tomli_w.dumps(to_plain(blueprint), multiline_strings=False)
    reading = read_blueprint(text.encode(), "toml")
    lines = text.split("\n")
    for place, line in reading.places.items():
        if place and isinstance(place[-1], str) and place[-1].isidentifier():
            assert place[-1] in lines[line - 1]
