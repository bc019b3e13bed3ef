"""A hook in another tool's JSON settings: put in and taken out by changing the bytes of nothing else; pure.

The text is not written anew: the place is found in it, and only there something is put in or taken out. Keys that
nobody here knows, their order, the indentation and the line ends stay as they are. Taking out what was put in gives
the bytes there were before (an object or a list that was there and empty, other than the outermost, goes too).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from handrail.errors import HandrailError
from handrail.learning.checks.hosts import EVENTS

_SPACES = " \t\r\n"
_HOOKS = "hooks"


class Unchangeable(HandrailError, ValueError):
    """Settings that cannot be changed without risk, and why; nothing was changed."""

    code = "settings"
    exit_code = 4


class _Item(NamedTuple):
    """A member of an object or an element of a list: where it begins and ends, and where its value begins."""

    key: str | None
    start: int
    value: int
    end: int


def with_hook(data: bytes, command: str, timeout_s: int) -> bytes:
    """``data`` (empty: there was no file) with a handler that runs ``command`` for each event a check looks at.

    Raises ``Unchangeable`` for settings that are no JSON object, or hold something else where hooks belong.
    """
    text = decoded(data)
    if not text.strip():
        handlers = {event: [_group(command, timeout_s)] for event in EVENTS}
        return (json.dumps({_HOOKS: handlers}, indent=2, ensure_ascii=False) + "\n").encode()
    for event in EVENTS:
        text = _with_group(text, event, _group(command, timeout_s))
    return _checked(text).encode()


def without_hook(data: bytes, mark: str) -> bytes:
    """``data`` without the groups whose only handler has ``mark`` in its command, and such handlers in other groups."""
    text = decoded(data)
    if not text.strip():
        return data
    while (path := _path_to(_parsed(text), mark)) is not None:
        text = _without(text, path)
    return _checked(text).encode()


def has_hook(data: bytes, mark: str) -> bool:
    """Whether a handler with ``mark`` in its command is in the settings; ``Unchangeable`` where they cannot be read."""
    text = decoded(data)
    return bool(text.strip()) and _path_to(_parsed(text), mark) is not None


def _group(command: str, timeout_s: int) -> dict[str, Any]:
    return {_HOOKS: [{"type": "command", "command": command, "timeout": timeout_s}]}


# Reading ---------------------------------------------------------------------------------------------------


def decoded(data: bytes) -> str:
    """The text of settings; ``Unchangeable`` where they are not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Unchangeable(f"the settings are not UTF-8: {problem.reason}") from problem


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as problem:
        raise Unchangeable(f"the settings are no JSON: {problem}") from problem
    if not isinstance(found, dict):
        raise Unchangeable("the settings are no JSON object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, refused where a key stands twice: which of the two counts is anybody's guess."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _checked(text: str) -> str:
    _parsed(text)
    return text


def _path_to(settings: Mapping[str, Any], mark: str) -> tuple[str | int, ...] | None:
    """The way to what is to go: the handler, or as much around it as holds nothing else."""
    hooks = settings.get(_HOOKS)
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups) if isinstance(groups, list) else ():
            handlers = group.get(_HOOKS) if isinstance(group, dict) else None
            for place, handler in enumerate(handlers) if isinstance(handlers, list) else ():
                command = handler.get("command") if isinstance(handler, dict) else None
                if isinstance(command, str) and mark in command:
                    return _widened((_HOOKS, event, number, _HOOKS, place), hooks, groups, handlers)
    return None


def _widened(path: tuple[str | int, ...], hooks: Any, groups: Any, handlers: Any) -> tuple[str | int, ...]:
    if len(handlers) > 1:
        return path
    if len(groups) > 1:
        return path[:3]
    return path[:2] if len(hooks) > 1 else path[:1]


# Writing ---------------------------------------------------------------------------------------------------


def _with_group(text: str, event: str, group: Mapping[str, Any]) -> str:
    settings = _parsed(text)
    hooks = settings.get(_HOOKS)
    start = _skip(text, 0)
    if hooks is None and _HOOKS not in settings:
        return _put(text, start, (_HOOKS, {event: [group]}))
    if not isinstance(hooks, dict):
        raise Unchangeable("something else stands where the settings keep hooks")
    place = _value_of(text, start, _HOOKS)
    if event not in hooks:
        return _put(text, place, (event, [group]))
    if not isinstance(hooks[event], list):
        raise Unchangeable(f"something else stands where the settings keep hooks for {event}")
    return _put(text, _value_of(text, place, event), (None, group))


def _put(text: str, container: int, what: tuple[str | None, Any]) -> str:
    """``what`` as the last item of the object or list that begins at ``container``."""
    items = _items(text, container)
    close = _close(text, container, items)
    line = "\r\n" if "\r\n" in text else "\n"
    outer = _indent_of(text, container)
    unit = _unit(text)
    inner = outer + unit
    if items:
        inner = _indent_of(text, items[-1].start)
    key, value = what
    spelled = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"{line}{inner}")
    member = spelled if key is None else f"{json.dumps(key)}: {spelled}"
    if items:
        end = items[-1].end
        return f"{text[:end]},{line}{inner}{member}{text[end:]}"
    return f"{text[: container + 1]}{line}{inner}{member}{line}{outer}{text[close:]}"


def _without(text: str, path: Sequence[str | int]) -> str:
    container = _skip(text, 0)
    for step in path[:-1]:
        container = _value_of(text, container, step)
    items = _items(text, container)
    number = _number(items, path[-1])
    if len(items) == 1:
        return text[: container + 1] + text[_close(text, container, items) :]
    if number:
        return text[: items[number - 1].end] + text[items[number].end :]
    return text[: items[0].start] + text[items[1].start :]


def _value_of(text: str, container: int, step: str | int) -> int:
    items = _items(text, container)
    return items[_number(items, step)].value


def _number(items: Sequence[_Item], step: str | int) -> int:
    return step if isinstance(step, int) else next(n for n, item in enumerate(items) if item.key == step)


def _items(text: str, container: int) -> list[_Item]:
    """What the object or list that begins at ``container`` holds; the text is known to be JSON."""
    is_object = text[container] == "{"
    decoder = json.JSONDecoder()
    found: list[_Item] = []
    at = _skip(text, container + 1)
    while text[at] not in "]}":
        start, key = at, None
        if is_object:
            key, at = decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value = at
        _, at = decoder.raw_decode(text, at)
        found.append(_Item(key, start, value, at))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _close(text: str, container: int, items: Sequence[_Item]) -> int:
    return _skip(text, items[-1].end if items else container + 1)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACES:
        at += 1
    return at


def _indent_of(text: str, at: int) -> str:
    """The white space that the line of ``at`` begins with."""
    begin = text.rfind("\n", 0, at) + 1
    return text[begin : begin + len(text[begin:]) - len(text[begin:].lstrip(" \t"))]


def _unit(text: str) -> str:
    """What one step of indentation is in this text."""
    outer = _items(text, _skip(text, 0))
    indent = _indent_of(text, outer[0].start) if outer and "\n" in text[: outer[0].start] else ""
    return indent or "  "
