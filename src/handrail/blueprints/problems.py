"""What can be wrong with a blueprint: every code with its level, and a problem at its place in the file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

Level: TypeAlias = Literal["error", "warning", "note"]
"""An error cannot be run. A warning is most likely a mistake. A note says what one may want to know."""

Path: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to a place: ``("stages", 0, "edges", 1, "to")``."""

ERRORS = {
    "unreadable": "the file is no TOML or JSON, no UTF-8, or too large or too deep",
    "unknown-key": "a key that nothing reads",
    "missing-key": "a key that must be there is not",
    "bad-value": "a value that the key does not take",
    "duplicate-stage": "two stages have one name",
    "duplicate-region": "two regions have one name",
    "duplicate-point": "two points of a stage have one name",
    "reserved-name": "a stage is called end, which is where a run ends",
    "unknown-stage": "a stage is named that is not there",
    "unknown-region": "a region is named that is not declared",
    "unseen-region": "a stage needs a region that it does not see",
    "not-a-checklist": "open items of a region that is no checklist",
    "no-end": "no way leads from the entry to the end",
    "endless-self-loop": "a stage leads to itself without max_visits",
    "no-default": "the model chooses, and none of its edges is the default",
    "several-defaults": "several edges are the default",
    "unknown-tool": "a stage has a tool that nobody knows",
    "unknown-strategy": "a strategy that nobody knows",
    "required-tool-missing": "a strategy requires a tool that the stage does not have",
    "permission-for-no-tool": "a permission speaks of a tool that the stage does not have",
    "edge-of-no-tool": "an edge waits for a tool that the stage does not have",
    "worker-not-flagged": "a fan-out uses a stage that does not say is_worker",
    "way-to-a-worker": "an edge, a goto or the entry leads to a worker",
    "fan-out-of-itself": "a worker fans out to itself",
    "bad-schema": "an output's schema is no JSON Schema",
    "slow-pattern": "a regular expression in a schema may run for ever",
    "budgets-above-all": "regions that are seen together may take more than the whole window",
    "too-little-room": "what regions leave of the window is too little to work with",
    "document-not-pinned": "a point's document region is no pinned one",
}
WARNINGS = {
    "unreachable-stage": "no way leads to a stage",
    "no-way-out": "no way leads from a stage to the end",
    "endless-cycle": "stages lead to one another and none has max_visits",
    "dead-end": "the work of a stage may be done with no edge to take",
    "edge-never-taken": "an edge stands behind one that is always taken",
    "duplicate-edge": "two edges say the same",
    "nothing-to-choose": "the model chooses among one edge",
    "approval-binds-no-edge": "an approval does not say which of several edges is taken",
    "no-limit": "nothing bounds what a stage may spend",
    "never-stuck": "a stuck edge measures what the stage cannot do",
    "shell-without-rule": "a stage has a shell and no permission speaks of it",
    "asks-while-unattended": "a stage may ask although nobody may be watching",
    "waits-while-unattended": "a point waits for ever in a run that nobody may watch",
    "unknown-model": "no provider of that name",
    "unreachable-model": "a model that cannot be used on this machine",
    "region-never-seen": "a region that no stage sees",
    "region-never-written": "a required region that nothing can write",
    "unbounded-budget": "a share of the window without a cap",
    "document-too-small": "a document region that a long document does not fit in",
    "summed-up": "a region that must stay word for word is one that is summed up",
    "unknown-field": "an edge tests a part of the output that its schema does not have",
    "no-escape": "a fan-out fails its stage, and no edge is there for errors",
    "output-skipped": "a run may end before a stage that has an output",
    "no-instructions": "a stage tells its model nothing",
    "looks-like-regex": "a pattern that looks like a regular expression; only * is one here",
    "worker-with-points": "a point in a worker asks once for each item",
}
NOTES = {
    "holds-unattended": "a point that holds a run that nobody watches",
    "permissions-declared": "calls that the author lets run without asking",
    "command-seed": "a region that begins with what a command prints",
    "unchecked-tool": "a tool of a server, which cannot be looked up here",
}
CODES: dict[str, tuple[Level, str]] = {
    **{code: ("error", meaning) for code, meaning in ERRORS.items()},
    **{code: ("warning", meaning) for code, meaning in WARNINGS.items()},
    **{code: ("note", meaning) for code, meaning in NOTES.items()},
}
"""The level and the meaning of every code but those of points, which ``point_faults`` has."""

_SHOWN = 300


class Finding(Struct, frozen=True, kw_only=True):
    """A problem at a place in the model: what a check gives."""

    level: Level
    code: str
    path: Path
    message: str
    suggestion: str | None = None


class Problem(Struct, frozen=True, kw_only=True):
    """A problem at a place in a file.

    ``path`` spells the place (``stages[0].edges[1].to``; empty for the whole), ``line`` counts from 1 and is None
    where there is no file. ``suggestion`` is what was probably meant, or what to do.
    """

    level: Level
    code: str
    path: str
    line: int | None
    message: str
    suggestion: str | None = None


def finding(code: str, path: Path, message: str, suggestion: str | None = None) -> Finding:
    """The finding ``code``, at the level that the table gives it."""
    return Finding(level=CODES[code][0], code=code, path=path, message=shown(message), suggestion=suggestion)


def shown(text: str, limit: int = _SHOWN) -> str:
    """``text`` on one line, cut for a message: what stands in a file may be hostile and endless."""
    line = "".join(character if character.isprintable() else "�" for character in text[: limit + 1])
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def nearest(given: str, known: Iterable[str]) -> str | None:
    """The one of ``known`` that was probably meant by ``given``, case aside; None where none is near."""
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(name.casefold().replace("_", "-"), name)
    near = difflib.get_close_matches(given[:100].casefold().replace("_", "-"), list(folded)[:2000], n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def spelled(path: Path) -> str:
    """``path`` as a reader writes it: ``stages[0].edges[1].to``, a key that is no plain word in quotes."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            word = step if step.replace("_", "").replace("-", "").isalnum() else f'"{shown(step, 80)}"'
            text += f".{word}" if text else word
    return text
