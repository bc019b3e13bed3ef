"""The lines of a session: the live one and those that left it, each as one body from the start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from handrail.transcripts.codec import Branch
from handrail.transcripts.model import Common


class Line(NamedTuple):
    """``body`` is the whole line from its first message; its own messages begin at ``start``.

    ``branch`` is None for the live line, whose start is 0.
    """

    branch: str | None
    start: int
    body: Common


def lines_of(live: Common, branches: Iterable[Branch]) -> dict[str | None, Line]:
    """Every line by its branch id; the live one, under None, comes last, for what was left came before."""
    lines: dict[str | None, Line] = {
        branch.id: Line(branch.id, branch.at, (*live[: branch.at], *branch.body)) for branch in branches
    }
    lines[None] = Line(None, 0, live)
    return lines
