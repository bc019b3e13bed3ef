"""Tools that files declare: a command, the input as JSON, checked by a schema from outside."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from handrail.agents.bindings.command import command_tool
from handrail.agents.bindings.json_schema import CHECK_S, schema_check
from handrail.agents.tool import Tool
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Refusal, RefusalKind
from handrail.workspace.declared import DeclaredTool
from tests.agents.tools.running import output

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def _tool(tmp_path: Path, code: str, **more: Any) -> Tool:
    script = tmp_path / "tool.py"
    script.write_text(textwrap.dedent(code))
    declared = DeclaredTool(
        name="declared",
        description="It runs.",
        input_schema=SCHEMA,
        command=(sys.executable, "-S", str(script)),
        **more,
    )
    return command_tool(declared, {"GIVEN": "1"})


def test_the_command_gets_the_input_as_json_and_its_output_is_the_result(tmp_path: Path) -> None:
    code = """
        import json, os, sys
        env = [os.environ.get(name) for name in ("GIVEN", "OWN", "HOME")]
        print(json.dumps({"input": json.load(sys.stdin), "cwd": os.getcwd(), "env": env}))
    """
    got = output(_tool(tmp_path, code, env={"OWN": "2"}), tmp_path, n=3)
    assert json.loads(str(got.content)) == {"input": {"n": 3}, "cwd": str(tmp_path), "env": ["1", "2", None]}
    assert (got.is_error, got.is_external, got.details) == (False, False, {"exit_code": 0})


def test_there_is_no_shell_between(tmp_path: Path) -> None:
    declared = DeclaredTool(name="t", description="", input_schema={}, command=("echo", "$HOME; ls", "*"))
    assert output(command_tool(declared, {}), tmp_path).content == "$HOME; ls *\n"


def test_an_exit_code_is_an_error_with_what_the_command_said(tmp_path: Path) -> None:
    got = output(_tool(tmp_path, "import sys; sys.exit('went wrong')"), tmp_path, n=1)
    assert (got.content, got.is_error) == ("declared ended with exit code 1: went wrong", True)


def test_a_command_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    declared = DeclaredTool(name="t", description="", input_schema={}, command=(str(tmp_path / "gone"),))
    assert output(command_tool(declared, {}), tmp_path).content == "t could not be started: No such file or directory"


def test_an_input_that_does_not_fit_the_schema_runs_nothing(tmp_path: Path) -> None:
    got = output(_tool(tmp_path, "open('ran', 'w')"), tmp_path, n="x", m=1)
    assert got.refusal == Refusal(RefusalKind.NOT_RUN, "validation")
    assert str(got.content).count("\n- ") == 2
    assert not (tmp_path / "ran").exists()


def test_a_command_that_takes_too_long_has_an_unknown_outcome(tmp_path: Path) -> None:
    got = output(_tool(tmp_path, "import time; time.sleep(1000)", timeout_ms=300), tmp_path, n=1)
    assert got.refusal == Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")


@pytest.mark.parametrize(
    ("more", "traits"),
    [
        ({}, ToolTraits(destructive=True)),
        ({"side_effect": "none"}, ToolTraits()),
        ({"side_effect": "external"}, ToolTraits(untrusted=True, sends=True, destructive=True)),
        ({"side_effect": "none", "private": True, "sends": True}, ToolTraits(private=True, sends=True)),
    ],
)
def test_what_is_declared_decides_what_it_can_do(tmp_path: Path, more: dict[str, Any], traits: ToolTraits) -> None:
    made = _tool(tmp_path, "print('x')", **more)
    assert made.traits == traits
    assert output(made, tmp_path, n=1).is_external is traits.untrusted


# Schemas ----------------------------------------------------------------------------------------------------


def test_every_fault_is_found_with_its_path() -> None:
    inner = {"type": "array", "items": {"type": "object", "required": ["x"]}}
    check = schema_check({"type": "object", "properties": {"a": inner, "b": {"enum": [1]}}})
    assert check({"a": [{}, 3], "b": 2}) == (
        "a[0]: 'x' is a required property",
        "a[1]: 3 is not of type 'object'",
        "b: 2 is not one of [1]",
    )
    assert check({"a": []}) == ()
    assert check([]) == ("the input must be an object, not a list",)


def test_a_great_many_faults_are_cut_short() -> None:
    check = schema_check({"properties": {"a": {"items": {"type": "string"}}}})
    problems = check({"a": list(range(50))})
    assert (len(problems), problems[-1]) == (21, "and 30 more")


@pytest.mark.parametrize("schema", [{"type": "array"}, {"type": "object", "properties": 3}, {"type": "nonsense"}])
def test_what_is_no_schema_of_an_object_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"(?i)schema"):
        schema_check(schema)


def test_a_reference_out_of_the_schema_is_a_problem_and_looks_nothing_up() -> None:
    check = schema_check({"properties": {"a": {"$ref": "http://127.0.0.1:1/never"}}})
    assert check({"a": 1}) == ("its schema refers to 'http://127.0.0.1:1/never', which is not in it",)


def test_a_schema_that_goes_round_in_circles_is_a_problem() -> None:
    check = schema_check({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"})
    assert check({}) == ("it is nested too deeply",)


BRANCHING = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}, {"$ref": f"#/$defs/l{n + 1}"}]} for n in range(40)}
SLOW = "^(a|aa)+$"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": SLOW}}},
        {"patternProperties": {SLOW: {}}},
        {"patternProperties": {SLOW: {}}, "additionalProperties": False},
        {"patternProperties": {SLOW: {}}, "additionalProperties": {"type": "integer"}},
        {"propertyNames": {"pattern": SLOW}},
        {"$defs": {**BRANCHING, "l40": {"type": "object"}}, "$ref": "#/$defs/l0"},
    ],
    ids=["pattern", "names", "no others", "others", "all names", "references"],
)
def test_a_schema_that_takes_for_ever_to_check_is_a_problem_of_the_input(schema: dict[str, Any]) -> None:
    text = "a" * 80 + "b"
    told = schema_check(schema)({"a": text, text: 1})
    assert told == (f"its schema takes longer than {CHECK_S:g} seconds to check",)


def test_patterns_mean_what_the_schema_says() -> None:
    check = schema_check(
        {
            "properties": {"id": {"pattern": r"^\p{Lu}\d+$"}},
            "patternProperties": {"^x-": {"type": "integer"}},
            "additionalProperties": False,
        }
    )
    assert check({"id": "Ä7", "x-n": 1}) == ()
    assert check({"id": "a7", "x-n": "1", "y": 2}) == (
        "there is no such property: 'y'",
        r"id: 'a7' does not match '^\\p{Lu}\\d+$'",
        "x-n: '1' is not of type 'integer'",
    )


def test_what_else_there_may_be_is_checked_too() -> None:
    check = schema_check({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}})
    assert check({"a": "x", "b": 1}) == ()
    assert check({"b": "x"}) == ("b: 'x' is not of type 'integer'",)
