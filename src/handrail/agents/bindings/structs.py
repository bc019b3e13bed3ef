"""msgspec structs inside hints, shown to pydantic field by field so that all their faults are found at once."""

from __future__ import annotations

import types
import typing
from functools import cache
from typing import Annotated, Any, Literal, Union

import msgspec
import pydantic
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


def with_struct_schemas(hint: Any) -> Any:
    """``hint`` with every msgspec struct in it, however deep, marked so that pydantic can validate and build it."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return Annotated[hint, _StructSchema(hint)]
    origin = typing.get_origin(hint)
    if origin is None or origin is Literal:
        return hint
    arguments = typing.get_args(hint)
    if origin is Annotated:
        return Annotated[(with_struct_schemas(arguments[0]), *arguments[1:])]
    inner = tuple(with_struct_schemas(argument) for argument in arguments)
    if origin in {Union, types.UnionType}:
        return Union[inner]  # noqa: UP007 - built from a tuple
    return hint.copy_with(inner) if hasattr(hint, "copy_with") else origin[inner]


class _StructSchema:
    """An annotation that validates ``struct`` through a pydantic model with the same fields, then builds it."""

    def __init__(self, struct: type[msgspec.Struct]) -> None:
        self._struct = struct

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        model = _model_of(self._struct)
        names = {f"p{number}": item.name for number, item in enumerate(msgspec.structs.fields(self._struct))}

        def build(value: pydantic.BaseModel) -> msgspec.Struct:
            given = {names[key]: getattr(value, key) for key in value.model_fields_set if key in names}
            return self._struct(**given)

        return core_schema.no_info_after_validator_function(build, handler.generate_schema(model))


@cache
def _model_of(struct: type[msgspec.Struct]) -> type[pydantic.BaseModel]:
    fields: dict[str, Any] = {}
    if (tag := struct.__struct_config__.tag) is not None:
        fields["tag"] = (Literal[tag], pydantic.Field(alias=struct.__struct_config__.tag_field))
    for number, item in enumerate(msgspec.structs.fields(struct)):
        given: dict[str, Any] = {"alias": item.encode_name}
        if item.default is not msgspec.NODEFAULT:
            given["default"] = item.default
        elif item.default_factory is not msgspec.NODEFAULT:
            given["default_factory"] = item.default_factory
        fields[f"p{number}"] = (with_struct_schemas(item.type), pydantic.Field(**given))
    config = pydantic.ConfigDict(extra="forbid" if struct.__struct_config__.forbid_unknown_fields else "ignore")
    return pydantic.create_model(struct.__name__, __config__=config, __doc__=struct.__doc__, **fields)
