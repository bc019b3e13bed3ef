"""Lengths of time as a blueprint spells them: ``3d``, ``1h30m``, ``45s``, or a number of seconds."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_UNITS_S = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_PATTERN = r"(?:[0-9]{1,9}[wdhms])+"
_LONGEST = timedelta(days=36_500)


def parse_duration(given: Any) -> timedelta:
    """The length of time that ``given`` says; ``ValueError`` for what says none, is not above zero, or is endless."""
    if isinstance(given, timedelta):
        length = given
    elif isinstance(given, int | float) and not isinstance(given, bool):
        if not 0 < given <= _LONGEST.total_seconds():
            raise ValueError("a length of time lies between 0 and 100 years")
        length = timedelta(seconds=given)
    elif isinstance(given, str) and re.fullmatch(_PATTERN, compact := "".join(given.split())):
        seconds = sum(int(number) * _UNITS_S[unit] for number, unit in re.findall(r"([0-9]+)([wdhms])", compact))
        length = timedelta(seconds=min(seconds, 10 * _LONGEST.total_seconds()))
    else:
        raise ValueError('write a length of time like "3d", "1h30m" or "45s", or a number of seconds')
    if not timedelta() < length <= _LONGEST:
        raise ValueError("a length of time lies between 0 and 100 years")
    return length


def render_duration(length: timedelta) -> str | float:
    """``length`` as ``parse_duration`` reads it: days to seconds, or a number where it is no whole number of them."""
    if length.microseconds:
        return length.total_seconds()
    left, parts = int(length.total_seconds()), []
    for unit in "dhms":
        count, left = divmod(left, _UNITS_S[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(render_duration),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "pattern": f"^{_PATTERN}$"}, {"type": "number", "exclusiveMinimum": 0}]}
    ),
]
"""A length of time above zero, in a blueprint's spelling."""
