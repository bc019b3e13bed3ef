"""Tools made of typed Python functions: the schema from the hints, every fault of an input at once."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any

import pydantic
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails

from handrail import jsonio
from handrail.agents.bindings.docstring import parse_docstring
from handrail.agents.bindings.structs import with_struct_schemas
from handrail.agents.bindings.values import output_of
from handrail.agents.threads import in_thread
from handrail.agents.tool import Check, Handler, Tool, ToolContext, ToolOutput, ToolSpec, check_is_object
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json

_SAID = {
    "missing": "is missing",
    "extra_forbidden": "there is no such parameter",
    "json_invalid": "a text holds half a character (a lone surrogate), or it is nested too deeply",
}
"""Faults for which pydantic's own words speak of its fields, not of the call."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def check_tool_name(name: str) -> str:
    """``name`` when every provider takes it (1 to 64 letters, digits, ``_``, ``-``), else ``ValueError``."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"a tool cannot be called {name!r}: 1 to 64 letters, digits, '_' and '-'")
    return name


def tool_of(
    function: Callable[..., Any],
    *,
    names: Mapping[str, Any] | None = None,
    name: str | None = None,
    description: str | None = None,
    traits: ToolTraits,
    is_parallel: bool,
    is_twice_safe: bool,
    is_terminal: bool,
    timeout_s: float | None,
) -> Tool:
    """The tool that runs ``function``; ``names`` are the local names its hints may use.

    Raises ``TypeError`` for a parameter without a hint, of a kind that cannot be given by name, or of a type no
    schema can be made of.
    """
    wanted, context_name = _parameters(function, names)
    told, texts = parse_docstring(function.__doc__, wanted)
    model = _input_model(function.__name__, wanted, texts)
    spec = ToolSpec(
        check_tool_name(name or function.__name__),
        description if description is not None else told,
        _schema(model, function.__name__),
    )
    return Tool(
        spec=spec,
        handler=_handler(function, model, list(wanted), context_name, is_external=traits.untrusted),
        check=_check(model),
        traits=traits,
        is_parallel=is_parallel,
        is_twice_safe=is_twice_safe,
        is_terminal=is_terminal,
        timeout_s=timeout_s,
        function=function,
    )


def _parameters(
    function: Callable[..., Any], names: Mapping[str, Any] | None
) -> tuple[dict[str, tuple[Any, Any]], str | None]:
    """The hint and default of each parameter the model gives, and the name of the one that takes the context."""
    try:
        hints = typing.get_type_hints(function, localns=dict(names or {}), include_extras=True)
    except NameError as problem:
        raise TypeError(f"a hint of {function.__name__} names something unknown: {problem}") from problem
    wanted: dict[str, tuple[Any, Any]] = {}
    context_name: str | None = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            raise TypeError(f"{function.__name__}: {parameter} cannot be given by name, as a model gives it")
        if parameter.name not in hints:
            raise TypeError(f"{function.__name__}: the parameter {parameter.name!r} has no type hint")
        hint = hints[parameter.name]
        if hint is ToolContext:
            context_name = parameter.name
        else:
            wanted[parameter.name] = (hint, parameter.default)
    return wanted, context_name


def _input_model(
    name: str, wanted: Mapping[str, tuple[Any, Any]], texts: Mapping[str, str]
) -> type[pydantic.BaseModel]:
    """A model with one field a parameter, known by the parameter's name as alias: any name may be a parameter."""
    fields: dict[str, Any] = {}
    for number, (parameter, (hint, default)) in enumerate(wanted.items()):
        given: dict[str, Any] = {"alias": parameter}
        if parameter in texts:
            given["description"] = texts[parameter]
        if default is not inspect.Parameter.empty:
            given["default"] = default
        fields[f"p{number}"] = (with_struct_schemas(hint), pydantic.Field(**given))
    config = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    try:
        return pydantic.create_model(name, __config__=config, **fields)
    except pydantic.errors.PydanticUserError as problem:
        raise TypeError(f"no schema can be made of the hints of {name}: {problem.message}") from problem
    except RecursionError as problem:
        raise TypeError(f"no schema can be made of the hints of {name}: a struct holds itself") from problem


class _Schema(GenerateJsonSchema):
    """Without the titles that repeat each field's name: a model pays for every token of a schema."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _schema(model: type[pydantic.BaseModel], name: str) -> dict[str, Json]:
    try:
        schema = model.model_json_schema(schema_generator=_Schema)
    except pydantic.errors.PydanticInvalidForJsonSchema as problem:
        raise TypeError(f"no schema can be made of the hints of {name}: {problem.message}") from problem
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def _check(model: type[pydantic.BaseModel]) -> Check:
    def check(input: Json) -> tuple[str, ...]:
        if problems := check_is_object(input):
            return problems
        try:
            _validated(model, input)
        except pydantic.ValidationError as problem:
            return tuple(_sentence(item) for item in problem.errors(include_url=False, include_context=False))
        return ()

    return check


def _validated(model: type[pydantic.BaseModel], input: Json) -> pydantic.BaseModel:
    # As JSON and strictly: dates and enums come as strings, but "5" is no number.
    return model.model_validate_json(jsonio.encode(input), strict=True)


def _sentence(item: ErrorDetails) -> str:
    said = _SAID.get(item["type"], item["msg"])
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in item["loc"]).lstrip(".")
    return f"{path}: {said}" if path else said


def _handler(
    function: Callable[..., Any],
    model: type[pydantic.BaseModel],
    names: list[str],
    context_name: str | None,
    *,
    is_external: bool,
) -> Handler:
    is_async = inspect.iscoroutinefunction(function)

    async def handle(input: Json, context: ToolContext) -> ToolOutput:
        valid = _validated(model, input)
        given = {names[int(key[1:])]: getattr(valid, key) for key in valid.model_fields_set}
        if context_name is not None:
            given[context_name] = context
        value = await (function(**given) if is_async else in_thread(function, **given))
        if inspect.isawaitable(value):
            value = await value
        return output_of(value, is_external=is_external)

    return handle
