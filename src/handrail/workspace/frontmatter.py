"""The head of a Markdown file: ``key: value`` lines between two ``---``."""

from __future__ import annotations

import re

_HEAD = re.compile(r"\A---[ \t]*\r?\n(?P<head>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"(?P<key>[A-Za-z][\w-]*):[ \t]*(?P<value>.*)")


def split_frontmatter(text: str) -> tuple[dict[str, str], str]:
    """``(head, rest)``. Values are plain text, quotes around them taken off; lines indented below a key belong to it.

    Without a head the first is empty and the second all of ``text``.
    """
    found = _HEAD.match(text.removeprefix("\ufeff"))
    if found is None:
        return {}, text
    return _pairs(found["head"].splitlines()), text.removeprefix("\ufeff")[found.end() :]


def _pairs(lines: list[str]) -> dict[str, str]:
    head: dict[str, str] = {}
    key: str | None = None
    for line in lines:
        if key is not None and line[:1] in {" ", "\t"} and line.strip():
            head[key] = f"{head[key]} {line.strip()}".strip()
        elif found := _KEY.fullmatch(line.rstrip()):
            key = found["key"].lower()
            head[key] = _plain(found["value"])
    return head


def _plain(value: str) -> str:
    if value in {"|", ">", "|-", ">-"}:
        return ""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
