"""Text in terminal cells: how wide it is, cutting it, and taking out what would move the cursor."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
# C0 and C1 controls, line and paragraph separators, and the marks that reverse the direction of what follows.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_UNSAFE_BUT_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SPACES = re.compile(r"\s+")
_WIDE_PRESENTATION = "\ufe0f"


def scrub(text: str, *, keep_lines: bool = False) -> str:
    """``text`` with every control character replaced by one space; line feeds and tabs stay with ``keep_lines``."""
    return (_UNSAFE_BUT_LINES if keep_lines else _UNSAFE).sub(" ", text)


def one_line(text: str) -> str:
    """``text`` on one line, scrubbed, each run of white space one space."""
    return _SPACES.sub(" ", scrub(text)).strip()


def width(text: str) -> int:
    """How many cells a terminal needs for ``text``: two for wide characters, none for marks that combine."""
    if text.isascii():
        return len(text)
    cells = 0
    last = 0
    for char in text:
        if char == _WIDE_PRESENTATION:
            cells += 2 - last if last else 0
            last = 2
            continue
        last = _cells(char)
        cells += last
    return cells


def cut(text: str, cells: int) -> str:
    """``text`` in at most ``cells`` cells, an ellipsis at the end where something was cut."""
    if width(text) <= cells:
        return text
    if cells <= 0:
        return ""
    kept = ""
    for char in text:
        if width(kept + char) > cells - 1:
            break
        kept += char
    return kept + ELLIPSIS


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """``text`` filled with spaces to ``cells`` cells; ``right`` puts them before it."""
    fill = " " * max(0, cells - width(text))
    return fill + text if right else text + fill


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def wrap(text: str, cells: int, lines: int) -> list[str]:
    """``text`` broken at spaces into at most ``lines`` lines of ``cells`` cells; a cut one ends in an ellipsis."""
    rows: list[str] = []
    rest = text
    while width(rest) > cells and len(rows) < lines - 1:
        row = _fitting(rest, cells)
        rows.append(row.rstrip())
        rest = rest[len(row) :].lstrip()
    return [*rows, cut(rest, cells)]


def _fitting(text: str, cells: int) -> str:
    """The start of ``text`` that fits into ``cells``, up to its last space where it has one."""
    used = 0
    end = 0
    for char in text:
        used += width(char)
        if used > cells:
            break
        end += 1
    end = max(end, 1)
    space = text.rfind(" ", 1, end + 1)
    return text[: space + 1] if space > 0 else text[:end]
