"""What can be made of plain data that is no blueprint, so that the rest of it can be checked all the same.

What is wrong is left out, or stands as what was probably meant, or as something harmless: nothing moves, so that a
place in what is left is the same place in the file.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from handrail.blueprints.faults import structural_findings
from handrail.blueprints.forms import from_plain
from handrail.blueprints.model import Blueprint
from handrail.blueprints.problems import Finding, Path

_TRIES = 4
_STAND_INS: dict[str, Any] = {
    "to": "end",
    "prompt": "?",
    "tool": "*",
    "region": "conversation",
    "schema": {"type": "object"},
    "stages": [{"name": "stage"}],
}


def salvaged(plain: Any, findings: Sequence[Finding]) -> tuple[Blueprint | None, tuple[Finding, ...]]:
    """The blueprint that is left of ``plain`` without what ``findings`` complain of; None where none is.

    With it come the faults that were hidden behind the first ones.
    """
    if not isinstance(plain, dict):
        return None, ()
    left = copy.deepcopy(plain)
    hidden: list[Finding] = []
    mended: set[Path] = set()
    for _ in range(_TRIES):
        for number, found in enumerate(findings):
            _mend(left, found, f"x-{number}")
            mended |= {found.path[:length] for length in range(len(found.path) + 1)}
        try:
            return from_plain(left), tuple(hidden)
        except ValidationError as problem:
            findings = structural_findings(problem, left)
            # A fault of what was mended, or of what it is in, may come of the mending.
            hidden += [found for found in findings if found.path not in mended]
    return None, tuple(hidden)


def _mend(plain: dict[str, Any], found: Finding, name: str) -> None:
    """Take away what ``found`` is about, or put something harmless there; a list keeps its length or goes whole."""
    path = found.path
    while path:
        holder, key = _holder(plain, path)
        if isinstance(holder, dict) and isinstance(key, str):
            if key in ("kind", "when") and found.suggestion is None:
                _put_harmless(plain, path[:-1], name)
            elif key in ("kind", "when"):
                holder[key] = found.suggestion
            elif key == "name":
                holder[key] = name
            elif key in _STAND_INS and (key != "region" or "when" in holder):
                holder[key] = copy.deepcopy(_STAND_INS[key])
            else:
                holder.pop(key, None)
            return
        if isinstance(holder, list) and isinstance(key, int) and isinstance(holder[key], dict):
            _put_harmless(plain, path, name)
            return
        path = path[:-1]  # a list of words goes whole


def _put_harmless(plain: dict[str, Any], path: Path, name: str) -> None:
    """Put an entry that says nothing in the place of the one at ``path``."""
    holder, key = _holder(plain, path)
    given = holder[key].get("name") if isinstance(holder[key], dict) else None
    called = given if isinstance(given, str) else name
    match path[-2:-1]:
        case ("edges",):
            holder[key] = {"to": "end"}
        case ("points",):
            holder[key] = {"name": called, "prompt": "?"}
        case ("regions",):
            holder[key] = {"name": called, "kind": "pinned"}
        case _:
            holder[key] = {"name": called}


def _holder(plain: Any, path: Path) -> tuple[Any, Any]:
    """What holds the place at ``path``, and its key there; None for the holder where there is none."""
    for step in path[:-1]:
        try:
            plain = plain[step]
        except (LookupError, TypeError):
            return None, path[-1]
    return plain, path[-1]
