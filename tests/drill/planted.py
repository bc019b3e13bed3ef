"""Bugs that a drill has to find: journals that forget and repeat, and drivers that keep to no order."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from handrail.journal import events as ev
from handrail.journal.port import Entry, Journal, Posted
from handrail.journal.vocabulary import Actor
from handrail.testing.drill.carriers import OWN, Carrier, Scene
from handrail.testing.drill.journals import FILE, JournalKind
from handrail.testing.drill.stories import SESSION


class Passing:
    """A journal that is ``journal``; what a bug changes is overridden."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    @property
    def poll_s(self) -> float | None:
        return self.journal.poll_s

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[ev.Event]) -> None:
        await self.journal.append(session, expected_seq, epoch, events)

    async def read(self, session: str, after: int = 0) -> tuple[ev.Event, ...]:
        return await self.journal.read(session, after)

    async def take_over(self, session: str) -> int:
        return await self.journal.take_over(session)

    async def post(self, session: str, body: Posted, by: Actor, key: str) -> Entry:
        return await self.journal.post(session, body, by, key)

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        return await self.journal.inbox(session, after)

    async def sessions(self) -> tuple[str, ...]:
        return await self.journal.sessions()


# Journals ---------------------------------------------------------------------------------------------------


class Forgetful(Passing):
    """Says that an append is kept, and writes it down with the next one: what dies with it loses the last."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self._held: dict[str, tuple[int, int, list[ev.Event]]] = {}

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[ev.Event]) -> None:
        await self._write_down(session)
        if any(isinstance(event.body, ev.RunEnded) for event in events):
            await super().append(session, expected_seq, epoch, events)
        else:
            self._held[session] = expected_seq, epoch, list(events)

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        await self._write_down(session)
        return await super().inbox(session, after)

    async def _write_down(self, session: str) -> None:
        if session in self._held:
            await super().append(session, *self._held.pop(session))


class Doubling(Passing):
    """Looks at no key: what is sent twice stands in the inbox twice, each time as something new."""

    async def post(self, session: str, body: Posted, by: Actor, key: str) -> Entry:
        times = sum(1 for entry in await self.journal.inbox(session) if entry.key.startswith(key))
        if isinstance(body, ev.InputReceived) and times:
            body = replace(body, input=f"{body.input}, {times}")
            return await super().post(session, body, by, f"{key}, {times}")
        return await super().post(session, body, by, key)


class Repeating(Passing):
    """Gives the last entry that was taken once more to whoever opens it anew."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self._is_new = True

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        is_new, self._is_new = self._is_new, False
        return await super().inbox(session, max(after - 1, 0) if is_new else after)


class Deaf(Passing):
    """Says that it has a message, and keeps it for itself."""

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        entries = await super().inbox(session, after)
        return tuple(entry for entry in entries if not isinstance(entry.body, ev.InputReceived))


@asynccontextmanager
async def _forgetful(folder: Path) -> AsyncGenerator[Journal]:
    async with FILE.open(folder) as journal:
        yield Forgetful(journal)


@asynccontextmanager
async def _doubling(folder: Path) -> AsyncGenerator[Journal]:
    async with FILE.open(folder) as journal:
        yield Doubling(journal)


@asynccontextmanager
async def _deaf(folder: Path) -> AsyncGenerator[Journal]:
    async with FILE.open(folder) as journal:
        yield Deaf(journal)


FORGETFUL = JournalKind(name="forgetful", open=_forgetful)
DOUBLING = JournalKind(name="doubling", open=_doubling)
DEAF = JournalKind(name="deaf", open=_deaf)


# Drivers ----------------------------------------------------------------------------------------------------


class StartsLate(Passing):
    """Writes down that a tool starts when it has ended."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self._late: list[ev.Event] = []

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[ev.Event]) -> None:
        if session == SESSION and all(isinstance(event.body, ev.ToolStarted) for event in events):
            self._late += events
            return
        late, self._late = self._late, []
        await super().append(session, expected_seq - len(late), epoch, [*late, *events])


async def _starts_late(scene: Scene) -> None:
    await OWN.carry(replace(scene, journal=StartsLate(scene.journal)))


async def _takes_again(scene: Scene) -> None:
    await OWN.carry(replace(scene, journal=Repeating(scene.journal)))


async def _gives_up(scene: Scene) -> None:
    """Begins a run and never goes on with one."""
    if not await scene.journal.read(SESSION):
        await OWN.carry(scene)


STARTS_LATE = Carrier(name="starts late", carry=_starts_late)
TAKES_AGAIN = Carrier(name="takes again", carry=_takes_again)
GIVES_UP = Carrier(name="gives up", carry=_gives_up)
