"""Reading a blueprint from bytes: what it says, or everything that is wrong with how it is written.

Nothing is raised for what stands in a file, however hostile.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from pydantic import ValidationError

from handrail.blueprints.faults import structural_findings
from handrail.blueprints.forms import from_plain
from handrail.blueprints.model import Blueprint
from handrail.blueprints.problems import Finding, Path, finding
from handrail.blueprints.salvage import salvaged
from handrail.blueprints.toml_places import MAX_DEPTH, TooDeep, find_places
from handrail.transcripts.model import Json

MAX_BYTES = 262_144
"""A larger file is refused unread: a blueprint is written by hand, and a large one has a few thousand bytes."""

Form: TypeAlias = Literal["toml", "json"]
FORMS: tuple[Form, ...] = ("toml", "json")


class Reading(Struct, frozen=True, kw_only=True):
    """What came of reading.

    ``blueprint`` is None when ``findings`` (about the form alone) has any. ``rest`` is then what could be made out
    of the file all the same, so that it can be checked for more; None where nothing could. ``places`` has the line of
    each place that is known.
    """

    blueprint: Blueprint | None
    findings: tuple[Finding, ...] = ()
    rest: Blueprint | None = None
    places: Mapping[Path, int] = {}


def read_blueprint(data: bytes, form: Form) -> Reading:
    """The blueprint in ``data``, or why there is none."""
    if len(data) > MAX_BYTES:
        return _unreadable(f"the file has more than {MAX_BYTES:,} bytes, which is the most a blueprint may have")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        return _unreadable(f"the file is not UTF-8: {problem.reason} (byte {problem.start})", line)
    return _read_toml(text) if form == "toml" else _read_json(text)


def _read_toml(text: str) -> Reading:
    try:
        places = find_places(text)
        plain = tomllib.loads(text)
    except TooDeep as problem:
        return _unreadable(str(problem), problem.line)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        # A ValueError that is no TOMLDecodeError comes of a date that does not exist.
        said = str(problem) or "it is nested too deeply"
        found = re.search(r" \(at line (\d+), column \d+\)", said)
        words = said.replace(found[0], "") if found else said.replace("(at end of document)", "at the end of the file")
        line = int(found[1]) if found else text.count("\n") + 1
        return _unreadable(f"not TOML: {words[:1].lower()}{words[1:]}", line)
    return reading_of(plain, places)


def _read_json(text: str) -> Reading:
    try:
        plain = json.loads(text, object_pairs_hook=_without_twins, parse_constant=_no_number)
    except RecursionError:
        return _unreadable("not JSON: it is nested too deeply")
    except json.JSONDecodeError as problem:
        return _unreadable(f"not JSON: {problem.msg[:1].lower()}{problem.msg[1:]}", problem.lineno)
    except ValueError as problem:
        return _unreadable(f"not JSON: {problem}")
    return reading_of(plain, {})


def _without_twins(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise ValueError(f"the key {twin!r} stands twice in one object")
    return plain


def _no_number(spelling: str) -> Json:
    raise ValueError(f"{spelling} is no number in JSON")


def reading_of(plain: Any, places: Mapping[Path, int]) -> Reading:
    """The blueprint that ``plain`` data says, or why it says none."""
    if _is_deep(plain):
        return _unreadable(f"nested deeper than {MAX_DEPTH} levels")
    try:
        return Reading(blueprint=from_plain(plain), places=places)
    except ValidationError as problem:
        findings = structural_findings(problem, plain)
        rest, hidden = salvaged(plain, findings)
        every = tuple(dict.fromkeys((*findings, *hidden)))
        return Reading(blueprint=None, findings=every, rest=rest, places=places)


def _is_deep(plain: Any) -> bool:
    level = [plain]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for value in level
            if isinstance(value, dict | list | tuple)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


def _unreadable(message: str, line: int | None = None) -> Reading:
    places: Mapping[Path, int] = {} if line is None else {(): line}
    return Reading(blueprint=None, findings=(finding("unreadable", (), message),), places=places)
