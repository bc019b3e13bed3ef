"""The strategies that ship, each on the public seam only."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from handrail import Agent, EndReason, RunOptions, RunResult, ScriptedModel, call, registry, tool
from handrail.agents import strategies as shipped
from handrail.agents.strategies import strategy_names
from handrail.agents.strategies.escalate import Escalate
from handrail.agents.strategies.judge import Judge
from handrail.agents.strategies.keep_going import KeepGoing
from handrail.agents.strategies.loop_detector import LoopDetector
from handrail.agents.strategies.require_tool import RequireTool
from handrail.agents.strategies.verify import Verify
from handrail.agents.strategies.wrap_up import WrapUp
from handrail.errors import UnknownName
from handrail.models.scripted import Item

from .stage import TOOLS, go, played, said

SUCCEEDS = [sys.executable, "-c", "pass"]


def _asked(result: RunResult) -> list[str]:
    """What the strategies put in."""
    texts = [block for message in result.transcript.body for block in message.content if getattr(block, "by", None)]
    return [str(getattr(block, "text", "")) for block in texts]


def test_all_of_them_are_found_by_name() -> None:
    assert strategy_names() == (
        "escalate",
        "judge",
        "keep_going",
        "loop_detector",
        "require_tool",
        "verify",
        "wrap_up",
    )
    for name in strategy_names():
        assert registry.member(shipped.__name__, name, "STRATEGY").name == name


@pytest.mark.parametrize("name", strategy_names())
def test_each_is_short_and_knows_nothing_of_how_runs_are_driven(name: str) -> None:
    path = Path(str(shipped.__file__)).with_name(f"{name}.py")
    assert len(path.read_text().splitlines()) < 70
    allowed = {"strategy", "content", "process"}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("handrail.agents"):
            assert str(node.module).rsplit(".", 1)[-1] in allowed


def test_require_tool_asks_until_the_tool_was_called() -> None:
    script: list[Item] = ["done", call("probe", value="a"), "really done"]
    result, _ = played(script, RequireTool("probe"))
    assert (result.output, _asked(result)) == ("really done", ["Call the tool probe before you end."])


def test_require_tool_does_not_count_a_call_that_failed_and_gives_up_in_the_end() -> None:
    result, _ = played([call("broken"), "one", "two", "three"], RequireTool("broken", times=2))
    assert (result.output, len(_asked(result))) == ("three", 2)


def test_verify_sends_the_output_of_a_failing_command_back_until_it_succeeds(tmp_path: Path) -> None:
    flag = tmp_path / "fixed"
    code = f"import sys, pathlib; print('2 failed'); sys.exit(0 if pathlib.Path({str(flag)!r}).exists() else 3)"

    @tool
    async def fix() -> str:
        """Fixes."""
        flag.touch()
        return "fixed"

    model = ScriptedModel(["done", call("fix"), "now done"])
    verify = Verify([sys.executable, "-c", code], cwd=tmp_path)
    result = go(Agent(model=model, tools=[fix]).run("go", RunOptions(strategies=[verify])))
    assert result.output == "now done"
    assert len(_asked(result)) == 1
    assert "fails (exit code 3)" in _asked(result)[0]
    assert "2 failed" in _asked(result)[0]


def test_verify_lets_an_answer_stand_that_it_told_often_enough() -> None:
    fails = [sys.executable, "-c", "raise SystemExit(1)"]
    result, _ = played(["one", "two"], Verify(fails, times=1))
    assert (result.output, result.end_reason) == ("two", EndReason.ANSWERED)


def test_verify_is_quiet_when_all_is_well_and_takes_a_line_by_name() -> None:
    result, _ = played(["done"], Verify(SUCCEEDS), f"verify:{sys.executable} -c pass")
    assert (result.output, _asked(result)) == ("done", [])


def test_loop_detector_tells_the_model_and_then_stops_the_run() -> None:
    script: list[Item] = [call("probe", value="same")] * 9
    result, model = played(script, LoopDetector(2))
    assert (result.end_reason, len(model.requests), len(_asked(result))) == (EndReason.STRATEGY_STOP, 4, 1)
    assert "4 times in a row" in str(result.detail)


def test_loop_detector_has_nothing_against_other_calls_or_other_results() -> None:
    script: list[Item] = [call("probe", value=str(n)) for n in range(9)]
    result, _ = played([*script, "done"], LoopDetector(2))
    assert (result.output, _asked(result)) == ("done", [])


def test_escalate_goes_up_when_calls_fail_and_down_when_they_do_not() -> None:
    fine = call("probe", value="a")
    weak = ScriptedModel([call("broken"), call("broken"), "-", "-", "done"], name="weak")
    strong = ScriptedModel(["-", "-", fine, fine], name="strong")
    agent = Agent(model=weak, models=(strong,), tools=TOOLS)
    result = go(agent.run("go", RunOptions(strategies=[Escalate(strong.info, errors=2, calm=2)])))
    spoke = [message.model for message in result.transcript.body if message.role == "assistant"]
    assert spoke == ["weak", "weak", "strong", "strong", "weak"]


def test_wrap_up_warns_near_a_limit_and_takes_one_last_round_without_tools() -> None:
    script: list[Item] = [call("probe", value=str(n)) for n in range(5)]
    result, model = played([*script, "what I have"], WrapUp(), max_rounds=5)
    assert (result.output, result.end_reason) == ("what I have", EndReason.MAX_ROUNDS)
    assert len(_asked(result)) == 2
    assert model.requests[-1].tool_choice == "none"


def test_keep_going_puts_a_note_in_until_its_predicate_is_true() -> None:
    async def has_three(ctx: Any) -> bool:
        return bool(ctx.rounds_completed >= 3)

    result, _ = played(["one", "two", "three"], KeepGoing(has_three, note="More."))
    assert (result.output, _asked(result)) == ("three", ["More.", "More."])


def test_a_judge_sends_an_answer_back_with_its_reason_until_it_passes() -> None:
    judge = ScriptedModel(["The date is missing.", "PASS."], name="judge")
    result, _ = played(["no date", "with the date"], Judge(judge, "Is the date there?"))
    assert (result.output, _asked(result)) == ("with the date", ["The date is missing."])
    assert "Is the date there?" in said(judge.requests[0].messages)[-1]
    assert said(judge.requests[0].messages)[:2] == ["user: go", "assistant: no date"]


def test_a_strategy_can_be_asked_for_by_name_with_an_argument() -> None:
    script: list[Item] = ["done", call("probe", value="a"), "really done"]
    assert played(script, "require_tool:probe", "wrap_up")[0].output == "really done"


def test_a_name_that_nothing_ships_under_is_refused_at_the_start() -> None:
    with pytest.raises(UnknownName, match="nothing called 'luck'"):
        played(["never"], "luck")


def test_a_strategy_that_needs_an_argument_says_so() -> None:
    with pytest.raises(TypeError):
        played(["never"], "require_tool")
