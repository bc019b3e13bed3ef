"""What pydantic says about plain data that is no blueprint, in the words of a blueprint's author."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

from pydantic import BaseModel, ValidationError

from handrail.blueprints import regions
from handrail.blueprints.edges import edge_kinds
from handrail.blueprints.edges.output import FieldPath
from handrail.blueprints.model import Blueprint, Bounds, FanOut, Output, Permissions, Stage, Unwatched, Words
from handrail.blueprints.points import InteractionPoint
from handrail.blueprints.problems import Finding, Path, finding, nearest, shown

MAX_FINDINGS = 200
"""How many faults of one file are told; more of them help nobody."""


def _pattern_of(kind: Any) -> str:
    """The pattern of a constrained text."""
    return next(str(one.pattern) for one in get_args(kind) if getattr(one, "pattern", None) is not None)


_Loc: TypeAlias = tuple[int | str, ...]
_Error: TypeAlias = Mapping[str, Any]

_REGIONS: Mapping[str, type[BaseModel]] = {
    "pinned": regions.Pinned,
    "sliding": regions.Sliding,
    "compacting": regions.Compacting,
    "keyed": regions.Keyed,
    "checklist": regions.Checklist,
}
_SEEDS: Mapping[str, type[BaseModel]] = {
    "literal": regions.LiteralSeed,
    "files": regions.FilesSeed,
    "glob": regions.GlobSeed,
    "command": regions.CommandSeed,
}
_TABLES: Mapping[str, type[BaseModel]] = {
    "stages": Stage,
    "points": InteractionPoint,
    "limits": Bounds,
    "permissions": Permissions,
    "output": Output,
    "fan_out": FanOut,
    "unattended": Unwatched,
}
_PATTERNS = {
    _pattern_of(regions.Name): "a name is a letter and then letters, digits, - and _, 64 at most",
    _pattern_of(regions.Line): "it must be one line, without control characters",
    _pattern_of(Words): "it must be one line, without blanks around it",
    _pattern_of(FieldPath): "it must be keys with dots between them",
}
_SHAPES = {
    "string_type": "it must be text",
    "int_type": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "float_type": "it must be a number",
    "bool_type": "it must be true or false",
    "tuple_type": "it must be a list",
    "list_type": "it must be a list",
    "sequence_str": "it must be a list",
    "dict_type": "it must be a table",
    "mapping_type": "it must be a table",
    "model_type": "it must be a table",
    "model_attributes_type": "it must be a table",
    "finite_number": "it must be a number that is finite",
    "is_instance_of": "it must be a list",
}


def structural_findings(problem: ValidationError, plain: Any) -> tuple[Finding, ...]:
    """Every fault that ``problem`` lists, at its place in ``plain``, in order."""
    errors = problem.errors(include_url=False, include_input=False)
    found = [_finding(error, plain) for error in errors[:MAX_FINDINGS]]
    if len(errors) > MAX_FINDINGS:
        found.append(finding("bad-value", (), f"and {len(errors) - MAX_FINDINGS} more faults of form"))
    return tuple(dict.fromkeys(found))


def _finding(error: _Error, plain: Any) -> Finding:
    loc, owner = _untagged(error["loc"])
    known = _keys(owner)
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return finding("missing-key", loc, f"{_spelled(loc)} is missing")
        case "extra_forbidden":
            return finding("unknown-key", loc, f"nothing reads {_spelled(loc)}", nearest(str(loc[-1]), known))
        case "union_tag_not_found" | "union_tag_invalid":
            return _kind_finding(loc, plain)
        case "literal_error" | "enum":
            return finding("bad-value", loc, f"it must be {context['expected']}", _meant(loc, plain, context))
        case "string_pattern_mismatch":
            told = _PATTERNS.get(context["pattern"], "it is not spelled as it must be")
            is_name = context["pattern"] == _pattern_of(regions.Name)
            return finding("bad-value", loc, told, _as_name(_value_at(plain, loc)) if is_name else None)
    message = _SHAPES.get(error["type"]) or error["msg"].removeprefix("Value error, ").replace("Input ", "it ", 1)
    return finding("bad-value", loc, f"{message[:1].lower()}{message[1:]}")


def _kind_finding(loc: Path, plain: Any) -> Finding:
    """A region or an edge whose kind is missing, or is none."""
    at = (*loc, "when" if "edges" in loc[-2:-1] else "kind")
    given = _value_at(plain, at)
    if given is None:
        return finding("missing-key", at, f"{at[-1]!r} is missing")
    kinds = list(edge_kinds() if at[-1] == "when" else _REGIONS)
    told = f"{shown(repr(given), 80)} is none of {', '.join(kinds)}"
    return finding("bad-value", at, told, nearest(given, kinds) if isinstance(given, str) else None)


def _untagged(loc: _Loc) -> tuple[Path, type[BaseModel]]:
    """``loc`` without the names of the kinds that pydantic puts into it, and the model that its last key is of."""
    path: list[int | str] = []
    owner: type[BaseModel] = Blueprint
    kinds: Mapping[str, type[BaseModel]] = {}
    container = ""
    for step in loc:
        if step in kinds:
            owner, kinds, container = kinds[str(step)], {}, ""
            continue
        if step == "[key]":
            continue
        kinds = {}
        is_entry = isinstance(step, int) or container == "seeds"
        if is_entry and container in ("edges", "regions"):
            kinds = edge_kinds() if container == "edges" else _REGIONS
        elif step == "seed" or (is_entry and container == "seeds"):
            kinds = {**_SEEDS, "task": BaseModel}
        elif not path or not is_entry:
            owner = _TABLES.get(str(step), owner) if step != loc[-1] else owner
        container = container if is_entry else str(step)
        path.append(step)
    return tuple(path), owner


def _keys(owner: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in owner.model_fields.items()]


def _spelled(loc: Path) -> str:
    return shown(repr(loc[-1]), 80) if loc else "the blueprint"


def _meant(loc: Path, plain: Any, context: Mapping[str, Any]) -> str | None:
    given = _value_at(plain, loc)
    words = [word.strip("' ") for word in context["expected"].replace(" or ", ", ").split(",")]
    return nearest(given, words) if isinstance(given, str) else None


def _as_name(given: Any) -> str | None:
    """A name made of ``given``, for one who wrote blanks or dots into it."""
    if not isinstance(given, str):
        return None
    made = "-".join("".join(c if c.isascii() and (c.isalnum() or c in "-_") else " " for c in given[:64]).split())
    return made if made[:1].isalpha() else None


def _value_at(plain: Any, path: Path) -> Any:
    for step in path:
        try:
            plain = plain[step]
        except (LookupError, TypeError):
            return None
    return plain
