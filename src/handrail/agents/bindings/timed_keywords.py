"""The keywords of JSON Schema whose cost its author chooses, bounded: a stranger's schema must not stop the loop.

A regular expression can take longer than anybody waits, and so can references that branch. Whoever checks an input
says how long it may take in all; after that ``TooLong`` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import regex
from jsonschema import ValidationError

from handrail.clock import SystemClock
from handrail.transcripts.model import Json

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]

_CLOCK = SystemClock()
_until: ContextVar[float] = ContextVar("until")


class TooLong(Exception):
    """The time for checking is over."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Let what is checked inside take no longer than ``seconds``."""
    token = _until.set(_CLOCK.monotonic_s() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def is_pattern(text: Json) -> bool:
    """Whether ``text``, where it is a text, can be used as a pattern; raises ``regex.error`` where it cannot."""
    return not isinstance(text, str) or regex.compile(text) is not None


def _left_s() -> float:
    left_s = _until.get() - _CLOCK.monotonic_s()
    if left_s <= 0:
        raise TooLong
    return left_s


def _fits(pattern: str, text: str) -> bool:
    try:
        return regex.search(pattern, text, timeout=_left_s()) is not None
    except TimeoutError as problem:
        raise TooLong from problem


def _pattern(validator: Any, pattern: str, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _fits(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Json], instance: Json, schema: Json
) -> Iterator[ValidationError]:
    for pattern, inner in patterns.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if _fits(pattern, key):
                yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _additional(validator: Any, wanted: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, value in instance.items() if isinstance(instance, dict) else ():
        if key in known or any(_fits(pattern, key) for pattern in patterns):
            continue
        if isinstance(wanted, dict):
            yield from validator.descend(value, wanted, path=key)
        elif not wanted:
            yield ValidationError(f"there is no such property: {key!r}")


def timed(keywords: Mapping[str, Keyword]) -> dict[str, Keyword]:
    """Those of ``keywords`` that are to be bounded, bounded.

    ``unevaluatedProperties`` tries patterns of its own and is left out: what it forbids is for the tool to refuse.
    """

    def in_time(original: Keyword) -> Keyword:
        def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
            _left_s()
            yield from original(validator, value, instance, schema)

        return keyword

    references = {name: in_time(keywords[name]) for name in _REFERENCES if name in keywords}
    given: dict[str, Keyword] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional,
        "unevaluatedProperties": lambda *_: iter(()),
    }
    return references | {name: keyword for name, keyword in given.items() if name in keywords}
