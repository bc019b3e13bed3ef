"""Inputs against a JSON Schema that came from outside (a tools file, an MCP server): every fault at once."""

from __future__ import annotations

from collections.abc import Mapping

import jsonschema
import referencing
import regex
from jsonschema.protocols import Validator
from referencing.exceptions import Unresolvable

from handrail.agents.bindings.timed_keywords import TooLong, bounded, is_pattern, timed
from handrail.agents.tool import Check, check_is_object
from handrail.transcripts.model import Json

_MAX_PROBLEMS = 20

CHECK_S = 0.25
"""How long checking one input may take; nothing else of the loop goes on meanwhile."""


_FORMATS = jsonschema.FormatChecker(formats=())
_FORMATS.checks("regex", raises=regex.error)(is_pattern)


def schema_check(schema: Mapping[str, Json]) -> Check:
    """A check by ``schema``; ``ValueError`` when that is no JSON Schema for an object.

    Nothing is looked up over the network: a reference that leads out of the schema is a problem of each input, and so
    is whatever takes longer than ``CHECK_S`` to find out.
    """
    if schema.get("type", "object") != "object":
        raise ValueError("a tool's input schema must be of type object")
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(dict(schema), format_checker=_FORMATS)  # type: ignore[call-arg]
    except jsonschema.SchemaError as problem:
        raise ValueError(f"not a JSON Schema: {problem.message}") from problem
    bounded_kind = jsonschema.validators.extend(kind, timed(kind.VALIDATORS))  # type: ignore[no-untyped-call]
    validator: Validator = bounded_kind(dict(schema), registry=referencing.Registry())

    def check(input: Json) -> tuple[str, ...]:
        return check_is_object(input) or _problems(validator, input)

    return check


def _problems(validator: Validator, input: Json) -> tuple[str, ...]:
    try:
        with bounded(CHECK_S):
            found = list(validator.iter_errors(input))
    except TooLong:
        return (f"its schema takes longer than {CHECK_S:g} seconds to check",)
    except Unresolvable as problem:
        return (f"its schema refers to {problem.ref!r}, which is not in it",)
    except RecursionError:
        return ("it is nested too deeply",)
    found.sort(key=lambda problem: [str(step) for step in problem.absolute_path])
    listed = [_sentence(problem) for problem in found[:_MAX_PROBLEMS]]
    if len(found) > _MAX_PROBLEMS:
        listed.append(f"and {len(found) - _MAX_PROBLEMS} more")
    return tuple(listed)


def _sentence(problem: jsonschema.ValidationError) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem.absolute_path).lstrip(".")
    return f"{path}: {problem.message}" if path else problem.message
