"""One schedule of the drill: a story carried by processes that are killed as planned, until its run is over.

What comes out is evidence, not a verdict: the notes, what the journal held after each death, and how each process
ended. ``findings`` judges it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from handrail.journal.events import Event
from handrail.journal.port import Entry
from handrail.testing.drill import children
from handrail.testing.drill.carriers import Carrier, Scene
from handrail.testing.drill.children import Child, Ended
from handrail.testing.drill.faults import Fate, Fated
from handrail.testing.drill.journals import JournalKind
from handrail.testing.drill.notes import Note, Notes, Reached, read_notes
from handrail.testing.drill.people import attend, is_over
from handrail.testing.drill.stories import SESSION, Story
from handrail.testing.drill.wrapped import TAKEN_OVER, watched_journal

Histories: TypeAlias = dict[str, tuple[Event, ...]]
"""What a journal holds, by session."""

PATIENCE_S = 120.0
"""How long no process may end before the run counts as one that hangs; far more than a busy machine needs."""

_WAKES_EVERY_S = 0.002

_IDLE_LIVES = 4
"""How many drivers in a row may end by themselves without one more event before the run cannot go on."""

_NOTES = "notes"


class Schedule(Struct, frozen=True, kw_only=True):
    """``drivers`` and ``people`` are the fates of the first driver and its successors, and of the people's process.

    Whoever comes after them is left alone. A frozen driver is woken once its successor has come to an end, or, with
    ``wakes_early``, as soon as that one has begun.
    """

    story: Story
    drivers: tuple[Fate, ...] = ()
    people: tuple[Fate, ...] = ()
    wakes_early: bool = False


class Life(Struct, frozen=True, kw_only=True):
    """One process: how it ended, what it ``raised``, and what the journal held when it began and after it had ended.

    ``woken_at`` is what it held when the process was woken, where it had been frozen.
    """

    process: str
    end: Literal["finished", "killed", "failed", "hung"]
    before: Histories = {}
    after: Histories = {}
    raised: str = ""
    woken_at: Histories | None = None

    @property
    def was_frozen(self) -> bool:
        return self.woken_at is not None


class Evidence(Struct, frozen=True, kw_only=True):
    """All there is to judge a schedule by."""

    schedule: Schedule
    notes: tuple[Note, ...]
    lives: tuple[Life, ...]
    histories: Histories
    inboxes: dict[str, tuple[Entry, ...]]

    @property
    def kills(self) -> int:
        """How many processes were killed or frozen."""
        return sum(1 for life in self.lives if life.end == "killed" or life.was_frozen)


def live(schedule: Schedule, kind: JournalKind, carrier: Carrier, folder: Path) -> Evidence:
    """Play ``schedule`` in the empty ``folder`` until the run is over, hangs, or cannot go on."""
    kind.prepare(folder)
    play = _Play(schedule, kind, carrier, folder)
    play.to_the_end()
    histories, inboxes = asyncio.run(play.read())
    return Evidence(
        schedule=schedule,
        notes=read_notes(folder / _NOTES),
        lives=tuple(play.lives),
        histories=histories,
        inboxes=inboxes,
    )


class _Play:
    """One schedule while it is played: which processes there are, and which fates are left for the next ones."""

    def __init__(self, schedule: Schedule, kind: JournalKind, carrier: Carrier, folder: Path) -> None:
        self._schedule = schedule
        self._kind = kind
        self._carrier = carrier
        self._folder = folder
        self._fates = {"driver": iter(schedule.drivers), "people": iter(schedule.people)}
        self._started = {"driver": 0, "people": 0}
        self._born: dict[Child, Histories] = {}
        self._drivers: list[Child] = []
        self._people: Child | None = None
        self._frozen: list[Child] = []
        self._woken: dict[Child, Histories] = {}
        self._is_over = False
        self._have_people_left = False
        self._idle = 0
        self.lives: list[Life] = []

    def to_the_end(self) -> None:
        try:
            self._staff()
            while (living := self._living()) and self._idle < _IDLE_LIVES:
                is_waking = bool(self._frozen) and self._schedule.wakes_early
                ended = children.wait(living, _WAKES_EVERY_S if is_waking else PATIENCE_S)
                if ended is not None:
                    self._met(ended)
                elif not is_waking:
                    self._hang()
                    return
                self._staff()
        finally:
            for child in (*self._living(), *self._frozen):
                children.kill(child)

    def _living(self) -> list[Child]:
        return [*self._drivers, *self._woken, *([] if self._people is None else [self._people])]

    # Who is there

    def _staff(self) -> None:
        """Put somebody in the place of each who is gone, and wake who is to be woken."""
        may_start = not self._woken or self._schedule.wakes_early
        if not self._is_over and self._idle < _IDLE_LIVES and may_start:
            histories = self._histories()
            while len(self._drivers) < self._carrier.crew:
                self._drivers.append(self._start("driver", histories))
            if self._people is None and not self._have_people_left:
                self._people = self._start("people", histories)
        if self._frozen and (not self._drivers or (self._schedule.wakes_early and self._has_taken_over())):
            histories = self._histories()
            for child in self._frozen:
                self._woken[child] = histories
                children.wake(child)
            self._frozen.clear()

    def _has_taken_over(self) -> bool:
        """Whether the newest driver holds the session by now."""
        return Note(self._drivers[-1].name, Reached(TAKEN_OVER)) in read_notes(self._folder / _NOTES)

    def _start(self, role: Literal["driver", "people"], histories: Histories) -> Child:
        self._started[role] += 1
        name = f"{role} {self._started[role]}"
        fate = next(self._fates[role], None)
        work = self._drive if role == "driver" else self._attend
        child = children.fork(name, self._folder, lambda: asyncio.run(work(name, fate)))
        self._born[child] = histories
        return child

    async def _drive(self, name: str, fate: Fate | None) -> None:
        notes = Notes(self._folder / _NOTES, name)
        faults = Fated(notes, fate)
        async with self._kind.open(self._folder) as journal:
            watched = watched_journal(journal, faults, notes)
            await self._carrier.carry(
                Scene(story=self._schedule.story, journal=watched, faults=faults, notes=notes, folder=self._folder)
            )

    async def _attend(self, name: str, fate: Fate | None) -> None:
        notes = Notes(self._folder / _NOTES, name)
        async with self._kind.open(self._folder) as journal:
            await attend(self._schedule.story, watched_journal(journal, Fated(notes, fate), notes), notes)

    # What becomes of them

    def _met(self, ended: Ended) -> None:
        """Take in that a process ended, or stands still."""
        child = ended.child
        if ended.end == "stopped":
            self._drivers.remove(child)
            self._frozen.append(child)
            return
        if child is self._people:
            self._people = None
            self._have_people_left = ended.end == "finished"
            self.lives.append(Life(process=child.name, end=ended.end, raised=child.raised))
            return
        after = self._histories()
        before = self._born[child]
        woken_at = self._woken.pop(child, None)
        self._is_over = is_over(after.get(SESSION, ()))
        if woken_at is None:
            self._drivers.remove(child)
            self._idle = self._idle + 1 if ended.end != "killed" and _size(after) == _size(before) else 0
        self.lives.append(
            Life(
                process=child.name,
                end=ended.end,
                before=before,
                after=after,
                raised=child.raised,
                woken_at=woken_at,
            )
        )

    def _hang(self) -> None:
        histories = self._histories()
        for child in self._living():
            self.lives.append(Life(process=child.name, end="hung", before=self._born[child], after=histories))

    # The journal

    def _histories(self) -> Histories:
        return asyncio.run(self.read())[0]

    async def read(self) -> tuple[Histories, dict[str, tuple[Entry, ...]]]:
        """All events and all inbox entries, by session."""
        async with self._kind.open(self._folder) as journal:
            names = await journal.sessions()
            events = {name: await journal.read(name) for name in names}
            return events, {name: await journal.inbox(name) for name in names}


def _size(histories: Histories) -> int:
    return sum(map(len, histories.values()))
