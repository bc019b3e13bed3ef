"""The files that declare tools, hooks, servers and rules; faults name the file and the key, never a value."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

import pytest

from handrail.transcripts.model import Json
from handrail.workspace.declared import (
    DeclaredHook,
    DeclaredRule,
    DeclaredServer,
    DeclaredTool,
    WorkspaceError,
    parse_hooks,
    parse_rules,
    parse_servers,
    parse_tools,
)
from handrail.workspace.variables import filled

JSON, TOML = PurePath("tools.json"), PurePath("tools.toml")
BASE = PurePath("/base")
TOOL = {"description": "d", "input_schema": {"type": "object"}, "command": ["run"]}


def _tools(tools: Json, **environment: str) -> tuple[DeclaredTool, ...]:
    return parse_tools(json.dumps({"schema": 1, "tools": tools}).encode(), JSON, base=BASE, environment=environment)


def _servers(servers: Json, **environment: str) -> tuple[DeclaredServer, ...]:
    return parse_servers(json.dumps({"mcpServers": servers}).encode(), JSON, base=BASE, environment=environment)


def test_a_tools_file_is_the_same_in_toml_and_json() -> None:
    toml = b'schema = 1\n[tools.t]\ndescription = "d"\ncommand = ["run"]\ninput_schema = {type = "object"}\n'
    expected = (DeclaredTool(name="t", description="d", input_schema={"type": "object"}, command=("run",)),)
    assert parse_tools(toml, TOML, base=BASE, environment={}) == _tools({"t": TOOL}) == expected


def test_variables_are_filled_in_and_folders_taken_from_the_base() -> None:
    (tool,) = _tools({"t": {**TOOL, "env": {"A": "${X}/a", "B": "${Y:-b}"}, "cwd": "sub"}}, X="x")
    assert (tool.env, tool.cwd) == ({"A": "x/a", "B": "b"}, "/base/sub")


@pytest.mark.parametrize("name", ["", "two words", "mcp__a__b", "x" * 65, "a.b"])
def test_a_tool_needs_a_name_that_can_be_called(name: str) -> None:
    with pytest.raises(WorkspaceError, match=r"tools\.json: a tool cannot be called"):
        _tools({name: TOOL})


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"command": []}, "$.tools[...].command"),
        ({"command": "run"}, "$.tools[...].command"),
        ({"timeout_ms": 0}, "$.tools[...].timeout_ms"),
        ({"side_effect": "secret"}, "$.tools[...].side_effect"),
        ({"secret": 1}, "unknown field"),
        ({"description": None}, "$.tools[...].description"),
    ],
)
def test_a_fault_names_the_key_and_not_the_value(changes: dict[str, Any], where: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        _tools({"t": {**TOOL, **changes}})
    assert where in str(caught.value)
    assert "secret" not in str(caught.value) or where == "unknown field"


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"schema": 2}', b"[]", b"{}"])
def test_what_is_no_tools_file_is_an_error_that_names_it(data: bytes) -> None:
    with pytest.raises(WorkspaceError, match=r"^tools\.json"):
        parse_tools(data, JSON, base=BASE, environment={})
    with pytest.raises(WorkspaceError, match=r"^tools\.toml"):
        parse_tools(data, TOML, base=BASE, environment={})


@pytest.mark.parametrize("data", [b"[" * 100_000, b"a = " + b"[" * 100_000], ids=["JSON", "TOML"])
def test_a_file_that_is_nested_without_end_is_an_error_that_names_it(data: bytes) -> None:
    path = TOML if b"=" in data else JSON
    with pytest.raises(WorkspaceError, match=rf"{path} is nested too deeply"):
        parse_tools(data, path, base=BASE, environment={})


def test_hooks_keep_their_order_and_know_two_events() -> None:
    hooks = [
        {"name": "b", "command": ["x"]},
        {"name": "a", "command": ["y"], "event": "post_tool_use", "tools": ["Bash"]},
    ]
    assert parse_hooks(json.dumps({"schema": 1, "hooks": hooks}).encode(), JSON) == (
        DeclaredHook(name="b", command=("x",)),
        DeclaredHook(name="a", command=("y",), event="post_tool_use", tools=("Bash",)),
    )


@pytest.mark.parametrize("changes", [{"event": "stop"}, {"on_failure": "allow"}, {"command": []}, {"when": 1}])
def test_a_hook_that_would_not_hold_is_refused_at_load(changes: dict[str, Any]) -> None:
    hook = {"name": "h", "command": ["x"], **changes}
    with pytest.raises(WorkspaceError, match="hooks"):
        parse_hooks(json.dumps({"schema": 1, "hooks": [hook]}).encode(), PurePath("hooks.json"))


def test_rules_are_read() -> None:
    toml = b'schema = 1\n[[rules]]\nverdict = "deny"\ntool = "Bash"\nwhere = {command = "rm *"}\nreason = "no"\n'
    rule = DeclaredRule(verdict="deny", tool="Bash", where={"command": "rm *"}, reason="no")
    assert parse_rules(toml, PurePath("permissions.toml")) == (rule,)


def test_servers_are_commands_or_urls_and_the_disabled_are_left_out() -> None:
    servers = {
        "cmd": {"command": "${BIN}/s", "args": ["--key=${KEY}"], "env": {"K": "${KEY}"}, "cwd": "x", "autoApprove": []},
        "url": {"url": "https://e.org/${KEY}", "headers": {"A": "${KEY}"}, "traits": {"private": True}},
        "off": {"command": "x", "disabled": True},
    }
    command, url = _servers(servers, BIN="/bin", KEY="k")
    assert (command.name, command.command, command.args, command.env, command.cwd) == (
        "cmd", "/bin/s", ("--key=k",), {"K": "k"}, "/base/x",
    )  # fmt: skip
    assert (url.name, url.url, url.headers, url.traits.private) == ("url", "https://e.org/k", {"A": "k"}, True)


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ({}, "'s' needs either a command or a url"),
        ({"command": "x", "url": "y"}, "'s' needs either a command or a url"),
        ({"url": "${MISSING}secret"}, "the variable MISSING is not set"),
        ({"command": "x", "env": {"K": {"secret": 1}}}, "$.mcpServers[...].env[...]"),
    ],
)
def test_a_broken_servers_file_is_an_error_and_prints_no_values(server: Json, said: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        _servers({"s": server})
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("${A}", "1"), ("x${A}y${A}", "x1y1"), ("$A ${ A}", "$A ${ A}"), ("${E:-d}", "d"), ("${E}", ""), ("${N:-}", "")],
)
def test_variables(text: str, value: str) -> None:
    assert filled(text, {"A": "1", "E": ""}) == value


def test_without_an_environment_variables_stay_as_they_are() -> None:
    assert filled("${A}", None) == "${A}"
