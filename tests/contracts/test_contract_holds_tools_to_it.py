"""The tool contract finds what it promises to find: one broken tool a rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from handrail.agents.tool import Tool, ToolContext, ToolOutput, ToolSpec
from handrail.testing.contracts.rules import Rule
from handrail.testing.contracts.tool import TOOL_RULES, ToolCase
from handrail.transcripts.model import Json

SCHEMA: dict[str, Json] = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}


async def _run(input: Json, context: ToolContext) -> ToolOutput:
    return ToolOutput("done")


def _check(input: Json) -> tuple[str, ...]:
    return () if isinstance(input, dict) and set(input) <= {"a"} else ("it does not fit",)


GOOD = Tool(spec=ToolSpec("good", "It is good.", SCHEMA), handler=_run, check=_check)


async def _run_odd(input: Json, context: ToolContext) -> ToolOutput:
    return ToolOutput(("a", "tuple"))


async def _run_greedy(input: Json, context: ToolContext) -> ToolOutput:
    input.clear()
    return ToolOutput("done")


def _touching(input: Json) -> tuple[str, ...]:
    Path(input["a"]).touch()
    return ()


BROKEN: dict[int, Tool] = {
    1: replace(GOOD, spec=ToolSpec("two words", "d", SCHEMA)),
    2: replace(GOOD, spec=ToolSpec("silent", " ", SCHEMA)),
    3: replace(GOOD, spec=ToolSpec("listed", "d", {"type": "array"})),
    4: replace(GOOD, check=lambda input: ()),
    6: replace(GOOD, check=lambda input: ("never",)),
    7: replace(GOOD, handler=_run_odd),
    9: replace(GOOD, handler=_run_greedy),
}


@pytest.mark.parametrize("rule", TOOL_RULES, ids=str)
def test_a_good_tool_keeps_every_rule(rule: Rule[ToolCase], tmp_path: Path) -> None:
    rule.check(ToolCase(GOOD, tmp_path, ({"a": 1}, {})))


@pytest.mark.parametrize("number", BROKEN)
def test_a_tool_that_breaks_a_rule_is_found_by_it(number: int, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        TOOL_RULES[number - 1].check(ToolCase(BROKEN[number], tmp_path, ({"a": 1},)))


def test_a_tool_whose_check_acts_is_found_when_it_is_cancelled(tmp_path: Path) -> None:
    made = replace(GOOD, check=_touching)
    with pytest.raises(AssertionError, match="changed something"):
        TOOL_RULES[7].check(ToolCase(made, tmp_path, ({"a": str(tmp_path / "new")},)))
