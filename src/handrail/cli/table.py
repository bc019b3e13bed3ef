"""Tables in plain text: columns as wide as they need, the flexible one cut to what the terminal leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handrail.cli.cells import cut, one_line, pad, width

_GAP = "  "
_LEAST_FLEXIBLE = 8


@dataclass(frozen=True)
class Column:
    """A heading, numbers to the right (``right``), and whether the column gives way when space is short."""

    heading: str
    right: bool = False
    flexible: bool = False


def render_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], limit: int | None) -> list[str]:
    """Lines of the table, heading first. ``limit`` is the width of the terminal in cells; None: no limit.

    Cells are put on one line each and scrubbed. A column without any content is left out.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    shown = [index for index in range(len(columns)) if any(row[index] for row in cells)]
    widths = {index: max(width(columns[index].heading), *(width(row[index]) for row in cells)) for index in shown}
    if limit is not None:
        _give_way(widths, columns, limit)
    lines = [_line([columns[index].heading for index in shown], shown, widths, columns)]
    lines += [_line([row[index] for index in shown], shown, widths, columns) for row in cells]
    return lines if limit is None else [cut(line, limit) for line in lines]


def _give_way(widths: dict[int, int], columns: Sequence[Column], limit: int) -> None:
    excess = sum(widths.values()) + len(_GAP) * (len(widths) - 1) - limit
    while excess > 0:
        flexible = [index for index in widths if columns[index].flexible and widths[index] > _LEAST_FLEXIBLE]
        if not flexible:
            return
        widest = max(flexible, key=lambda index: widths[index])
        widths[widest] -= 1
        excess -= 1


def _line(texts: Sequence[str], shown: Sequence[int], widths: dict[int, int], columns: Sequence[Column]) -> str:
    parts = [
        pad(cut(text, widths[index]), widths[index], right=columns[index].right)
        for text, index in zip(texts, shown, strict=True)
    ]
    return _GAP.join(parts).rstrip()
