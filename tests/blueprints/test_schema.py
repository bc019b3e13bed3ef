"""The JSON Schema that ships: the model's own, and as strict."""

from __future__ import annotations

import tomllib
from typing import Any

import jsonschema
import pytest

from handrail.blueprints.schema import json_schema, render_schema, shipped_schema
from handrail.blueprints.shelf import shipped_names, shipped_text

_SCHEMA = jsonschema.Draft202012Validator(json_schema())


def test_the_schema_that_ships_is_the_models() -> None:
    remedy = "run python -m handrail.blueprints.schema > src/handrail/blueprints/blueprint.schema.json"
    assert shipped_schema() == render_schema(), remedy


def test_it_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("name", shipped_names())
def test_files_that_ship_fit_it(name: str) -> None:
    assert [problem.message for problem in _SCHEMA.iter_errors(tomllib.loads(shipped_text(name).decode()))] == []


@pytest.mark.parametrize(
    "stage",
    [
        {"name": "a", "colour": 1},
        {"name": "a b"},
        {},
        {"name": "a", "edges": [{"to": "b", "when": "sometimes"}]},
        {"name": "a", "edges": [{"to": "b", "rounds": 3}]},
        {"name": "a", "edges": [{"when": "error"}]},
        {"name": "a", "limits": {"max_rounds": 0}},
        {"name": "a", "points": [{"name": "p"}]},
        {"name": "a", "points": [{"name": "p", "prompt": "?", "deadline": "soon"}]},
    ],
)
def test_it_refuses_what_the_model_refuses(stage: dict[str, Any]) -> None:
    assert not _SCHEMA.is_valid({"name": "b", "stages": [stage]})
