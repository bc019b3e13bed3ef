"""Tests of a value that a blueprint declares and code decides: no expression language, nothing that can run for ever.

A test of text is a piece of it or a pattern with ``*``; both take time in proportion to the text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from handrail import jsonio
from handrail.agents.permissions import matches
from handrail.transcripts.model import Json

TESTS = ("equals", "one_of", "contains", "matches", "at_least", "at_most", "is_empty")
"""The keys of which a test has one."""


def _finite(value: JsonValue) -> JsonValue:
    if not is_finite(value):
        raise ValueError("a number that is infinite or none has no place here")
    return value


def is_finite(value: Json) -> bool:
    """Whether every number in ``value`` has a spelling in JSON."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(map(is_finite, value.values()))
    return all(map(is_finite, value)) if isinstance(value, list | tuple) else True


Plain = Annotated[JsonValue, AfterValidator(_finite)]
"""A JSON value, whatever it is."""

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class Predicate(BaseModel):
    """One test of a value: the keys say which; exactly one of them is given.

    ``equals`` and ``one_of`` compare JSON values; ``contains`` finds a piece of the text, ``matches`` a pattern that
    fits all of it, where ``*`` stands for anything and ``\\*`` for a star; ``at_least`` and ``at_most`` compare
    numbers, and the lengths of lists; ``is_empty`` is true of nothing, blank text, and empty lists and objects.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    equals: Plain = None
    one_of: Annotated[Sequence[Plain], AfterValidator(tuple)] = ()
    contains: Annotated[str, Field(min_length=1)] | None = None
    matches: Annotated[str, Field(min_length=1)] | None = None
    at_least: Number | None = None
    at_most: Number | None = None
    is_empty: bool | None = None

    @property
    def tests(self) -> tuple[str, ...]:
        """The keys that are given."""
        return tuple(key for key in TESTS if getattr(self, key) not in (None, ()))

    def holds(self, value: Json) -> bool:
        """Whether ``value`` passes; one that a test cannot be put to (a text that is no number) does not."""
        return all(_holds(key, getattr(self, key), value) for key in self.tests)


class RequiredPredicate(Predicate):
    """A test that is there, and one only."""

    @model_validator(mode="after")
    def _has_one_test(self) -> Self:
        if len(self.tests) != 1:
            raise ValueError(f"give one test of {', '.join(TESTS)}{_but(self.tests)}")
        return self


class OptionalPredicate(Predicate):
    """A test that may be left out, and is one only where it is there."""

    @model_validator(mode="after")
    def _has_one_test_at_most(self) -> Self:
        if len(self.tests) > 1:
            raise ValueError(f"give one test{_but(self.tests)}")
        return self


def _but(given: tuple[str, ...]) -> str:
    return f", not {' and '.join(given)}" if given else ""


def _holds(key: str, wanted: Json, value: Json) -> bool:
    match key:
        case "equals":
            return _is_same(wanted, value)
        case "one_of":
            return any(_is_same(one, value) for one in wanted)
        case "contains":
            return wanted in text_of(value)
        case "matches":
            return matches(wanted, text_of(value))
        case "at_least":
            return (size := _size(value)) is not None and size >= wanted
        case "at_most":
            return (size := _size(value)) is not None and size <= wanted
        case "is_empty":
            return _is_empty(value) is wanted
    raise ValueError(f"no test is called {key!r}")


def text_of(value: Json) -> str:
    """``value`` as tests of text see it: itself, or the canonical JSON of what is no text."""
    return value if isinstance(value, str) else jsonio.canonical(value).decode()


def _is_same(one: Json, other: Json) -> bool:
    # In Python True is 1; in JSON it is not.
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _size(value: Json) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return len(value) if isinstance(value, list | tuple) else None


def _is_empty(value: Json) -> bool:
    return not value.strip() if isinstance(value, str) else value in (None, [], (), {})
