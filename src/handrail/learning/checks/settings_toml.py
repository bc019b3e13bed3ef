"""A hook in another tool's TOML settings: our own marked part at the end, and nothing else touched; pure.

What other programs put between our lines later (Codex keeps there which hooks its person trusts) is not ours and
stays when our part is taken out.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from handrail.learning.checks.hosts import EVENTS
from handrail.learning.checks.settings_json import Unchangeable, decoded

BEGIN = "# handrail hook: begin (`handrail hook remove codex` takes this out)"
END = "# handrail hook: end"


def with_hook(data: bytes, command: str, timeout_s: int) -> bytes:
    """``data`` (empty: there was no file) with a handler that runs ``command`` for each event a check looks at.

    Raises ``Unchangeable`` for settings that are no TOML, or keep hooks in a form that cannot be added to.
    """
    before = _parsed(data)
    line = "\r\n" if b"\r\n" in data else "\n"
    part = line.join((BEGIN, *(text for event in EVENTS for text in _lines(event, command, timeout_s)), END, ""))
    gap = "" if not data else line if data.endswith(b"\n") else line + line
    after = data + (gap + part).encode()
    try:
        found = _parsed(after)
    except Unchangeable as problem:
        hint = "the file keeps its hooks in a form that cannot be added to: put them into hooks.json beside it"
        raise Unchangeable("a hook cannot be added to these settings", hint=hint) from problem
    if _without_own(found, command) != _without_empty(before):
        raise Unchangeable("adding a hook would change what else stands in these settings")
    return after


def without_hook(data: bytes, mark: str) -> bytes:
    """``data`` without our own part; what others put into it stays."""
    text = decoded(data)
    event = "|".join(map(re.escape, EVENTS))
    table = rf"\[\[hooks\.(?:{event})\]\]\r?\n"
    handler = (
        rf"\[\[hooks\.(?:{event})\.hooks\]\]\r?\ntype = \"command\"\r?\n"
        rf"command = [^\r\n]*{re.escape(mark)}[^\r\n]*\r?\ntimeout = \d+\r?\n"
    )
    after = re.sub(table + handler, "", text)
    after = re.sub(rf"(?:(?<=\n)\r?\n)?{re.escape(BEGIN)}\r?\n", "", after)
    after = re.sub(rf"{re.escape(END)}(?:\r?\n|\Z)", "", after)
    _parsed(after.encode())
    return after.encode()


def has_hook(data: bytes, mark: str) -> bool:
    """Whether a handler with ``mark`` in its command is in the settings; ``Unchangeable`` where they cannot be read."""
    return any(mark in command for command in _commands(_parsed(data)))


def has_hooks(data: bytes) -> bool:
    """Whether the settings keep any hooks."""
    return any(True for _ in _commands(_parsed(data)))


def _lines(event: str, command: str, timeout_s: int) -> tuple[str, ...]:
    return (
        f"[[hooks.{event}]]",
        f"[[hooks.{event}.hooks]]",
        'type = "command"',
        f"command = {_string(command)}",
        f"timeout = {timeout_s}",
    )


def _string(text: str) -> str:
    """``text`` as a TOML string on one line."""
    if "'" not in text and text.isprintable():
        return f"'{text}'"
    escaped = "".join(f"\\U{ord(char):08X}" if char in '"\\' or not char.isprintable() else char for char in text)
    return f'"{escaped}"'


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(decoded(data))
    except tomllib.TOMLDecodeError as problem:
        raise Unchangeable(f"the settings are no TOML: {problem}") from problem


def _commands(settings: dict[str, Any]) -> list[str]:
    hooks = settings.get("hooks")
    groups = (
        [group for held in hooks.values() if isinstance(held, list) for group in held]
        if isinstance(hooks, dict)
        else []
    )
    handlers = [one for group in groups if isinstance(group, dict) for one in _list(group.get("hooks"))]
    return [str(one.get("command", "")) for one in handlers if isinstance(one, dict)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _without_own(settings: dict[str, Any], command: str) -> dict[str, Any]:
    """``settings`` as they would be without the groups that hold our handler alone."""
    hooks = settings.get("hooks", {})
    left = {
        event: [group for group in held if not _is_own(group, command)] if isinstance(held, list) else held
        for event, held in hooks.items()
    }
    return _without_empty({**settings, "hooks": left})


def _is_own(group: Any, command: str) -> bool:
    handlers = _list(group.get("hooks")) if isinstance(group, dict) else []
    return [one.get("command") for one in handlers if isinstance(one, dict)] == [command]


def _without_empty(settings: dict[str, Any]) -> dict[str, Any]:
    """``settings`` without events that have no hooks, and without hooks where there are none."""
    hooks = {event: held for event, held in settings.get("hooks", {}).items() if held != []}
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    return {**rest, "hooks": hooks} if hooks else rest
