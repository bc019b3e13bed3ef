"""Reading the head of a file for evidence of who wrote it."""

from __future__ import annotations

from typing import Any

from handrail import jsonio

MAX_ROWS = 200
MAX_BYTES = 4_000_000


def head_rows(data: bytes) -> list[dict[str, Any]]:
    """The JSON objects among the first lines of ``data``; lines that are none are left out.

    At most ``MAX_ROWS`` lines, and none that begins after ``MAX_BYTES``: a verdict needs no more.
    """
    rows: list[dict[str, Any]] = []
    for count, (start, end) in enumerate(jsonio.iter_lines(data)):
        if count >= MAX_ROWS or start > MAX_BYTES:
            break
        if not data[start:end].strip():
            continue
        try:
            row = jsonio.decode(data[start:end].removeprefix(jsonio.BOM))
        except jsonio.NotJson:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def share(good: int, of: int) -> float:
    """``good`` as a part of ``of``, 0 for none of none."""
    return good / of if of else 0.0
