"""The one place where a run's events are appended, folded and shown to those who watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from handrail.agents.conversation import Conversation
from handrail.clock import Clock
from handrail.journal.events import Event, Known
from handrail.journal.fold import apply, fold
from handrail.journal.port import AskTaken, Entry, Journal
from handrail.journal.state import State
from handrail.journal.vocabulary import DRIVER, Actor

Said: TypeAlias = tuple[Known, Actor]
"""An event and who caused it."""


class Writer:
    """Holds the epoch of one session in one journal; ``state`` and ``conversation`` are what its events fold to.

    ``also`` takes in every event too, from the session's first on: whatever else is folded of them. Appends of
    several tasks take their turn, so that each is numbered after what really came before it.
    """

    def __init__(
        self, journal: Journal, session: str, clock: Clock, also: Callable[[Event], None] | None = None
    ) -> None:
        self.journal = journal
        self.session = session
        self.clock = clock
        self.state = State()
        self.conversation = Conversation()
        self.epoch = 0
        self._also = also
        self.watch: Callable[[Event], None] | None = None
        self._turn = asyncio.Lock()

    async def open(self) -> None:
        """Take the session over and read what it holds. ``BrokenJournal`` when its events do not fold."""
        self.epoch = await self.journal.take_over(self.session)
        for event in await self.journal.read(self.session):
            self._take(event)

    async def record(self, *bodies: Known, by: Actor = DRIVER) -> None:
        """Append ``bodies`` as one, all or none. Raises as ``Journal.append`` does, and then nothing has happened."""
        async with self._turn:
            at = self.clock.now()
            first = self.state.seq + 1
            await self._append([Event(seq=seq, by=by, body=body, at=at) for seq, body in enumerate(bodies, first)])

    async def record_by(self, *said: Said, then: Callable[[State], Iterable[Said]] | None = None) -> None:
        """Append bodies with a cause each, all or none, and with them what ``then`` gives for the state after them."""
        async with self._turn:
            events = self._events(said, self.state)
            state = fold(events, self.state)
            if then is not None:
                more = self._events(then(state), state)
                events, state = events + more, fold(more, state)
            await self._append(events, state)

    async def record_if(self, make: Callable[[], Iterable[Said]]) -> bool:
        """Append what ``make`` gives, asked once nobody else can append any more; whether it gave anything.

        What several tasks may settle (a question, a call) is settled through this: each looks at the state that its
        events will follow, however long it had to wait for its turn. Nothing is appended either where an answer that
        stands in the inbox goes before: taking the inbox settles that question.
        """
        async with self._turn:
            said = tuple(make())
            if not said:
                return False
            try:
                await self._append(self._events(said, self.state))
            except AskTaken:
                return False
            return True

    async def record_entry(self, entry: Entry, make: Callable[[], Iterable[Known]]) -> None:
        """Journal an inbox entry as the bodies that ``make`` gives, all or none, asked as by ``record_if``."""
        async with self._turn:
            first = self.state.seq + 1
            events = [
                Event(seq=seq, by=entry.by, body=body, at=entry.at, inbox=entry.number)
                for seq, body in enumerate(make(), first)
            ]
            await self._append(events)

    def _events(self, said: Iterable[Said], after: State) -> list[Event]:
        at = self.clock.now()
        return [Event(seq=seq, by=by, body=body, at=at) for seq, (body, by) in enumerate(said, after.seq + 1)]

    async def _append(self, events: Sequence[Event], folded: State | None = None) -> None:
        """``folded`` is the state after ``events``, where it is known."""
        # Folded before it is appended: what cannot have happened must not be written down.
        state = fold(events, self.state) if folded is None else folded
        await self.journal.append(self.session, self.state.seq, self.epoch, events)
        self.state = state
        for event in events:
            self._show(event)
            if self.watch is not None:
                self.watch(event)

    def _take(self, event: Event) -> None:
        self.state = apply(self.state, event)
        self._show(event)

    def _show(self, event: Event) -> None:
        self.conversation.add(event)
        if self._also is not None:
            self._also(event)
