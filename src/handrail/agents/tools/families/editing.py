"""Exact replacements in a file's bytes; nothing is guessed, and a failure says how to mend the call."""

from __future__ import annotations

from handrail.agents.tool import ToolError

_NAMED_LINES = 5


def replaced(data: bytes, old: str, new: str, *, replaces_all: bool, path: str) -> tuple[bytes, int]:
    """``(data, count)`` with ``old`` replaced by ``new``; ``ToolError`` unless it is there exactly once.

    ``replaces_all`` takes any number of places. In a file whose lines all end in CR LF, ``old`` and ``new`` are meant
    with such ends when they have none of their own.
    """
    if not old:
        raise ToolError("old_string is empty: say what to replace, or use Write for a whole file")
    if old == new:
        raise ToolError("old_string and new_string are the same: nothing would change")
    before, after = old.encode(), new.encode()
    if _has_crlf_only(data) and b"\r" not in before:
        before, after = before.replace(b"\n", b"\r\n"), after.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    count = data.count(before)
    if count == 0:
        raise ToolError(f"old_string is not in {path}.{_near_miss(data, old)}")
    if count > 1 and not replaces_all:
        raise ToolError(
            f"old_string is in {path} {count} times ({_places(data, before)}): "
            "give more of what is around the right one, or set replace_all"
        )
    return data.replace(before, after), count


def _has_crlf_only(data: bytes) -> bool:
    return b"\r\n" in data and data.count(b"\n") == data.count(b"\r\n")


def _near_miss(data: bytes, old: str) -> str:
    """Where ``old`` would be if white space did not count; "" when nowhere."""
    wanted = [" ".join(line.split()) for line in old.strip().splitlines()]
    lines = [" ".join(line.split()) for line in data.decode("utf-8", "replace").splitlines()]
    for start in range(len(lines) - len(wanted) + 1):
        if lines[start : start + len(wanted)] == wanted:
            return f" Lines {start + 1}-{start + len(wanted)} differ from it in white space only: copy them exactly."
    return " Read the file again and copy the text exactly, without line numbers."


def _places(data: bytes, wanted: bytes) -> str:
    found: list[int] = []
    at = data.find(wanted)
    while at >= 0 and len(found) < _NAMED_LINES:
        found.append(data.count(b"\n", 0, at) + 1)
        at = data.find(wanted, at + len(wanted))
    return f"lines {', '.join(map(str, found))}{', …' if at >= 0 else ''}"
