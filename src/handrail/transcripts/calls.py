"""Tool calls between their wire form (name and input) and their typed form, without loss.

A call is typed only when its input is an object that fits exactly: every key known, every required one there,
every type right. Anything else is ``Raw``, so going there and back gives the same name and input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, assert_never

from handrail import jsonio
from handrail.transcripts.model import (
    Bash,
    Command,
    Edit,
    EditStep,
    Json,
    MultiEdit,
    Raw,
    Read,
    ToolCall,
    Write,
)


class _Shape(NamedTuple):
    """The input of a typed call: the type of every key it may have, and the keys it must have."""

    build: Callable[..., ToolCall]
    kinds: dict[str, type]
    required: frozenset[str]


def _fits(value: Any, kinds: dict[str, type], required: frozenset[str]) -> bool:
    """Whether ``value`` is an object of exactly these kinds. A number is a count, so never negative."""
    if type(value) is not dict:
        return False
    missing = len(required)
    for key, item in value.items():
        kind = type(item)
        if kind is not kinds.get(key) or (kind is int and item < 0):
            return False
        if key in required:
            missing -= 1
    return not missing


_STEP_KINDS: dict[str, type] = {"old_string": str, "new_string": str, "replace_all": bool}
_STEP_REQUIRED = frozenset({"old_string", "new_string"})

_SHAPES: dict[str, _Shape] = {
    "Read": _Shape(Read, {"file_path": str, "offset": int, "limit": int}, frozenset({"file_path"})),
    "Write": _Shape(Write, {"file_path": str, "content": str}, frozenset({"file_path", "content"})),
    "Edit": _Shape(Edit, {"file_path": str, **_STEP_KINDS}, frozenset({"file_path", *_STEP_REQUIRED})),
    "MultiEdit": _Shape(MultiEdit, {"file_path": str, "edits": list}, frozenset({"file_path", "edits"})),
    "Bash": _Shape(
        Bash,
        {"command": str, "workdir": str, "timeout_ms": int, "description": str, "run_in_background": bool},
        frozenset({"command"}),
    ),
}


_SPELLED = {shape.build: (name, len(b'{"name":"%b",' % name.encode())) for name, shape in _SHAPES.items()}
"""The name of each typed call, and how many bytes of its JSON tell it: the rest is the input."""


def parse_call(name: str, input: Json) -> ToolCall:
    """The typed call for a canonical tool name and its input, or ``Raw``.

    A name that starts with ``/`` is a slash command when its input is an object with at most a string ``args``.
    """
    shape = _SHAPES.get(name)
    if shape is None:
        if name.startswith("/") and _fits(input, {"args": str}, frozenset()):
            return Command(name, input.get("args"))
        return Raw(name, input)
    build, kinds, required = shape
    if not _fits(input, kinds, required):
        return Raw(name, input)
    if build is not MultiEdit:
        return build(**input)
    steps = input["edits"]
    if not all(_fits(step, _STEP_KINDS, _STEP_REQUIRED) for step in steps):
        return Raw(name, input)
    return MultiEdit(input["file_path"], tuple(EditStep(**step) for step in steps))


def render_call(call: ToolCall) -> tuple[str, Json]:
    """The canonical name and input of ``call``; the exact inverse of ``parse_call``."""
    match call:
        case Raw():
            return call.tool_name, call.input
        case Command():
            return call.command, {} if call.args is None else {"args": call.args}
        case MultiEdit():
            return "MultiEdit", {"file_path": call.file_path, "edits": [_given(step) for step in call.edits]}
        case Read() | Write() | Edit() | Bash():
            return type(call).__name__, _given(call)
        case _:
            assert_never(call)


def spell_call(call: ToolCall) -> tuple[str, bytes]:
    """What ``render_call`` gives, the input as JSON."""
    spelled = _SPELLED.get(type(call))
    if spelled is None:
        name, value = render_call(call)
        return name, jsonio.encode(value)
    name, named = spelled
    return name, b"{" + jsonio.encode(call)[named:]


def call_name(call: ToolCall) -> str:
    """The canonical tool name of ``call``."""
    if type(call) is Raw:
        return call.tool_name
    if type(call) is Command:
        return call.command
    return type(call).__name__


def _given(call: Read | Write | Edit | EditStep | Bash) -> dict[str, Json]:
    return {field: value for field in call.__struct_fields__ if (value := getattr(call, field)) is not None}
