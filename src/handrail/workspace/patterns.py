"""Path patterns: ``*`` and ``?`` within a name, ``**`` across folders, ``[…]`` and ``{a,b}``."""

from __future__ import annotations

import functools
import re

_TOKEN = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?\]?[^\]]*\]|\{[^{}]*\}|.", re.DOTALL)


@functools.lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """``pattern`` for paths with ``/``; one without any ``/`` fits a file of that name in whatever folder."""
    wanted = pattern.removeprefix("./")
    if "/" not in wanted:
        wanted = f"**/{wanted}"
    return re.compile("".join(_translated(token) for token in _TOKEN.findall(wanted)), re.DOTALL)


def _translated(token: str) -> str:
    match token:
        case "**/":
            return "(?:[^/]+/)*"
        case "/**":
            return "/.+"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
    if len(token) > 1 and token[0] == "[":
        inner = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"(?!/)[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
    if len(token) > 1 and token[0] == "{":
        choices = token[1:-1].split(",")
        return "(?:" + "|".join("".join(map(_translated, _TOKEN.findall(choice))) for choice in choices) + ")"
    return re.escape(token)
