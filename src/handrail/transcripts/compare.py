"""What two values of the model differ in, named field by field, and which name stands for which.

Whoever tells a ``Loss`` and whoever judges one speak of differences in these words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct

WHOLE = "message"
"""The name of a message with all its blocks."""


def differing_fields(
    what: str, was: Struct, became: Struct, free: Collection[str] = ()
) -> Iterator[tuple[str, Any, Any]]:
    """The fields in which two structs of one type differ: ``(dotted name, old value, new value)``.

    ``what`` is the name of the struct. A field that holds a struct of one type on both sides is gone into, so that
    the name is that of what differs. Fields in ``free`` may differ.
    """
    for field in was.__struct_fields__:
        old, new = getattr(was, field), getattr(became, field)
        if old is new or field in free or is_same(old, new):
            continue
        if isinstance(old, Struct) and type(old) is type(new):
            yield from differing_fields(f"{what}.{field}", old, new)
        else:
            yield f"{what}.{field}", old, new


def is_same(old: object, new: object) -> bool:
    """Equality that tells True from 1 and 1 from 1.0 apart, deep inside JSON too; the order of keys is free."""
    if type(old) is not type(new):
        return False
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(is_same(value, new[key]) for key, value in old.items())
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        return len(old) == len(new) and all(map(is_same, old, new))
    if isinstance(old, Struct) and isinstance(new, Struct):
        return all(is_same(getattr(old, field), getattr(new, field)) for field in old.__struct_fields__)
    return old == new


def is_covered(what: str, name: str) -> bool:
    """Whether ``name`` stands for ``what`` at the same place, because it is the same name or a coarser one.

    ``message`` stands for everything in a message.
    """
    if name == WHOLE:
        return not what.startswith("meta.")
    return what == name or what.startswith(name + ".")
