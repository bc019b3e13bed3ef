"""Codex's calls between their records and the canonical ``ToolUse``, without loss.

Codex has spelled its shell five ways (``shell``, ``exec_command``, ``shell_command``, ``container.exec``,
``local_shell_call``). All are ``Bash``. What a typed call has no field for rides in ``ToolUse.provider`` under
``codex``: the native name, further arguments, the words before the command (``bash -lc``), the shape of a patch.
A call that has no such state is written as ``exec_command`` when it is a ``Bash``, as a custom tool call when its
input is a text, and else as a function call under its canonical name.
"""

from __future__ import annotations

import shlex
from typing import Any

from handrail import jsonio
from handrail.harnesses.codex.patches import files_of, read_patch, render_patch
from handrail.harnesses.codex.wire import Payload
from handrail.transcripts.calls import parse_call, render_call
from handrail.transcripts.model import Bash, Edit, Json, Raw, ToolCall, ToolUse, Write

WEB_SEARCH = "WebSearch"
APPLY_PATCH = "apply_patch"
RAW_PATCH = "ApplyPatch"
"""The canonical name of a patch that is no single write or edit."""

_SHELLS = {"exec_command": "cmd", "shell_command": "command", "shell": "command", "container.exec": "command"}
"""Native name to the argument that holds the command."""
_DEFAULT_SHELL = "exec_command"
_PROGRAMS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh"})
_FLAGS = frozenset({"-lc", "-c"})

_State = dict[str, Any]


def read_call(payload: Payload, call_id: str) -> ToolUse:
    """The canonical block of a call item."""
    kind = payload.type
    if kind == "function_call":
        return _read_function(payload, call_id)
    if kind == "custom_tool_call":
        return _read_custom(payload, call_id)
    if kind == "local_shell_call":
        return _read_local_shell(payload, call_id)
    if kind == "web_search_call":
        return ToolUse(call_id, Raw(WEB_SEARCH, payload.action), _provider({"kind": kind}))
    state: _State = {"kind": kind}
    if payload.execution is not None:
        state["execution"] = payload.execution
    return ToolUse(call_id, Raw("tool_search", payload.arguments), _provider(state))


def _provider(state: _State) -> Json:
    return {"codex": state} if state else None


def _read_function(payload: Payload, call_id: str) -> ToolUse:
    name = "tool" if payload.name is None else payload.name
    value, is_text = _read_arguments(payload.arguments)
    state: _State = {"kind": "function_call"} if is_text else {}
    if payload.namespace is not None:
        state["namespace"] = payload.namespace
        name = _joined(payload.namespace, name)
        return ToolUse(call_id, Raw(name, value), _provider(state))
    if name in _SHELLS and type(value) is dict:
        found = _read_shell(name, value)
        if found is not None:
            return ToolUse(call_id, found[0], _provider(found[1]))
    if name == APPLY_PATCH and type(value) is dict and set(value) == {"input"} and type(value["input"]) is str:
        return _patch(value["input"], call_id, {"kind": "function_call"})
    if name in _SHELLS or name == APPLY_PATCH:
        return ToolUse(call_id, Raw(name, value), _provider(state))
    return ToolUse(call_id, parse_call(name, value), _provider(state))


def _read_arguments(arguments: Any) -> tuple[Json, bool]:
    """The value of ``arguments`` (JSON inside a string), and whether it stays the text it is."""
    if arguments is None:
        return {}, False
    if type(arguments) is not str:
        return arguments, False
    try:
        value = jsonio.decode(arguments.encode("utf-8", "surrogatepass"))
    except jsonio.NotJson:
        return arguments, True
    return (arguments, True) if type(value) is str else (value, False)


def _joined(namespace: str, name: str) -> str:
    """The name the model is shown: an MCP server's tools carry its name."""
    if not namespace.startswith("mcp__"):
        return name
    return f"{namespace}{name}" if name.startswith("_") else f"{namespace}__{name}"


def _read_shell(name: str, value: dict[str, Any]) -> tuple[Bash, _State] | None:
    """The command and what is left over; None when the arguments are no shell's."""
    key = _SHELLS[name]
    rest = dict(value)
    words = rest.pop(key, None)
    state: _State = {} if name == _DEFAULT_SHELL else {"name": name}
    if type(words) is list:
        command = _read_words(words, state)
        if command is None:
            return None
    elif type(words) is str:
        command = words
    else:
        return None
    fields = {field: rest.pop(field) for field in _BASH_FIELDS if field in rest and _fits(field, rest[field])}
    if rest:
        state["arguments"] = rest
    return Bash(command, **fields), state


_BASH_FIELDS: dict[str, type] = {"workdir": str, "timeout_ms": int, "description": str, "run_in_background": bool}


def _fits(field: str, value: Any) -> bool:
    return type(value) is _BASH_FIELDS[field] and (type(value) is not int or value >= 0)


def _read_words(words: list[Any], state: _State) -> str | None:
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


def _read_custom(payload: Payload, call_id: str) -> ToolUse:
    name = "custom_tool" if payload.name is None else payload.name
    if type(payload.input) is not str:
        return ToolUse(call_id, Raw(name, payload.input), _provider({"kind": "custom_tool_call"}))
    if name == APPLY_PATCH:
        return _patch(payload.input, call_id, {})
    return ToolUse(call_id, Raw(name, payload.input))


def _patch(patch: str, call_id: str, state: _State) -> ToolUse:
    found = read_patch(patch)
    if found is None:
        return ToolUse(call_id, Raw(RAW_PATCH, {"patch": patch, "files": files_of(patch)}), _provider(state))
    call, shape = found
    return ToolUse(call_id, call, _provider({**state, "patch": shape}))


def _read_local_shell(payload: Payload, call_id: str) -> ToolUse:
    action = payload.action
    state: _State = {"kind": "local_shell_call"}
    if type(action) is dict and action.get("type") == "exec":
        value = {"command": action.get("command"), "workdir": action.get("working_directory")}
        value |= {"timeout_ms": action.get("timeout_ms")}
        given = {key: item for key, item in value.items() if item is not None}
        rest = {key: item for key, item in action.items() if key not in _LOCAL_KEYS or item is None}
        found = _read_shell("shell", given)
        if found is not None:
            state["action"] = rest
            return ToolUse(call_id, found[0], _provider({**found[1], **state}))
    return ToolUse(call_id, Raw("local_shell", action), _provider(state))


_LOCAL_KEYS = frozenset({"type", "command", "working_directory", "timeout_ms"})


# Writing ----------------------------------------------------------------------------------------------------


def write_call(block: ToolUse) -> dict[str, Json]:
    """The payload of ``block``; reading it gives ``block`` again wherever ``is_kept`` says so."""
    state = block.provider.get("codex") if type(block.provider) is dict else None
    if type(state) is dict:
        native = _write_with_state(block.call, state)
        if native is not None:
            return {**native, "call_id": block.id}
    call = block.call
    if type(call) is Bash:
        return _function(_DEFAULT_SHELL, {"cmd": call.command, **_bash_fields(call)}, block.id)
    if type(call) is Raw and type(call.input) is str:
        return {
            "type": "custom_tool_call",
            "status": "completed",
            "name": call.tool_name,
            "input": call.input,
            "call_id": block.id,
        }
    if type(call) is Raw and call.tool_name == RAW_PATCH and _is_raw_patch(call.input):
        return {**_custom_patch(call.input["patch"]), "call_id": block.id}
    name, value = render_call(call)
    return _function(name, value, block.id)


_EASY = frozenset({"Read", "Write", "Edit", "MultiEdit", "Bash"})


def is_kept(block: ToolUse, native: dict[str, Json]) -> bool:
    """Whether reading ``native`` gives ``block`` again."""
    if block.provider is None and type(block.call) is not Raw:
        return True
    payload = Payload(
        type=str(native["type"]),
        name=native.get("name"),
        namespace=native.get("namespace"),
        arguments=native.get("arguments"),
        input=native.get("input"),
        action=native.get("action"),
        execution=native.get("execution"),
    )
    return read_call(payload, block.id) == block


def _function(name: str, value: Json, call_id: str) -> dict[str, Json]:
    text = jsonio.encode(value).decode("utf-8", "surrogatepass")
    return {"type": "function_call", "name": name, "arguments": text, "call_id": call_id}


def _bash_fields(call: Bash) -> dict[str, Json]:
    return {field: value for field in _BASH_FIELDS if (value := getattr(call, field)) is not None}


def _custom_patch(patch: str) -> dict[str, Json]:
    return {"type": "custom_tool_call", "status": "completed", "name": APPLY_PATCH, "input": patch}


def _is_raw_patch(value: Json) -> bool:
    return (
        type(value) is dict
        and value.keys() == {"patch", "files"}
        and type(value["patch"]) is str
        and value["files"] == files_of(value["patch"])
    )


def _write_with_state(call: ToolCall, state: _State) -> dict[str, Json] | None:
    """The native form a call was read from; None where the state does not belong to such a call."""
    kind = state.get("kind")
    if kind == "web_search_call" and type(call) is Raw:
        return {"type": kind, "status": "completed", "action": call.input}
    if kind == "tool_search_call" and type(call) is Raw:
        execution = {"execution": state["execution"]} if "execution" in state else {}
        return {"type": kind, "status": "completed", "arguments": call.input, **execution}
    if kind == "local_shell_call":
        return _write_local_shell(call, state)
    patch = _patch_of(call, state)
    if patch is not None:
        if kind == "function_call":
            return _function(APPLY_PATCH, {"input": patch}, "")
        return _custom_patch(patch)
    if type(call) is Bash:
        return _write_shell(call, state)
    if type(call) is not Raw:
        return None
    if kind == "custom_tool_call":
        return {"type": kind, "status": "completed", "name": call.tool_name, "input": call.input}
    return _write_named(call, state)


def _patch_of(call: ToolCall, state: _State) -> str | None:
    if type(call) is Raw:
        is_patch = call.tool_name == RAW_PATCH and _is_raw_patch(call.input)
        return str(call.input["patch"]) if is_patch else None
    shape = state.get("patch")
    if type(shape) is not dict or type(call) not in (Write, Edit):
        return None
    return render_patch(call, shape)  # type: ignore[arg-type]


def _write_shell(call: Bash, state: _State) -> dict[str, Json] | None:
    name = state.get("name", _DEFAULT_SHELL)
    if name not in _SHELLS:
        return None
    words = _words_of(call.command, state.get("words"))
    rest = state.get("arguments", {})
    if words is None or type(rest) is not dict:
        return None
    return _function(name, {_SHELLS[name]: words, **_bash_fields(call), **rest}, "")


def _words_of(command: str, before: Any) -> str | list[str] | None:
    if before is None:
        return command
    if type(before) is not list:
        return None
    if before:
        return [*before, command]
    try:
        return shlex.split(command)
    except ValueError:
        return None


def _write_local_shell(call: ToolCall, state: _State) -> dict[str, Json] | None:
    head = {"type": "local_shell_call", "status": "completed"}
    if type(call) is Raw:
        return {**head, "action": call.input}
    rest = state.get("action")
    if type(call) is not Bash or type(rest) is not dict:
        return None
    words = _words_of(call.command, state.get("words"))
    action: dict[str, Json] = {"type": "exec", "command": words}
    if call.timeout_ms is not None:
        action["timeout_ms"] = call.timeout_ms
    if call.workdir is not None:
        action["working_directory"] = call.workdir
    return {**head, "action": {**action, **rest}}


def _write_named(call: Raw, state: _State) -> dict[str, Json]:
    name = call.tool_name
    namespace = state.get("namespace")
    text = state.get("kind") == "function_call" and type(call.input) is str
    native = _function(name, call.input, "")
    if text:
        native["arguments"] = call.input
    if type(namespace) is str:
        native["namespace"] = namespace
        native["name"] = _without(namespace, name)
    return native


def _without(namespace: str, name: str) -> str:
    if not namespace.startswith("mcp__") or not name.startswith(namespace):
        return name
    rest = name[len(namespace) :]
    return rest[2:] if rest.startswith("__") and not rest.startswith("___") else rest
