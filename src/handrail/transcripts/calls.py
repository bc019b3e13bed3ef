"""Tool calls between their wire form (name and input) and their typed form, without loss.

A call is typed only when its input is an object that fits exactly: every key known, every required one there,
every type right. Anything else is ``Raw``, so going there and back gives the same name and input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

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

_Fields = dict[str, Callable[[Any], bool]]


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _fits(value: Any, required: _Fields, optional: _Fields) -> bool:
    if type(value) is not dict:
        return False
    seen = 0
    for key, item in value.items():
        check = required.get(key)
        if check is not None:
            seen += 1
        else:
            check = optional.get(key)
        if check is None or not check(item):
            return False
    return seen == len(required)


_STEP: tuple[_Fields, _Fields] = (
    {"old_string": _is_text, "new_string": _is_text},
    {"replace_all": _is_flag},
)


def _are_steps(value: Any) -> bool:
    return type(value) is list and all(_fits(step, *_STEP) for step in value)


_SHAPES: dict[str, tuple[Callable[..., ToolCall], _Fields, _Fields]] = {
    "Read": (Read, {"file_path": _is_text}, {"offset": _is_count, "limit": _is_count}),
    "Write": (Write, {"file_path": _is_text, "content": _is_text}, {}),
    "Edit": (
        Edit,
        {"file_path": _is_text, "old_string": _is_text, "new_string": _is_text},
        {"replace_all": _is_flag},
    ),
    "MultiEdit": (MultiEdit, {"file_path": _is_text, "edits": _are_steps}, {}),
    "Bash": (
        Bash,
        {"command": _is_text},
        {
            "workdir": _is_text,
            "timeout_ms": _is_count,
            "description": _is_text,
            "run_in_background": _is_flag,
        },
    ),
}


def parse_call(name: str, input: Json) -> ToolCall:
    """The typed call for a canonical tool name and its input, or ``Raw``.

    A name that starts with ``/`` is a slash command when its input is an object with at most a string ``args``.
    """
    shape = _SHAPES.get(name)
    if shape is None:
        if name.startswith("/") and _fits(input, {}, {"args": _is_text}):
            return Command(name, input.get("args"))
        return Raw(name, input)
    build, required, optional = shape
    if not _fits(input, required, optional):
        return Raw(name, input)
    if build is MultiEdit:
        return MultiEdit(input["file_path"], tuple(EditStep(**step) for step in input["edits"]))
    return build(**input)


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


def call_name(call: ToolCall) -> str:
    """The canonical tool name of ``call``."""
    if type(call) is Raw:
        return call.tool_name
    if type(call) is Command:
        return call.command
    return type(call).__name__


def _given(call: Read | Write | Edit | EditStep | Bash) -> dict[str, Json]:
    return {field: value for field in call.__struct_fields__ if (value := getattr(call, field)) is not None}
