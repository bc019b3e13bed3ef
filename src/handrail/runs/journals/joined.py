"""Two journals as one: sessions of the older one go on where they stand, everything else is kept in the newer one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from handrail.journal.board import (
    PAGE,
    AmbiguousAsk,
    AmbiguousRun,
    AskNotFound,
    AskRow,
    JournalWithBoard,
    RunNotFound,
    RunRow,
    RunStatus,
)
from handrail.journal.events import Event
from handrail.journal.port import Entry, Posted, Wakes
from handrail.journal.vocabulary import Actor, AskKind


class JoinedJournal:
    """Fulfils ``JournalWithBoard`` and ``Wakes`` over two journals, which are closed by whoever opened them.

    A session whose id stands in both is that of the newer one. What the older one holds is listed first where old
    comes first, and last where new does.
    """

    def __init__(self, newer: JournalWithBoard, older: JournalWithBoard) -> None:
        self.newer = newer
        self.older = older
        self._homes: dict[str, JournalWithBoard] = {}

    @property
    def poll_s(self) -> float | None:
        return self.newer.poll_s

    async def home(self, session: str) -> JournalWithBoard:
        """The journal that keeps ``session``."""
        found = self._homes.get(session)
        if found is None:
            is_older = bool(await self.older.read(session)) and not await self.newer.read(session)
            found = self._homes[session] = self.older if is_older else self.newer
        return found

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[Event]) -> None:
        await (await self.home(session)).append(session, expected_seq, epoch, events)

    async def read(self, session: str, after: int = 0) -> tuple[Event, ...]:
        return await (await self.home(session)).read(session, after)

    async def take_over(self, session: str) -> int:
        return await (await self.home(session)).take_over(session)

    async def post(self, session: str, body: Posted, by: Actor, key: str) -> Entry:
        return await (await self.home(session)).post(session, body, by, key)

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        return await (await self.home(session)).inbox(session, after)

    async def sessions(self) -> tuple[str, ...]:
        newer = await self.newer.sessions()
        return (*(name for name in await self.older.sessions() if name not in newer), *newer)

    def listen(self, session: str) -> AbstractContextManager[Callable[[float], Awaitable[None]]]:
        """Inside the block: what waits for news of ``session``, so many seconds at most."""
        home = self._homes.get(session, self.newer)
        return home.listen(session) if isinstance(home, Wakes) else _looking()

    # The board

    async def asks(
        self,
        *,
        is_open: bool | None = True,
        root: str | None = None,
        session: str | None = None,
        kind: AskKind | None = None,
        after: str | None = None,
        limit: int = PAGE,
    ) -> tuple[AskRow, ...]:
        first: tuple[AskRow, ...] = ()
        try:
            first = await self.older.asks(
                is_open=is_open, root=root, session=session, kind=kind, after=after, limit=limit
            )
            after = None
        except AskNotFound:
            # It is one of the newer journal, or none at all, which that one says.
            pass
        left = limit - len(first)
        if left <= 0:
            return first
        rest = await self.newer.asks(is_open=is_open, root=root, session=session, kind=kind, after=after, limit=left)
        return (*first, *rest)

    async def ask(self, name: str) -> AskRow:
        found: list[AskRow] = []
        for one in (self.newer, self.older):
            with contextlib.suppress(AskNotFound):
                found.append(await one.ask(name))
        if not found:
            raise AskNotFound(f"no question answers to {name!r}")
        if len(found) > 1 and name not in (row.ask for row in found):
            raise AmbiguousAsk(f"several questions answer to {name!r}", hint="say more of the id")
        return next((row for row in found if row.ask == name), found[0])

    async def runs(
        self, *, status: RunStatus | None = None, after: str | None = None, limit: int = PAGE
    ) -> tuple[RunRow, ...]:
        first: tuple[RunRow, ...] = ()
        try:
            first = await self.newer.runs(status=status, after=after, limit=limit)
            after = None
        except RunNotFound:
            # It is one of the older journal, or none at all, which that one says.
            pass
        left = limit - len(first)
        return first if left <= 0 else (*first, *await self.older.runs(status=status, after=after, limit=left))

    async def run(self, name: str) -> RunRow:
        found: list[RunRow] = []
        for one in (self.newer, self.older):
            with contextlib.suppress(RunNotFound):
                found.append(await one.run(name))
        if not found:
            raise RunNotFound(f"no run answers to {name!r}")
        if len(found) > 1 and name not in (row.session for row in found):
            raise AmbiguousRun(f"several runs answer to {name!r}", hint="say more of the id")
        return next((row for row in found if row.session == name), found[0])


@contextlib.contextmanager
def _looking() -> Iterator[Callable[[float], Awaitable[None]]]:
    """For a journal that wakes nobody: one looks again when the time is over."""
    yield asyncio.sleep
