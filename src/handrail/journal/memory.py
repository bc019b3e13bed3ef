"""The journal in memory: what the library keeps unless it is given another, and the model for those on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from handrail.clock import Clock, SystemClock
from handrail.journal.board_rows import SETTLING, check_answer, check_closings
from handrail.journal.events import Event
from handrail.journal.folded import FoldedBoard
from handrail.journal.port import Entry, Posted, SeqConflict, StaleEpoch, check_numbers
from handrail.journal.vocabulary import Actor


class _Session:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.epoch = 0
        self.entries: list[Entry] = []
        self.by_key: dict[str, Entry] = {}
        self.heard: list[Callable[[Entry], None]] = []


class MemoryJournal(FoldedBoard):
    """Fulfils ``JournalWithBoard``. May be used from several threads and loops; nothing in it waits."""

    poll_s: float | None = None

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[Event]) -> None:
        check_numbers(expected_seq, events)
        with self._lock:
            kept = self._session(session)
            if epoch != kept.epoch:
                raise StaleEpoch(f"session {session} is driven under epoch {kept.epoch}, not {epoch}")
            if expected_seq != len(kept.events):
                raise SeqConflict(f"session {session} stands at event {len(kept.events)}, not {expected_seq}")
            check_closings(events, session, kept.events, kept.entries)
            kept.events += events

    async def read(self, session: str, after: int = 0) -> tuple[Event, ...]:
        with self._lock:
            kept = self._sessions.get(session)
            return () if kept is None else tuple(kept.events[after:])

    async def take_over(self, session: str) -> int:
        with self._lock:
            kept = self._session(session)
            kept.epoch += 1
            return kept.epoch

    async def post(self, session: str, body: Posted, by: Actor, key: str) -> Entry:
        with self._lock:
            kept = self._session(session)
            if key not in kept.by_key:
                if isinstance(body, SETTLING):
                    check_answer(body.ask, session, kept.events, kept.entries)
                entry = Entry(number=len(kept.entries) + 1, body=body, by=by, key=key, at=self._clock.now())
                kept.entries.append(entry)
                kept.by_key[key] = entry
                for heard in kept.heard:
                    heard(entry)
            return kept.by_key[key]

    def tell(self, session: str, heard: Callable[[Entry], None]) -> Callable[[], None]:
        """See ``Tells``."""
        with self._lock:
            kept = self._session(session)
            kept.heard.append(heard)
        return lambda: kept.heard.remove(heard)

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        with self._lock:
            kept = self._sessions.get(session)
            return () if kept is None else tuple(kept.entries[after:])

    async def sessions(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(name for name, kept in self._sessions.items() if kept.events)

    def _session(self, session: str) -> _Session:
        return self._sessions.setdefault(session, _Session())
