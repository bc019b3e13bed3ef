"""Things that people name by an id, or by as much of it as tells it apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from handrail.errors import HandrailError

_LISTED = 5


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


Named = TypeVar("Named", bound=_HasId)


def one_named(items: Iterable[Named], prefix: str, noun: str, error: type[HandrailError], hint: str) -> Named:
    """The one whose id is ``prefix``, else the only one whose id begins like it; case and space around do not count.

    Raises ``error`` for none, for several, and for an empty prefix, which would be all of them.
    """
    wanted = prefix.strip().lower()
    found = [item for item in items if wanted and item.id.startswith(wanted)]
    exact = [item for item in found if item.id == wanted]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        listed = ", ".join(item.id for item in found[:_LISTED])
        raise error(f"{prefix!r} begins several ids: {listed}")
    raise error(f"no {noun} has the id {prefix!r}", hint=hint)
