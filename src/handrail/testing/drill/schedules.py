"""Where to kill: each place of a small run once, and seeded schedules of several kills, freezes and ends in between."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

from msgspec import Struct

from handrail.testing.drill.faults import Fate
from handrail.testing.drill.lives import Evidence, Schedule
from handrail.testing.drill.notes import Reached
from handrail.testing.drill.stories import Story

_MOST_DRIVERS = 4
_MOST_PEOPLE = 2
_LATEST_S = 0.004
"""How long after a place a delayed kill comes at most; an append takes less."""

_COMES_TO_REST_S = 0.05
"""How long a driver that is to be frozen is held before, so that it is not frozen with a lock of its journal in hand.

On one machine nobody can take such a lock away: who wants it waits until the frozen process is woken or killed.
"""

FIRST_HELD = 2
"""The first place at which a driver holds its session, and so the first at which freezing it means anything."""


class Places(Struct, frozen=True):
    """The names of the places that the processes of an unbroken run reach, in order."""

    driver: tuple[str, ...]
    people: tuple[str, ...]


def places_of(unbroken: Evidence) -> Places:
    """The places of the first driver and the first people of a run."""

    def reached(process: str) -> tuple[str, ...]:
        notes = (note.what for note in unbroken.notes if note.process == process)
        return tuple(what.point for what in notes if isinstance(what, Reached))

    return Places(reached("driver 1"), reached("people 1"))


def single_kills(story: Story, places: Places) -> Iterator[Schedule]:
    """A kill at each place of the driver, and of the people, with nothing else going wrong."""
    for nth in range(1, len(places.driver) + 1):
        yield Schedule(story=story, drivers=(Fate(nth),))
    for nth in range(1, len(places.people) + 1):
        yield Schedule(story=story, people=(Fate(nth),))


def single_freezes(story: Story, places: Places, *, wakes_early: bool = False) -> Iterator[Schedule]:
    """A driver frozen at each place, another that takes over, and the first one woken."""
    for nth in range(FIRST_HELD, len(places.driver) + 1):
        yield Schedule(story=story, drivers=(Fate(nth, "stop", _COMES_TO_REST_S),), wakes_early=wakes_early)


def drawn(story: Story, places: Places, seed: int) -> Iterator[Schedule]:
    """Schedules without end, each the same for the same ``seed`` and places."""
    for number in count():
        dice = Random(f"{seed}/{number}")
        drivers = tuple(_fate(dice, len(places.driver)) for _ in range(dice.randint(1, _MOST_DRIVERS)))
        people = tuple(_killed(dice, len(places.people)) for _ in range(dice.randint(0, _MOST_PEOPLE)))
        yield Schedule(story=story, drivers=drivers, people=people, wakes_early=dice.random() < 0.5)


def _fate(dice: Random, places: int) -> Fate:
    if dice.random() < 0.15:
        return Fate(dice.randint(FIRST_HELD, max(places, FIRST_HELD)), "stop", _COMES_TO_REST_S)
    return _killed(dice, places)


def _killed(dice: Random, places: int) -> Fate:
    delay_s = dice.uniform(0, _LATEST_S) if dice.random() < 0.25 else 0.0
    return Fate(dice.randint(1, max(places, 1)), delay_s=delay_s)
