"""Typed outputs: that a schema is one, that it cannot be made to run for ever, and that edges test what is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import jsonschema

from handrail.blueprints.checks.known import Known
from handrail.blueprints.checks.patterns import why_refused
from handrail.blueprints.edges.output import OnOutput
from handrail.blueprints.model import Blueprint, Stage
from handrail.blueprints.problems import Finding, Path, finding, nearest
from handrail.transcripts.model import Json

_MAX_NODES = 5_000


def check_outputs(blueprint: Blueprint, _known: Known) -> Iterator[Finding]:
    """The output of each stage, and the edges that look at it."""
    for number, stage in enumerate(blueprint.stages):
        at: Path = ("stages", number)
        if stage.output is not None:
            yield from _schema(stage.output.json_schema, (*at, "output", "schema"))
        for place, edge in enumerate(stage.edges or ()):
            if isinstance(edge, OnOutput) and edge.field is not None:
                yield from _tested(stage, edge.field, (*at, "edges", place, "field"))


def _schema(schema: Mapping[str, Json], at: Path) -> Iterator[Finding]:
    nodes = list(_nodes(dict(schema), at))
    if len(nodes) > _MAX_NODES:
        yield finding("bad-schema", at, f"the schema has more than {_MAX_NODES:,} parts")
        return
    slow = list(_slow_patterns(nodes))
    yield from slow
    for path, node in nodes:
        if isinstance(node, dict) and isinstance(node.get("$ref"), str) and not node["$ref"].startswith("#"):
            told = f"{node['$ref']!r} leads out of the schema, and nothing is fetched"
            yield finding("bad-schema", (*path, "$ref"), told)
    if slow:
        return
    try:
        jsonschema.Draft202012Validator.check_schema(dict(schema))
    except jsonschema.SchemaError as problem:
        yield finding("bad-schema", (*at, *problem.absolute_path), f"not a JSON Schema: {problem.message}")


def _nodes(value: Json, at: Path) -> Iterator[tuple[Path, Json]]:
    left: list[tuple[Path, Json]] = [(at, value)]
    for _ in range(_MAX_NODES + 1):
        if not left:
            return
        path, node = left.pop()
        yield path, node
        if isinstance(node, dict):
            left.extend(((*path, key), inner) for key, inner in node.items())
        elif isinstance(node, list):
            left.extend(((*path, place), inner) for place, inner in enumerate(node))


def _slow_patterns(nodes: list[tuple[Path, Json]]) -> Iterator[Finding]:
    for path, node in nodes:
        if not isinstance(node, dict):
            continue
        keyed = node.get("patternProperties")
        named = [("patternProperties", pattern) for pattern in keyed] if isinstance(keyed, dict) else []
        for key, pattern in (*named, ("pattern", node.get("pattern"))):
            if not isinstance(pattern, str):
                continue
            if why := why_refused(pattern):
                yield finding("slow-pattern", (*path, key), why)
            elif not _is_regex(pattern):
                yield finding("bad-schema", (*path, key), f"{pattern!r} is no regular expression")


def _is_regex(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _tested(stage: Stage, field: str, at: Path) -> Iterator[Finding]:
    if stage.output is None:
        told = f"stage {stage.name!r} declares no output, and a text has no part {field!r}"
        yield finding("unknown-field", at, told, "output = { schema = … }")
        return
    schema: Json = stage.output.json_schema
    for key in field.split("."):
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(properties, dict):
            return
        if key not in properties:
            yield finding("unknown-field", at, f"the output has no part {key!r}", nearest(key, properties))
            return
        schema = properties[key]
