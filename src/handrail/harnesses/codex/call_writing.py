"""The canonical ``ToolUse`` as a Codex call; what reading it put into ``ToolUse.provider`` comes back.

A call without such state is written as ``exec_command`` when it is a ``Bash``, as a custom tool call when its input
is a text, and else as a function call under its canonical name.
"""

from __future__ import annotations

import shlex
from typing import Any

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.harnesses.codex.call_reading import (
    APPLY_PATCH,
    BASH_FIELDS,
    DEFAULT_SHELL,
    RAW_PATCH,
    SHELLS,
    State,
    read_call,
)
from handrail.harnesses.codex.patches import files_of, render_patch
from handrail.harnesses.codex.wire import call_of
from handrail.transcripts.calls import spell_call
from handrail.transcripts.model import Bash, Command, Edit, Json, MultiEdit, Raw, Read, ToolCall, ToolUse, Write


def write_call(block: ToolUse) -> dict[str, Json]:
    """The payload of ``block``; reading it gives ``block`` again wherever ``is_kept`` says so."""
    state = block.provider.get("codex") if type(block.provider) is dict else None
    if type(state) is dict:
        native = _write_with_state(block.call, state)
        if native is not None:
            return {**native, "call_id": block.id}
    call = block.call
    if not isinstance(call, Raw):
        return dict(msgspec.to_builtins(write_typed(block.id, call)))
    if type(call.input) is str:
        return {
            "type": "custom_tool_call",
            "status": "completed",
            "name": call.tool_name,
            "input": call.input,
            "call_id": block.id,
        }
    if call.tool_name == RAW_PATCH and _is_raw_patch(call.input):
        return {**_custom_patch(call.input["patch"]), "call_id": block.id}
    return _function(call.tool_name, call.input, block.id)


class FunctionCall(Struct, tag_field="type", tag="function_call", gc=False):
    """A function call as Codex writes it; ``arguments`` are JSON inside a string."""

    name: str
    arguments: str
    call_id: str


class _ExecCommand(Struct, omit_defaults=True, gc=False):
    """The arguments of the shell: those of ``Bash``, the command under another name."""

    cmd: str
    workdir: str | None = None
    timeout_ms: int | None = None
    description: str | None = None
    run_in_background: bool | None = None


def write_typed(call_id: str, call: Command | Read | Write | Edit | MultiEdit | Bash) -> FunctionCall:
    """A typed call that has no state of Codex; reading it gives ``call`` again."""
    if type(call) is Bash:
        shell = _ExecCommand(call.command, call.workdir, call.timeout_ms, call.description, call.run_in_background)
        return FunctionCall(DEFAULT_SHELL, jsonio.encode(shell).decode(), call_id)
    name, arguments = spell_call(call)
    return FunctionCall(name, arguments.decode(), call_id)


def is_kept(block: ToolUse, native: dict[str, Json]) -> bool:
    """Whether reading ``native`` gives ``block`` again."""
    if block.provider is None and type(block.call) is not Raw:
        return True
    return read_call(call_of(native), block.id) == block


def _function(name: str, value: Json, call_id: str) -> dict[str, Json]:
    text = jsonio.encode(value).decode("utf-8", "surrogatepass")
    return {"type": "function_call", "name": name, "arguments": text, "call_id": call_id}


def _bash_fields(call: Bash) -> dict[str, Json]:
    return {field: value for field in BASH_FIELDS if (value := getattr(call, field)) is not None}


def _custom_patch(patch: str) -> dict[str, Json]:
    return {"type": "custom_tool_call", "status": "completed", "name": APPLY_PATCH, "input": patch}


def _is_raw_patch(value: Json) -> bool:
    return (
        type(value) is dict
        and value.keys() == {"patch", "files"}
        and type(value["patch"]) is str
        and value["files"] == files_of(value["patch"])
    )


def _write_with_state(call: ToolCall, state: State) -> dict[str, Json] | None:
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


def _patch_of(call: ToolCall, state: State) -> str | None:
    if type(call) is Raw:
        is_patch = call.tool_name == RAW_PATCH and _is_raw_patch(call.input)
        return str(call.input["patch"]) if is_patch else None
    shape = state.get("patch")
    if type(shape) is not dict or type(call) not in (Write, Edit):
        return None
    return render_patch(call, shape)  # type: ignore[arg-type]


def _write_shell(call: Bash, state: State) -> dict[str, Json] | None:
    name = state.get("name", DEFAULT_SHELL)
    if name not in SHELLS:
        return None
    words = _words_of(call.command, state.get("words"))
    rest = state.get("arguments", {})
    if words is None or type(rest) is not dict:
        return None
    return _function(name, {SHELLS[name]: words, **_bash_fields(call), **rest}, "")


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


def _write_local_shell(call: ToolCall, state: State) -> dict[str, Json] | None:
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


def _write_named(call: Raw, state: State) -> dict[str, Json]:
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
