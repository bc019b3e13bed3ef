"""The page about blueprints says what is there, and its examples work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handrail.blueprints import BlueprintError, parse_toml, render_toml
from handrail.blueprints.check import problems
from handrail.blueprints.edges import edge_kinds
from handrail.blueprints.model import Blueprint, Bounds, FanOut, Stage
from handrail.blueprints.predicates import TESTS
from handrail.blueprints.problems import CODES

_PAGE = (Path(__file__).resolve().parents[2] / "docs" / "blueprints.md").read_text(encoding="utf-8")
_BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", _PAGE, re.MULTILINE | re.DOTALL)


def test_every_code_is_on_the_page_with_its_meaning() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.+) \|$", _PAGE, re.MULTILINE))
    assert {code: rows.get(code) for code in CODES} == {code: meaning for code, (_, meaning) in CODES.items()}


def test_every_key_is_on_the_page() -> None:
    keys = {name for model in (Blueprint, Stage, Bounds, FanOut) for name in model.model_fields}
    keys |= {name for kind in edge_kinds().values() for name in kind.model_fields} | set(TESTS)
    assert {key for key in keys if re.search(rf"\b{key}\b", _PAGE) is None} == set()


def test_the_example_is_a_blueprint_with_nothing_wrong() -> None:
    examples = [text for kind, text in _BLOCKS if kind == "toml" and "[[stages]]" in text]
    assert len(examples) == 1
    found = problems(parse_toml(examples[0]))
    assert [problem.code for problem in found if problem.level != "note"] == []


def test_the_example_in_python_runs_and_builds_one_that_can_be_written_down() -> None:
    (example,) = [text for kind, text in _BLOCKS if kind == "python"]
    scope: dict[str, object] = {}
    exec(example, scope)
    blueprint = scope["blueprint"]
    assert isinstance(blueprint, Blueprint)
    assert parse_toml(render_toml(blueprint)) == blueprint
    assert [problem for problem in problems(blueprint) if problem.level == "error"] == []


def test_the_part_about_fan_outs_fits_a_stage() -> None:
    (part,) = [text for kind, text in _BLOCKS if kind == "toml" and "[stages.fan_out]" in text]
    blueprint = parse_toml(f'name = "b"\n[[stages]]\nname = "a"\n{part}')
    assert blueprint.stages[0].fan_out is not None
    with pytest.raises(BlueprintError):
        parse_toml(f'name = "b"\n[[stages]]\nname = "a"\n{part}agent = "x"\n')
