"""Session files damaged as crashes, full disks and careless writers damage them, by a seed.

The wounds are those of public reports: files cut at a byte, rows cut and the next glued to the stub, line feeds lost,
runs of NUL over or between bytes, rows written twice, stretches of history written again, rows never written.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from msgspec import Struct

Rows = list[bytes]
"""The lines of a file, each with its line feed."""


class Damaged(Struct, frozen=True):
    """The bytes, and what was done to them in order."""

    data: bytes
    wounds: tuple[str, ...]


def damaged(data: bytes, seed: int) -> Damaged:
    """``data`` with one to four wounds; the same for the same ``seed``."""
    dice = random.Random(seed)
    rows = [row for row in re.split(rb"(?<=\n)", data) if row]
    done: list[str] = []
    for _ in range(dice.randint(1, 4)):
        wound = dice.choice(_WOUNDS)
        if rows:
            rows = wound(rows, dice)
            done.append(wound.__name__.removeprefix("_"))
    return Damaged(b"".join(rows), tuple(done))


def _cut_end(rows: Rows, dice: random.Random) -> Rows:
    """The file ends in the middle of one of its last rows."""
    at = max(0, len(rows) - dice.randint(1, 3))
    row = rows[at]
    return [*rows[:at], row[: dice.randrange(1, max(2, len(row)))]]


def _cut_row(rows: Rows, dice: random.Random) -> Rows:
    """A row was cut, and the next stands on the same line."""
    at = dice.randrange(len(rows))
    row = rows[at]
    return [*rows[:at], row[: dice.randrange(1, max(2, len(row) - 1))], *rows[at + 1 :]]


def _cut_line(rows: Rows, dice: random.Random) -> Rows:
    """A row was cut, and has its line for itself; at times it was written again whole."""
    at = dice.randrange(len(rows))
    row = rows[at]
    stub = row[: dice.randrange(1, max(2, len(row) - 1))].rstrip(b"\n") + b"\n"
    return [*rows[:at], stub, *rows[at + dice.randint(0, 1) :]]


def _glue(rows: Rows, dice: random.Random) -> Rows:
    """A line feed was lost."""
    at = dice.randrange(len(rows))
    return [*rows[:at], rows[at].removesuffix(b"\n"), *rows[at + 1 :]]


def _nul_between(rows: Rows, dice: random.Random) -> Rows:
    """A run of NUL stands between two rows."""
    at = dice.randrange(len(rows) + 1)
    return [*rows[:at], bytes(dice.randint(1, 700)) + dice.choice((b"", b"\n")), *rows[at:]]


def _nul_over(rows: Rows, dice: random.Random) -> Rows:
    """A run of NUL stands where other bytes stood."""
    at = dice.randrange(len(rows))
    row = rows[at]
    start = dice.randrange(len(row))
    end = min(len(row), start + dice.randint(1, 400))
    return [*rows[:at], row[:start] + bytes(end - start) + row[end:], *rows[at + 1 :]]


def _nul_inside(rows: Rows, dice: random.Random) -> Rows:
    """A run of NUL stands inside a row, whose bytes are all there."""
    at = dice.randrange(len(rows))
    row = rows[at]
    start = dice.randrange(len(row))
    return [*rows[:at], row[:start] + bytes(dice.randint(1, 300)) + row[start:], *rows[at + 1 :]]


def _twice(rows: Rows, dice: random.Random) -> Rows:
    """A row was written twice."""
    at = dice.randrange(len(rows))
    return [*rows[: at + 1], *rows[at:]]


def _again(rows: Rows, dice: random.Random) -> Rows:
    """A stretch of history was written again, at once or later."""
    start = dice.randrange(len(rows))
    end = min(len(rows), start + dice.randint(4, 12))
    at = dice.choice((end, len(rows)))
    return [*rows[:at], *rows[start:end], *rows[at:]]


def _drop(rows: Rows, dice: random.Random) -> Rows:
    """Rows were never written."""
    start = dice.randrange(len(rows))
    return [*rows[:start], *rows[start + dice.randint(1, 3) :]]


_WOUNDS: tuple[Callable[[Rows, random.Random], Rows], ...] = (
    _cut_end,
    _cut_row,
    _cut_line,
    _glue,
    _nul_between,
    _nul_over,
    _nul_inside,
    _twice,
    _again,
    _drop,
)
