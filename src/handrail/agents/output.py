"""Typed output: one terminal tool whose input is the answer, checked against the type before it ends the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from handrail import jsonio
from handrail.agents.compose import BadDecision, as_json
from handrail.agents.tool import Tool, ToolContext, ToolOutput, ToolSpec, check_is_object
from handrail.transcripts.model import Json

ANSWER = "Answer"
"""The name of the tool that ends a run with a typed answer."""

_WRAPPED = "value"


class Output(Struct, frozen=True):
    """``tool`` takes the answer, ``read`` makes a value of the type of it, ``check`` what a host finishes with."""

    tool: Tool
    read: Callable[[Json], Any]
    check: Callable[[object], Json]


def output_of(kind: Any) -> Output:
    """The output that is a ``kind``: anything pydantic has a schema for, or a msgspec struct.

    A type that is no JSON object (``int``, ``list[str]``) is given as the property ``value`` of one. ``TypeError``
    when no schema can be made of it.
    """
    import pydantic

    from handrail.agents.bindings.structs import with_struct_schemas

    try:
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(with_struct_schemas(kind))
        schema = adapter.json_schema()
    except (pydantic.errors.PydanticUserError, pydantic.errors.PydanticInvalidForJsonSchema) as problem:
        raise TypeError(f"{kind!r} cannot be an output: {problem.message}") from problem

    def faults(value: Json) -> tuple[str, ...]:
        try:
            adapter.validate_json(jsonio.encode(value), strict=True)
        except pydantic.ValidationError as problem:
            return tuple(_sentence(item["loc"], item["msg"]) for item in problem.errors(include_url=False))
        return ()

    def read(value: Json) -> Any:
        return adapter.validate_json(jsonio.encode(value), strict=True)

    def check(value: object) -> Json:
        dump = getattr(value, "model_dump", None)
        plain = dump(mode="json") if callable(dump) else as_json(value)
        if problems := faults(plain):
            raise BadDecision("no value of the run's output type: " + "; ".join(problems))
        return plain

    is_wrapped = not _is_object(schema)
    return Output(_answer_tool(_wrapped(schema) if is_wrapped else schema, faults, is_wrapped), read, check)


def output_by_schema(schema: Mapping[str, Json]) -> Output:
    """The output that fits a JSON Schema; ``ValueError`` when that is none. Its values are plain JSON."""
    from handrail.agents.bindings.json_schema import schema_check

    is_wrapped = not _is_object(schema)
    outer = _wrapped(schema) if is_wrapped else schema
    faults_of = schema_check(outer)

    def faults(value: Json) -> tuple[str, ...]:
        return faults_of({_WRAPPED: value} if is_wrapped else value)

    def check(value: object) -> Json:
        plain = as_json(value)
        if problems := faults(plain):
            raise BadDecision("no value of the stage's output: " + "; ".join(problems))
        return plain

    return Output(_answer_tool(outer, faults, is_wrapped), lambda value: value, check)


def _answer_tool(schema: Mapping[str, Json], faults: Callable[[Json], tuple[str, ...]], is_wrapped: bool) -> Tool:
    def value_of(input: Json) -> Json:
        return input[_WRAPPED] if is_wrapped else input

    def problems(input: Json) -> tuple[str, ...]:
        if found := check_is_object(input):
            return found
        if is_wrapped and set(input) != {_WRAPPED}:
            return (f"it must have the one property {_WRAPPED!r}",)
        return faults(value_of(input))

    async def give(input: Json, context: ToolContext) -> ToolOutput:
        return ToolOutput(value_of(input))

    spec = ToolSpec(ANSWER, "Give the final answer. This ends the work, so call it last, and alone.", schema)
    return Tool(spec=spec, handler=give, check=problems, is_terminal=True, is_twice_safe=True)


def _is_object(schema: Mapping[str, Json]) -> bool:
    target = schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = schema.get("$defs", {}).get(reference.rsplit("/", 1)[-1], {})
    return target.get("type") == "object"


def _wrapped(schema: Mapping[str, Json]) -> dict[str, Json]:
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    outer: dict[str, Json] = {
        "type": "object",
        "properties": {_WRAPPED: inner},
        "required": [_WRAPPED],
        "additionalProperties": False,
    }
    if "$defs" in schema:
        outer["$defs"] = schema["$defs"]
    return outer


def _sentence(path: tuple[int | str, ...], said: str) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    return f"{where}: {said}" if where else said
