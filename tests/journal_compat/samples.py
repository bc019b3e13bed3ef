"""One event of every kind with every field set, made from the types alone: nothing of the stored form is left out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import msgspec.inspect as shapes

from handrail.journal.events import KINDS, Event, Known
from handrail.journal.vocabulary import Actor, ActorKind

AT = datetime(2026, 1, 5, 9, 0, 0, 250_000, tzinfo=UTC)


def samples() -> Iterator[Event]:
    """The events, numbered as a journal's are; they are no run."""
    for seq, kind in enumerate(KINDS, 1):
        yield Event(seq=seq, by=Actor(ActorKind.TOOL, "Bash"), at=AT, inbox=seq, body=_filled(kind))


def _filled(kind: type[Known]) -> Known:
    body: Known = _of(shapes.type_info(kind), kind.__name__)
    return body


def _of(shape: shapes.Type, name: str) -> Any:
    """A value of ``shape`` that is no default; ``name`` is the field it is for."""
    match shape:
        case shapes.StructType(cls=cls, fields=fields):
            return cls(**{one.name: _of(one.type, one.name) for one in fields})
        case shapes.UnionType(types=types):
            given = [one for one in types if not isinstance(one, shapes.NoneType)]
            return _of(given[0], name)
        case shapes.VarTupleType(item_type=shapes.UnionType(types=types)):
            return tuple(_of(one, name) for one in types)
        case shapes.VarTupleType(item_type=item):
            return (_of(item, name),)
        case shapes.ListType(item_type=item):
            return [_of(item, name)]
        case shapes.DictType(value_type=item):
            return {f"{name} é\u2028": _of(item, name)}
        case shapes.EnumType(cls=cls):
            return _last(cls)
        case shapes.LiteralType(values=values):
            return values[-1]
        case _:
            return _plain(shape, name)


def _last(kind: type[Enum]) -> Enum:
    return list(kind)[-1]


def _plain(shape: shapes.Type, name: str) -> Any:
    match shape:
        case shapes.BoolType():
            return True
        case shapes.IntType():
            return 7
        case shapes.FloatType():
            return 1.5
        case shapes.DateTimeType():
            return AT
        case shapes.StrType():
            return f'{name} \u00e9\u2028"\\ \U0001f4e6'
        case shapes.AnyType():
            return {"a": [1, 2.5, None, "\u0085"], "b": {}}
        case _:
            raise TypeError(f"no sample of {shape}")
