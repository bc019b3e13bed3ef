"""Who works for a call at the moment, and whether all of them only wait for people.

A run leaves memory while it waits for a person, also where the one who asks is an agent below it. Each place in a team
is one agent at a time; a place that is between two agents, or still makes one ready, is at work.
"""

from __future__ import annotations

from collections.abc import Callable

from handrail.agents.run import Run
from handrail.clock import Clock


class Place:
    """One place in a team: ``run`` is who has it now. ``is_paused_from_above``: paused with the run that started it."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.run: Run | None = None
        self.is_still = False
        self.is_paused_from_above = False
        self._changed = changed

    def stand(self, is_still: bool) -> None:
        """Say whether there is nothing to do here but wait for people, or for the end of a pause."""
        self.is_still = is_still
        self._changed()

    def vacate(self) -> None:
        """Whoever had the place has left it."""
        self.run = None
        self.is_paused_from_above = False
        self.stand(False)


class Team:
    """The agents of one call. ``wake`` is called when nothing is left to do but wait."""

    def __init__(self, clock: Clock, wake: Callable[[], object]) -> None:
        self.places: list[Place] = []
        self._clock = clock
        self._wake = wake
        self._since_s: float | None = None
        self._stood_s = 0.0

    def enter(self) -> Place:
        """A new place, at work."""
        place = Place(self._changed)
        self.places.append(place)
        self._changed()
        return place

    def leave(self, place: Place) -> None:
        """Give ``place`` up."""
        self.places.remove(place)
        self._changed()

    @property
    def is_still(self) -> bool:
        """Whether everybody there is only waits."""
        return bool(self.places) and all(place.is_still for place in self.places)

    @property
    def stood_s(self) -> float:
        """For how long, in seconds, everybody only waited."""
        now_s = 0.0 if self._since_s is None else self._clock.monotonic_s() - self._since_s
        return self._stood_s + now_s

    @property
    def runs(self) -> tuple[Run, ...]:
        """Whoever is there."""
        return tuple(place.run for place in self.places if place.run is not None)

    def _changed(self) -> None:
        if self.is_still and self._since_s is None:
            self._since_s = self._clock.monotonic_s()
            self._wake()
        elif not self.is_still and self._since_s is not None:
            self._stood_s, self._since_s = self.stood_s, None
