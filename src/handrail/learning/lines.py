"""The lines of a session: the live one and those that left it, each as one body from the start."""

from __future__ import annotations

from typing import NamedTuple

from handrail.transcripts.codec import Branch
from handrail.transcripts.model import Common

REACH = 200
"""How many messages before a branch are read again to tell what stands around its moments."""


class Line(NamedTuple):
    """``body`` is a line of a session, whole or from shortly before its own messages on; these begin at ``start``.

    ``branch`` is None for the live line, whose start is 0. ``is_cut``: something stands before the body.
    """

    branch: str | None
    start: int
    body: Common
    is_cut: bool = False


def line_of(live: Common, branch: Branch | None = None, *, reach: int | None = None) -> Line:
    """The line of ``branch``, or the live one.

    With ``reach`` only so many messages before the branch are in it: a session may have left very many lines.
    """
    if branch is None:
        return Line(None, 0, live)
    end = min(max(branch.at, 0), len(live))
    first = 0 if reach is None else max(0, end - reach)
    shared = live[first:end]
    return Line(branch.id, len(shared), (*shared, *branch.body), is_cut=first > 0)
