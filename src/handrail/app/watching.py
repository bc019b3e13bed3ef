"""Use case: watch a run that is driven elsewhere, or by nobody yet: what its journal records, as it is recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from handrail.agents.run import Relayed
from handrail.app.journals import opened_journal
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.run_events import RunHappened
from handrail.app.standing import Driven, driven_by
from handrail.journal.board import RunRow
from handrail.journal.events import ChildSpawned, Event, RunStarted
from handrail.journal.port import Journal
from handrail.runs.journals.joined import JoinedJournal

LOOK_S = 0.5
"""How often, in seconds, one looks at most: the journal wakes earlier where it can."""


class WatchBegan(Struct, frozen=True, kw_only=True, tag_field="event", tag="run"):
    """The run that is watched, as it stood then, and who drives it."""

    schema_version: int = SCHEMA_VERSION
    run: RunRow
    driven: Driven


class WatchEnded(Struct, frozen=True, kw_only=True, tag_field="event", tag="end"):
    """Why nothing more comes: the run is over, or as it stood when it was asked for once."""

    schema_version: int = SCHEMA_VERSION
    run: RunRow


Watched: TypeAlias = WatchBegan | Event | Relayed | WatchEnded
"""What a watcher sees; events of agents below come with the sessions they came through."""


WatchEvent: TypeAlias = WatchBegan | RunHappened | WatchEnded
"""What ``handrail watch --json`` prints, one a line."""


async def watch(
    machine: Machine,
    environment: Mapping[str, str],
    name: str,
    *,
    is_whole: bool = False,
    once: bool = False,
    database: str | None = None,
) -> AsyncIterator[Watched]:
    """The run that ``name`` means from its beginning on (``is_whole``: from the session's), until it is over.

    ``once``: what there is. Raises ``RunNotFound`` and ``AmbiguousRun``.
    """
    with opened_journal(machine, environment, database) as journal:
        row = await journal.run(name)
        yield WatchBegan(run=row, driven=driven_by(machine, environment, row.root, database, journal))
        after = 0 if is_whole else _before_last_run(await journal.read(row.session))
        async for seen in _events(journal, row.session, after, once=once):
            yield seen
        yield WatchEnded(run=await journal.run(row.session))


def _before_last_run(events: tuple[Event, ...]) -> int:
    """The number of the event before the one that the last run begins with."""
    return next((event.seq - 1 for event in reversed(events) if isinstance(event.body, RunStarted)), 0)


async def _events(journal: JoinedJournal, session: str, after: int, *, once: bool) -> AsyncIterator[Event | Relayed]:
    tree = _Tree(journal, session, after)
    await journal.home(session)
    with journal.listen(session) as news:
        while True:
            # Asked before reading: what ends after it is read in the next turn.
            is_over = (await journal.run(session)).status == "ended"
            found = False
            async for seen in tree.look():
                found = True
                yield seen
            if once or (is_over and not found):
                return
            if not found:
                await news(LOOK_S)


class _Tree:
    """A session and the agents below it: how far each was read."""

    def __init__(self, journal: Journal, session: str, after: int) -> None:
        self._journal = journal
        self._after: dict[tuple[str, ...], int] = {(): after}
        self._root = session

    async def look(self) -> AsyncIterator[Event | Relayed]:
        """What is new since the last look: of the session itself, then of each agent that was known by then."""
        for origin in tuple(self._after):
            name = origin[-1] if origin else self._root
            for event in await self._journal.read(name, self._after[origin]):
                self._after[origin] = event.seq
                if isinstance(event.body, ChildSpawned):
                    self._after.setdefault((*origin, event.body.child), 0)
                yield Relayed(origin, event) if origin else event
