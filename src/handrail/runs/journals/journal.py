"""The asynchronous face of a journal in SQL: every operation is a transaction, run in a thread of the journal's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from handrail.clock import Clock, SystemClock
from handrail.ids import check_id
from handrail.journal.board import PAGE, AskRow, RunRow, RunStatus
from handrail.journal.events import Event
from handrail.journal.port import Entry, Posted, check_numbers
from handrail.journal.vocabulary import Actor, AskKind
from handrail.journal.wire import encode_event
from handrail.runs.journals import board_tables, outbox, transactions
from handrail.runs.journals.board_tables import Left
from handrail.runs.journals.database import Database, Transaction, Value
from handrail.runs.journals.outbox import News
from handrail.runs.journals.uncut import uncut

LEASE = timedelta(minutes=1)
"""For how long what is to be told is held by whoever took it."""


class SqlJournal:
    """Fulfils ``JournalWithBoard`` over a ``Database``. May be used from several threads and loops.

    An operation that was begun is finished, and its outcome known, before a cancellation of whoever awaits it comes
    through: what a run believes to be in its journal is what is in it.
    """

    def __init__(self, database: Database, clock: Clock | None, *, poll_s: float, threads: int = 1) -> None:
        self.poll_s: float | None = poll_s
        self.database = database
        self._clock = clock or SystemClock()
        self._size = threads
        self._threads = self._new_threads()

    def close(self) -> None:
        """Let go of the database, once what was begun is finished; the journal opens it again when it is used."""
        ending, self._threads = self._threads, self._new_threads()
        ending.shutdown()
        self.database.close()

    def _new_threads(self) -> ThreadPoolExecutor:
        """Threads that begin when there is work for them."""
        return ThreadPoolExecutor(self._size, thread_name_prefix="handrail journal")

    # The journal

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[Event]) -> None:
        check_id(session)
        check_numbers(expected_seq, events)
        cells = [encode_event(event) for event in events]

        def work(transaction: Transaction) -> None:
            transactions.append(transaction, session, expected_seq, epoch, events, cells)

        is_durable = transactions.is_durable(events)
        if is_durable or self.database.at_once(work, writes=True) is None:
            await self._write(work, is_durable=is_durable)

    async def read(self, session: str, after: int = 0) -> tuple[Event, ...]:
        check_id(session)
        return await self._read(lambda transaction: transactions.read(transaction, session, after))

    async def take_over(self, session: str) -> int:
        check_id(session)
        return await self._write(lambda transaction: transactions.take_over(transaction, session))

    async def post(self, session: str, body: Posted, by: Actor, key: str) -> Entry:
        check_id(session)
        at = self._clock.now()
        return await self._write(lambda transaction: transactions.post(transaction, session, body, by, key, at))

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        check_id(session)

        def work(transaction: Transaction) -> tuple[Entry, ...]:
            return transactions.inbox(transaction, session, after)

        # Asked at every step of a run, and next to always there is nothing.
        done = self.database.at_once(work, writes=False)
        return await self._read(work) if done is None else done.value

    async def sessions(self) -> tuple[str, ...]:
        return await self._read(transactions.sessions)

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
        return await self._read(
            lambda transaction: board_tables.list_asks(
                transaction, is_open=is_open, root=root, session=session, kind=kind, after=after, limit=limit
            )
        )

    async def ask(self, name: str) -> AskRow:
        return await self._read(lambda transaction: board_tables.find_ask(transaction, name))

    async def runs(
        self, *, status: RunStatus | None = None, after: str | None = None, limit: int = PAGE
    ) -> tuple[RunRow, ...]:
        return await self._read(
            lambda transaction: board_tables.list_runs(transaction, status=status, after=after, limit=limit)
        )

    async def run(self, name: str) -> RunRow:
        return await self._read(lambda transaction: board_tables.find_run(transaction, name))

    async def rebuild_board(self) -> None:
        """Make every row of the board anew from the events."""
        await self._write(board_tables.rebuild)

    # For those who carry runs

    async def mark(self) -> int | None:
        """A number that is another one once another journal has changed anything; None where that is not known."""
        return await self._in_thread(self.database.mark)

    async def left(self) -> tuple[Left, ...]:
        """Every session whose run is not over, and how far it is, in the order they began."""
        return await self._read(board_tables.list_left)

    # The outbox

    async def take_news(self, *, limit: int = PAGE, lease: timedelta = LEASE) -> tuple[News, ...]:
        """What is to be told and nobody else holds, oldest first, held for the length of ``lease``."""
        now = self._clock.now()
        return await self._write(lambda transaction: outbox.take(transaction, now, lease=lease, limit=limit))

    async def told(self, news: News) -> bool:
        """Say that ``news`` was told; False when the lease ran out and somebody else holds it."""
        now = self._clock.now()
        return await self._write(lambda transaction: outbox.settle(transaction, news, sent_at=now, again_at=None))

    async def tell_again(self, news: News, at: datetime) -> bool:
        """Give ``news`` back, to be told from ``at`` on (an hour on at most); False when somebody else holds it."""
        at = min(at, self._clock.now() + outbox.LONGEST)
        return await self._write(lambda transaction: outbox.settle(transaction, news, sent_at=None, again_at=at))

    async def forget_told(self, before: datetime) -> int:
        """Drop what was told before that instant; how many rows those were."""
        return await self._write(lambda transaction: outbox.forget(transaction, before))

    async def _write(self, work: Callable[[Transaction], Value], *, is_durable: bool = True) -> Value:
        return await self._in_thread(lambda: self.database.write(work, is_durable=is_durable))

    async def _read(self, work: Callable[[Transaction], Value]) -> Value:
        return await self._in_thread(lambda: self.database.read(work))

    async def _in_thread(self, work: Callable[[], Value]) -> Value:
        loop = asyncio.get_running_loop()
        return await uncut(lambda: loop.run_in_executor(self._threads, work))
