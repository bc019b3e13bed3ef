"""Whether a regular expression of a schema can be made to run for ever by the text it is put to.

Python's engine goes back and tries again; how often grows with the repeats that have no bound, and without any measure
where one stands within another. So few of them are let through, and none within another. Nothing is matched for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

MAX_LENGTH = 500
MAX_REPEATS = 2
"""How many repeats without a bound a pattern may have that begins at the start of the text; one fewer elsewhere."""

_LARGE = 100
"""A repeat of so many times or more counts as one without a bound."""

_PRODUCT = 40
"""How often something of no fixed length may be repeated, times how long it may be: an IPv6 address has 7 times 4."""

_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<opens>\()(?:\?(?:P?<[^>=!]*>|[:=!]|<[=!]))?|(?P<closes>\))"
    r"|(?P<repeat>[*+?]|\{(?P<least>[0-9]*)(?P<comma>,?)(?P<most>[0-9]*)\})|(?P<either>\|)|.",
    re.DOTALL,
)


def why_refused(pattern: str) -> str | None:
    """Why ``pattern`` is not taken, in words: it may run for ever; None where it cannot."""
    if len(pattern) > MAX_LENGTH:
        return f"it has {len(pattern):,} characters, and {MAX_LENGTH} are the most"
    allowed = MAX_REPEATS if pattern.startswith("^") else MAX_REPEATS - 1
    repeats = 0
    for is_endless, holds in _repeats(pattern):
        if holds:
            return f"it repeats what {holds}: a text could make it run for ever"
        repeats += is_endless
    if repeats > allowed:
        return f"it has {repeats} repeats without a bound, and {allowed} are the most{_unless(pattern)}"
    return None


def _unless(pattern: str) -> str:
    return "" if pattern.startswith("^") else f" ({MAX_REPEATS} when it begins with ^)"


def _repeats(pattern: str) -> Iterator[tuple[bool, str]]:
    """For each repeat: whether it has no bound, and what speaks against what it repeats (empty: nothing).

    ``last`` is how many lengths what stands before a repeat may have, 0 when it has one only; ``groups`` is the same
    for each group that is open.
    """
    groups: list[float] = [0.0]
    last = 0.0
    for token in _TOKEN.finditer(pattern):
        if token["opens"]:
            groups.append(0.0)
            last = 0.0
        elif token["closes"]:
            last = groups.pop() if len(groups) > 1 else 0.0
            groups[-1] = max(groups[-1], last)
        elif token["either"]:
            groups[-1] = max(groups[-1], _ALTERNATIVES)
            last = 0.0
        elif token["repeat"] and (counts := _counts(token)) is not None:
            least, most = counts
            yield most >= _LARGE, "has no fixed length" if most > 1 and most * last > _PRODUCT else ""
            last = most * (max(last, 1.0) if least != most else last)
            groups[-1] = max(groups[-1], last)
        else:
            last = 0.0


_ALTERNATIVES = 4.0
"""Alternatives, as if they were a repeat of so many times."""


def _counts(token: re.Match[str]) -> tuple[float, float] | None:
    """How often at least and at most something is repeated; None for braces that are plain text."""
    match token["repeat"]:
        case "*" | "+":
            return 0.0, math.inf
        case "?":
            return 0.0, 1.0
    if not token["least"] and not token["most"]:
        return None
    least = float(token["least"] or 0)
    return least, math.inf if token["comma"] and not token["most"] else float(token["most"] or least)
