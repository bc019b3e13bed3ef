"""Codex's calls in all spellings: typed where that loses nothing, and written back as they were."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.harnesses.codex.call_reading import read_call
from handrail.harnesses.codex.call_writing import write_call
from handrail.harnesses.codex.item_kinds import CustomToolCall, FunctionCall, LocalShellCall
from handrail.harnesses.codex.patches import files_of, read_patch, render_patch
from handrail.harnesses.codex.wire import call_of
from handrail.transcripts.model import Bash, Edit, Raw, Read, ToolCall, ToolUse, Write

ADD = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch"
UPDATE = "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n x = 1\n-y = 2\n+y = 3\n z = 4\n*** End Patch\n"
TWO = "*** Begin Patch\n*** Add File: a\n+1\n*** Delete File: b\n*** End Patch"


def function(name: str, arguments: Any, **more: Any) -> FunctionCall:
    return FunctionCall(name=name, arguments=json.dumps(arguments), **more)


def written(block: ToolUse) -> dict[str, Any]:
    native = write_call(block)
    if native["type"] == "function_call":
        native["arguments"] = json.loads(native["arguments"])
    return native


@pytest.mark.parametrize(
    ("name", "arguments", "typed"),
    [
        ("exec_command", {"cmd": "ls", "workdir": "/srv"}, Bash("ls", "/srv")),
        ("exec_command", {"cmd": "ls", "yield_time_ms": 5, "max_output_tokens": 9}, Bash("ls")),
        ("shell", {"command": ["bash", "-lc", "ls | wc"], "timeout_ms": 5}, Bash("ls | wc", timeout_ms=5)),
        ("shell", {"command": ["git", "log", "a b"]}, Bash("git log 'a b'")),
        ("container.exec", {"command": ["zsh", "-c", "ls"]}, Bash("ls")),
        ("shell_command", {"command": "ls", "workdir": "/srv"}, Bash("ls", "/srv")),
        ("exec_command", {"cmd": "ls", "timeout_ms": -1}, Bash("ls")),
        ("exec_command", {"cmd": 5}, Raw("exec_command", {"cmd": 5})),
        ("shell", {"command": []}, Raw("shell", {"command": []})),
        ("shell", {"command": ["ls", 1]}, Raw("shell", {"command": ["ls", 1]})),
        ("Read", {"file_path": "/a", "limit": 2}, Read("/a", limit=2)),
        ("update_plan", {"plan": []}, Raw("update_plan", {"plan": []})),
    ],
)
def test_a_function_call_is_typed_and_written_back_as_it_was(name: str, arguments: Any, typed: ToolCall) -> None:
    block = read_call(function(name, arguments), "c1")
    assert block.call == typed
    assert written(block) == {"type": "function_call", "name": name, "arguments": arguments, "call_id": "c1"}


def test_arguments_that_are_no_json_stay_the_text_they_are() -> None:
    payload = FunctionCall(name="x", arguments='{"cut')
    block = read_call(payload, "c1")
    assert block.call == Raw("x", '{"cut')
    assert write_call(block) == {"type": "function_call", "name": "x", "arguments": '{"cut', "call_id": "c1"}


@pytest.mark.parametrize(
    ("namespace", "name", "shown"),
    [
        ("mcp__wiki", "ask", "mcp__wiki__ask"),
        ("mcp__apps__hub", "_create", "mcp__apps__hub_create"),
        ("collaboration", "spawn_agent", "spawn_agent"),
    ],
)
def test_a_servers_tool_carries_its_name(namespace: str, name: str, shown: str) -> None:
    block = read_call(function(name, {"a": 1}, namespace=namespace), "c1")
    assert block.call == Raw(shown, {"a": 1})
    assert (written(block)["name"], written(block)["namespace"]) == (name, namespace)


@pytest.mark.parametrize(
    ("patch", "typed"),
    [
        (ADD, Write("a.txt", "one\ntwo")),
        (UPDATE, Edit("a.py", "x = 1\ny = 2\nz = 4", "x = 1\ny = 3\nz = 4")),
        (TWO, Raw("ApplyPatch", {"patch": TWO, "files": ["a", "b"]})),
    ],
)
def test_a_patch_is_typed_when_it_is_one_write_or_one_edit(patch: str, typed: ToolCall) -> None:
    block = read_call(CustomToolCall(name="apply_patch", input=patch), "c1")
    assert block.call == typed
    assert write_call(block)["input"] == patch


def test_a_patch_whose_call_was_changed_is_not_written_as_it_was() -> None:
    block = read_call(CustomToolCall(name="apply_patch", input=UPDATE), "c1")
    changed = ToolUse("c1", Edit("a.py", "x = 1\ny = 9\nz = 4", "x = 1\ny = 3\nz = 4"), block.provider)
    assert write_call(changed)["input"] == UPDATE.replace("-y = 2", "-y = 9")


def test_a_changed_call_that_no_patch_fits_is_written_under_its_canonical_name() -> None:
    block = read_call(CustomToolCall(name="apply_patch", input=UPDATE), "c1")
    changed = ToolUse("c1", Edit("a.py", "one line", "another"), block.provider)
    assert written(changed)["name"] == "Edit"


LINES = st.lists(st.text("ab +-@*", max_size=4), max_size=4)


@settings(max_examples=200, derandomize=True, database=None, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(" -+"), st.text("ab +-@*", max_size=4)), min_size=1, max_size=6), LINES)
def test_a_typed_patch_always_gives_its_patch_back(hunk: list[tuple[str, str]], extra: list[str]) -> None:
    body = "\n".join([*(f"{mark}{line}" for mark, line in hunk), *extra])
    patch = f"*** Begin Patch\n*** Update File: f\n@@\n{body}\n*** End Patch"
    found = read_patch(patch)
    assert found is None or render_patch(*found) == patch


def test_the_files_of_a_patch_are_named_once() -> None:
    assert files_of(f"{TWO}\n*** Update File: a\n*** Move to: c\n") == ["a", "b", "c"]


def test_a_local_shell_call_is_a_command() -> None:
    action = {"type": "exec", "command": ["bash", "-lc", "ls"], "working_directory": "/srv", "timeout_ms": 5, "env": {}}
    block = read_call(LocalShellCall(action=action), "c1")
    assert block.call == Bash("ls", "/srv", 5)
    assert write_call(block) == {"type": "local_shell_call", "status": "completed", "action": action, "call_id": "c1"}


@pytest.mark.parametrize(
    "call", [Bash("ls", description="List", run_in_background=True), Edit("/a", "x", "y", True), Write("/a", "")]
)
def test_a_call_from_elsewhere_reads_back_as_it_was(call: ToolCall) -> None:
    native = write_call(ToolUse("c1", call))
    assert read_call(call_of(native), "c1") == ToolUse("c1", call)


@pytest.mark.parametrize("provider", [{"codex": {"name": "rm"}}, {"codex": 5}, {"codex": {"words": 5}}, [], "x"])
def test_provider_state_that_is_not_ours_changes_nothing(provider: Any) -> None:
    assert written(ToolUse("c1", Bash("ls"), provider))["arguments"] == {"cmd": "ls"}
