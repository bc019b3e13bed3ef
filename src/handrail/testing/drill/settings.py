"""What a drill is told by its environment: how many kills, which, over what, on how many processors."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct

from handrail.testing.drill.journals import NAMES


class BadSetting(ValueError):
    """A variable holds what cannot be drilled by; the message names it and says what it takes."""


class Settings(Struct, frozen=True, kw_only=True):
    """``kills`` over each of ``journals``, drawn by ``seed`` and played in ``jobs`` processes."""

    kills: int
    seed: int
    jobs: int
    journals: Sequence[str]


def read_settings(environment: Mapping[str, str]) -> Settings:
    """What the variables ``DRILL_…`` say, an empty one counting as not there; ``BadSetting`` for nonsense."""
    return Settings(
        kills=_number(environment, "DRILL_KILLS", 1000, least=1),
        seed=_number(environment, "DRILL_SEED", 1),
        jobs=_number(environment, "DRILL_JOBS", 0, least=0) or os.cpu_count() or 1,
        journals=_journals(environment, "DRILL_JOURNALS"),
    )


def _number(environment: Mapping[str, str], name: str, default: int, *, least: int | None = None) -> int:
    given = environment.get(name, "").strip()
    if not given:
        return default
    try:
        number = int(given)
    except ValueError:
        number = None
    if number is None or (least is not None and number < least):
        takes = "a whole number" if least is None else f"a whole number from {least}"
        raise BadSetting(f"{name} takes {takes}, not {given!r}")
    return number


def _journals(environment: Mapping[str, str], name: str) -> Sequence[str]:
    given = [one.strip() for one in environment.get(name, "").split(",")]
    wanted = [one for one in given if one]
    unknown = next((one for one in wanted if one not in NAMES), None)
    if unknown is not None:
        raise BadSetting(f"{name} takes names of {', '.join(NAMES)}, by commas, not {unknown!r}")
    return wanted or NAMES
