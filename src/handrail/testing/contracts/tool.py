"""The contract of a tool: what it tells a model holds, and nothing that a model sends breaks anything.

``ToolCase`` is a tool, a folder to work in, and inputs that fit it. A rule may run them: give such as do no harm.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from handrail import jsonio
from handrail.agents.cancellation import CancellationToken
from handrail.agents.execution import execute
from handrail.agents.tool import Tool, ToolContext, ToolError, ToolOutput
from handrail.testing.contracts.rules import Rule
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Json, RefusalKind, ToolUse

HOSTILE_INPUTS: tuple[Json, ...] = (
    None,
    True,
    0,
    "text",
    [],
    [{}],
    {"": None},
    {"\x00": "\x00", "\ud800": "\udfff"},
    {"unexpected": {"deep": [[[[[[[]]]]]]]}},
    {"path": 1, "file_path": [], "command": {}, "url": False, "pattern": None, "question": 3},
    {"number": 2**70, "small": 1e-300, "big": -1e300},
)
"""Inputs that are JSON and that no tool takes, or takes for what they are."""


@dataclass(frozen=True)
class ToolCase:
    """A tool, the folder it works in, and inputs that fit it."""

    tool: Tool
    folder: Path
    fitting: tuple[Json, ...] = ()

    def output(self, input: Json, cancellation: CancellationToken | None = None) -> ToolOutput:
        """What one call with ``input`` comes to."""
        call = ToolUse("call_1", parse_call(self.tool.name, input))
        return asyncio.run(execute(call, self.tool, self._context(cancellation or CancellationToken())))

    def own_output(self, input: Json) -> ToolOutput | None:
        """What the tool itself gives, before anybody has put it right; None where it answers with an error."""
        try:
            return asyncio.run(self.tool.run(input, self._context(CancellationToken())))
        except ToolError:
            return None

    def _context(self, cancellation: CancellationToken) -> ToolContext:
        return ToolContext(call_id="call_1", workspace_root=self.folder, cancellation=cancellation)


def _has_a_callable_name(case: ToolCase) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", case.tool.name), f"{case.tool.name!r} is a name some providers refuse"


def _describes_itself(case: ToolCase) -> None:
    assert case.tool.spec.description.strip(), "it has no description"


def _has_a_schema_of_an_object(case: ToolCase) -> None:
    schema = dict(case.tool.spec.input_schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema.get("type", "object") == "object", "its schema is of no object"
    assert jsonio.decode(jsonio.encode(schema)) == schema, "its schema is no plain JSON"


def _names_problems_of_hostile_inputs(case: ToolCase) -> None:
    for input in HOSTILE_INPUTS:
        problems = case.tool.problems(input)
        assert isinstance(problems, tuple), f"{input!r} gave no tuple of problems"
        assert all(isinstance(problem, str) and problem for problem in problems)
        assert problems or isinstance(input, dict), f"{input!r} is no object and was taken for an input"


def _runs_nothing_that_has_problems(case: ToolCase) -> None:
    for input in HOSTILE_INPUTS:
        if not case.tool.problems(input):
            continue
        output = case.output(input)
        assert output.refusal is not None, f"{input!r} was run"
        assert output.refusal.kind is RefusalKind.NOT_RUN, f"{input!r} was refused as {output.refusal.kind}"


def _agrees_with_its_schema(case: ToolCase) -> None:
    validator = jsonschema.Draft202012Validator(dict(case.tool.spec.input_schema))
    for input in case.fitting:
        assert case.tool.problems(input) == (), f"{input!r} fits and was refused"
        assert not list(validator.iter_errors(input)), f"{input!r} is taken, and the schema says it is not"


def _gives_plain_json(case: ToolCase) -> None:
    for input in case.fitting:
        output = case.own_output(input)
        for part in () if output is None else (output.content, output.details):
            assert jsonio.decode(jsonio.encode(part)) == part, f"the output for {input!r} is no plain JSON"


def _does_nothing_once_cancelled(case: ToolCase) -> None:
    before = _names(case.folder)
    for input in case.fitting:
        token = CancellationToken()
        token.cancel("over")
        output = case.output(input, token)
        assert output.refusal is not None, "it ran although it was cancelled before"
    assert _names(case.folder) == before, "it changed something although it was cancelled before"


def _leaves_its_input_alone(case: ToolCase) -> None:
    for input in case.fitting:
        given: Any = jsonio.decode(jsonio.encode(input))
        case.tool.problems(given)
        case.output(given)
        assert given == input, "it changed the input it was given"


def _names(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*"))


TOOL_RULES: tuple[Rule[ToolCase], ...] = (
    Rule(1, "its name is one every provider takes", _has_a_callable_name),
    Rule(2, "it says what it does", _describes_itself),
    Rule(3, "its input has a JSON Schema of an object", _has_a_schema_of_an_object),
    Rule(4, "hostile inputs are problems in words, never exceptions", _names_problems_of_hostile_inputs),
    Rule(5, "an input with problems runs nothing", _runs_nothing_that_has_problems),
    Rule(6, "what it takes is what its schema says", _agrees_with_its_schema),
    Rule(7, "what it gives is plain JSON", _gives_plain_json),
    Rule(8, "a call that is cancelled before it starts does nothing", _does_nothing_once_cancelled),
    Rule(9, "the input it is given stays as it is", _leaves_its_input_alone),
)
