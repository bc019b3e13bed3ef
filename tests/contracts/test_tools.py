"""Every built-in tool, and one of each other making, under every rule of the tool contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.agents.bindings.command import command_tool
from handrail.agents.outbox import StagedCall, routed
from handrail.agents.tool import Tool, tool
from handrail.agents.tools import built_in, built_in_names
from handrail.testing.contracts.rules import Rule
from handrail.testing.contracts.tool import TOOL_RULES, ToolCase
from handrail.transcripts.model import Json
from handrail.workspace.declared import DeclaredTool

FITTING: dict[str, tuple[Json, ...]] = {
    "ask": ({"question": "Which?"}, {"question": "Which?", "options": ["a"], "may_type": False}),
    "ask_user_choice": ({"options": ["a", "b"]}, {"options": ["a", "b"], "prompt": "Which?", "may_type": True}),
    "ask_user_confirm": ({}, {"prompt": "Go?"}),
    "ask_user_text": ({}, {"prompt": "Why?"}),
    "bash": ({"command": "true"}, {"command": "exit 3", "workdir": ".", "timeout_ms": 20_000, "description": None}),
    "checklist_add": ({"items": ["a"]}, {"items": [], "region": "steps"}),
    "checklist_done": ({"numbers": [1]}, {"numbers": [1, 2], "is_done": False, "region": "steps"}),
    "checklist_note": ({"number": 1, "note": "n", "region": None},),
    "context_append": ({"region": "notes", "text": "t"}, {"region": "notes", "text": "t", "key": "k"}),
    "context_delete": ({"region": "notes", "key": "k"}, {"region": "notes", "number": 1}),
    "context_read": ({}, {"region": "notes"}, {"region": "notes", "key": "k"}),
    "context_write": ({"region": "notes", "text": "t"}, {"region": "notes", "text": "t", "key": None}),
    "edit": ({"file_path": "f", "old_string": "a", "new_string": "b", "replace_all": True},),
    "edit_document": ({"content": "a"}, {"content": "", "prompt": "Change it."}),
    "fetch": ({"url": "http://127.0.0.1:1/"},),
    "glob": ({"pattern": "*"}, {"pattern": "*", "path": "."}),
    "grep": ({"pattern": "a", "path": ".", "glob": None, "ignore_case": True},),
    "list": ({}, {"path": "."}),
    "multi_edit": ({"file_path": "f", "edits": [{"old_string": "a", "new_string": "b", "replace_all": None}]},),
    "present_for_review": ({"markdown": "# a"}, {"markdown": "a", "title": "Plan"}),
    "read": ({"file_path": "f", "offset": 1, "limit": 1},),
    "read_tool_result": ({"tool_use_id": "call_9", "start_line": 1, "start_column": 1},),
    "todo": ({"todos": [{"content": "a"}, {"content": "b", "status": "completed"}]},),
    "write": ({"file_path": "new", "content": "c"},),
}


class Outbox:
    """Keeps nothing."""

    async def stage(self, call: StagedCall) -> str:
        return call.call_id


@tool
def count(words: list[str], limit: int = 3) -> dict[str, int]:
    """Count words. words: what to count. limit: how many at most."""
    return {word: len(word) for word in words[:limit]}


DECLARED = DeclaredTool(name="declared", description="d", input_schema={"required": ["a"]}, command=("cat",))
OTHERS: dict[str, tuple[Tool, tuple[Json, ...]]] = {
    "function": (count, ({"words": ["a", "bb"]}, {"words": [], "limit": 1})),
    "command": (command_tool(DECLARED, {}), ({"a": 1},)),
    "routed": (routed(count, Outbox()), ({"words": ["a"]},)),
}


def test_every_built_in_is_judged_by_inputs_that_fit_it() -> None:
    assert set(FITTING) == set(built_in_names())


@pytest.mark.parametrize("rule", TOOL_RULES, ids=str)
@pytest.mark.parametrize("name", [*FITTING, *OTHERS])
def test_tool_contract(name: str, rule: Rule[ToolCase], tmp_path: Path) -> None:
    made, fitting = OTHERS[name] if name in OTHERS else (built_in(name), FITTING[name])
    (tmp_path / "f").write_text("a\n")
    rule.check(ToolCase(made, tmp_path, fitting))
