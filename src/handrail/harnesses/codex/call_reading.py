"""Codex's calls from their records to the canonical ``ToolUse``, without loss.

Codex has spelled its shell five ways (``shell``, ``exec_command``, ``shell_command``, ``container.exec``,
``local_shell_call``). All are ``Bash``. What a typed call has no field for rides in ``ToolUse.provider`` under
``codex``: the native name, further arguments, the words before the command (``bash -lc``), the shape of a patch.
``call_writing`` is the way back.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from copy import copy
from typing import Any

from handrail import jsonio
from handrail.harnesses.codex.item_kinds import (
    Call,
    CustomToolCall,
    FunctionCall,
    LocalShellCall,
    ToolSearchCall,
    WebSearchCall,
)
from handrail.harnesses.codex.patches import files_of, read_patch
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Bash, Json, Raw, ToolUse

WEB_SEARCH = "WebSearch"
APPLY_PATCH = "apply_patch"
RAW_PATCH = "ApplyPatch"
"""The canonical name of a patch that is no single write or edit."""

SHELLS = {"exec_command": "cmd", "shell_command": "command", "shell": "command", "container.exec": "command"}
"""Native name to the argument that holds the command."""
DEFAULT_SHELL = "exec_command"
_PROGRAMS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh"})
_FLAGS = frozenset({"-lc", "-c"})

State = dict[str, Any]
"""What a typed call has no field for; the value of ``codex`` in ``ToolUse.provider``."""


def read_call(payload: Call, call_id: str) -> ToolUse:
    """The canonical block of a call item."""
    return _READERS[type(payload)](payload, call_id)


def _provider(state: State) -> Json:
    return {"codex": state} if state else None


def _read_function(payload: FunctionCall, call_id: str) -> ToolUse:
    name = "tool" if payload.name is None else payload.name
    value = _read_arguments(payload.arguments)
    if payload.namespace is None and type(value) is dict:
        if name in SHELLS:
            state: State = {}
            call = _read_shell(name, value, state)
            if call is not None:
                return ToolUse(call_id, call, {"codex": state} if state else None)
        elif name == APPLY_PATCH and value.keys() == {"input"} and type(value["input"]) is str:
            return _patch(value["input"], call_id, {"kind": "function_call"})
    state = {"kind": "function_call"} if type(value) is str else {}
    if payload.namespace is not None:
        state["namespace"] = payload.namespace
        return ToolUse(call_id, Raw(_joined(payload.namespace, name), value), _provider(state))
    if name in SHELLS or name == APPLY_PATCH:
        return ToolUse(call_id, Raw(name, value), _provider(state))
    return ToolUse(call_id, parse_call(name, value), _provider(state))


def _read_arguments(arguments: Any) -> Json:
    """The value of ``arguments`` (JSON inside a string), the caller's own; what is only a text stays the text it is."""
    if type(arguments) is not str:
        return {} if arguments is None else copy(arguments)
    try:
        value = jsonio.decode(arguments)
    except jsonio.NotJson:
        return arguments
    return arguments if type(value) is str else value


def _joined(namespace: str, name: str) -> str:
    """The name the model is shown: an MCP server's tools carry its name."""
    if not namespace.startswith("mcp__"):
        return name
    return f"{namespace}{name}" if name.startswith("_") else f"{namespace}__{name}"


def _read_shell(name: str, value: dict[str, Any], state: State) -> Bash | None:
    """The command in the arguments ``value``, from which it is taken; what is left of them is put into ``state``.

    None, and ``value`` as it was, when they are no shell's.
    """
    key = SHELLS[name]
    if name != DEFAULT_SHELL:
        state["name"] = name
    command = value.get(key)
    if type(command) is list:
        command = _read_words(command, state)
    if type(command) is not str:
        return None
    del value[key]
    workdir = value.pop("workdir") if type(value.get("workdir")) is str else None
    call = Bash(command, workdir) if _FURTHER.isdisjoint(value) else Bash(command, workdir, **_taken(value))
    if value:
        state["arguments"] = value
    return call


BASH_FIELDS: dict[str, type] = {"workdir": str, "timeout_ms": int, "description": str, "run_in_background": bool}
"""The further arguments that a ``Bash`` has fields for, when they are of these types."""
_FURTHER = frozenset(BASH_FIELDS)


def _taken(rest: dict[str, Any]) -> dict[str, Any]:
    """The arguments in ``rest`` that a ``Bash`` has fields for, which are taken out of it. A number is a count."""
    fitting = [key for key in BASH_FIELDS if type(rest.get(key)) is BASH_FIELDS[key]]
    return {key: rest.pop(key) for key in fitting if type(rest[key]) is not int or rest[key] >= 0}


def _read_words(words: list[Any], state: State) -> str | None:
    if any(type(word) is not str for word in words):
        return None
    if len(words) == 3 and words[0] in _PROGRAMS and words[1] in _FLAGS:
        state["words"] = words[:2]
        return str(words[2])
    joined = shlex.join(words)
    if not words or shlex.split(joined) != words:
        return None
    state["words"] = []
    return joined


def _read_custom(payload: CustomToolCall, call_id: str) -> ToolUse:
    name = "custom_tool" if payload.name is None else payload.name
    if type(payload.input) is not str:
        return ToolUse(call_id, Raw(name, payload.input), _provider({"kind": "custom_tool_call"}))
    if name == APPLY_PATCH:
        return _patch(payload.input, call_id, {})
    return ToolUse(call_id, Raw(name, payload.input))


def _patch(patch: str, call_id: str, state: State) -> ToolUse:
    found = read_patch(patch)
    if found is None:
        return ToolUse(call_id, Raw(RAW_PATCH, {"patch": patch, "files": files_of(patch)}), _provider(state))
    call, shape = found
    return ToolUse(call_id, call, _provider({**state, "patch": shape}))


def _read_local_shell(payload: LocalShellCall, call_id: str) -> ToolUse:
    action = payload.action
    state: State = {"kind": "local_shell_call"}
    if type(action) is dict and action.get("type") == "exec":
        value = {"command": action.get("command"), "workdir": action.get("working_directory")}
        value |= {"timeout_ms": action.get("timeout_ms")}
        given = {key: item for key, item in value.items() if item is not None}
        rest = {key: item for key, item in action.items() if key not in _LOCAL_KEYS or item is None}
        told: State = {}
        call = _read_shell("shell", given, told)
        if call is not None:
            state["action"] = rest
            return ToolUse(call_id, call, _provider({**told, **state}))
    return ToolUse(call_id, Raw("local_shell", action), _provider(state))


_LOCAL_KEYS = frozenset({"type", "command", "working_directory", "timeout_ms"})


def _read_web_search(payload: WebSearchCall, call_id: str) -> ToolUse:
    return ToolUse(call_id, Raw(WEB_SEARCH, payload.action), _provider({"kind": "web_search_call"}))


def _read_tool_search(payload: ToolSearchCall, call_id: str) -> ToolUse:
    state: State = {"kind": "tool_search_call"}
    if payload.execution is not None:
        state["execution"] = payload.execution
    return ToolUse(call_id, Raw("tool_search", payload.arguments), _provider(state))


_READERS: dict[type, Callable[[Any, str], ToolUse]] = {
    FunctionCall: _read_function,
    CustomToolCall: _read_custom,
    LocalShellCall: _read_local_shell,
    WebSearchCall: _read_web_search,
    ToolSearchCall: _read_tool_search,
}
