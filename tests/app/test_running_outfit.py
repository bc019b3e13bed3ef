"""What a run is fitted out with: rules and strategies as they are typed, and tools by what they can do."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from handrail.agents.permissions import Rule, Verdict
from handrail.agents.strategies.escalate import Escalate
from handrail.agents.strategies.judge import Judge
from handrail.agents.tools import built_in_tools
from handrail.app.outfitting import Outfit, Unusable, Wish, allowing, fitted_out
from handrail.errors import UnknownName
from handrail.models.scripted import ScriptedModel


def _rule(text: str) -> Rule:
    (rule,) = allowing((text,), built_in_tools())
    return rule


def _outfit(wish: Wish, tmp_path: Path) -> Outfit:
    async def story() -> Outfit:
        async with fitted_out(wish, {"HANDRAIL_CONFIG_DIR": str(tmp_path / "config"), "PATH": ""}) as outfit:
            return outfit

    return asyncio.run(story())


@pytest.mark.parametrize(
    ("text", "tool", "where"),
    [
        ("Bash", "Bash", {}),
        ("Bash:git log *", "Bash", {"command": "git log *"}),
        ("Bash:echo a:b", "Bash", {"command": "echo a:b"}),
        ("Write:docs/*", "Write", {"file_path": "docs/*"}),
        ("Fetch:https://docs.example/*", "Fetch", {"url": "https://docs.example/*"}),
        ("Bash(workdir=src)", "Bash", {"workdir": "src"}),
        ("mcp__docs__*", "mcp__docs__*", {}),
    ],
)
def test_a_rule_that_allows_names_a_tool_and_its_main_argument(text: str, tool: str, where: dict[str, str]) -> None:
    assert _rule(text) == Rule(Verdict.ALLOW, tool, where)


@pytest.mark.parametrize("text", ["Bahs", "Bahs:ls", "mcp__*:x", "Todo:x", "", "Bash(ls)"])
def test_a_rule_that_fits_no_tool_is_an_error(text: str) -> None:
    with pytest.raises(Unusable):
        _rule(text)


def test_read_only_leaves_the_tools_that_look(tmp_path: Path) -> None:
    names = {tool.name for tool in _outfit(Wish(workspace=tmp_path, is_read_only=True), tmp_path).tools}
    assert names == {"Read", "List", "Glob", "Grep", "Todo", "Ask", "ReadToolResult"}


def test_words_of_the_workspace_reach_the_instructions_and_taint_those_of_a_stranger(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    strange = _outfit(Wish(workspace=tmp_path), tmp_path)
    trusted = _outfit(Wish(workspace=tmp_path, is_trusted=True), tmp_path)
    assert "Use tabs." in strange.instructions
    assert (strange.taint.untrusted, trusted.taint.untrusted) == (True, False)


def test_a_stranger_is_told_of_with_what_follows_and_what_lifts_it(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    (told,) = _outfit(Wish(workspace=tmp_path), tmp_path).notices
    assert told == (
        f"{tmp_path}/AGENTS.md is a stranger's: what sends data out is refused once private data was read, and Bash,"
        " which can do both, always; --trust vouches for this repository, --sends ask asks you instead"
    )
    assert _outfit(Wish(workspace=tmp_path, sends="ask"), tmp_path).notices == ()
    assert _outfit(Wish(workspace=tmp_path, is_trusted=True), tmp_path).notices == ()


def test_strategies_stay_names_and_those_that_need_a_model_are_made(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["PASS"]))
    names = ("require_tool:Bash", "wrap_up", f"escalate:scripted:{script}", f"judge:scripted:{script}")
    outfit = _outfit(Wish(workspace=tmp_path, strategies=names), tmp_path)
    *named, escalates, judges = outfit.strategies
    assert named == ["require_tool:Bash", "wrap_up"]
    assert isinstance(escalates, Escalate)
    assert escalates.strong == outfit.models[0].info
    assert isinstance(judges, Judge)
    assert isinstance(judges.model, ScriptedModel)


@pytest.mark.parametrize(
    ("name", "error"), [("nonesuch", UnknownName), ("judge", Unusable), ("keep_going:x", Unusable)]
)
def test_a_strategy_that_cannot_be_had_by_name_is_an_error(tmp_path: Path, name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        _outfit(Wish(workspace=tmp_path, strategies=(name,)), tmp_path)
