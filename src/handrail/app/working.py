"""Use case: one of any number of workers that carry the runs of a PostgreSQL database, on as many machines.

Each looks for runs that have something to do and nobody is at, and puts them into the queue; whoever has room carries
them, until they wait or end. The job of a worker that died, or stands still, is another's after a while: the run goes
on from its journal, and who was frozen can write no more.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path

from handrail.agents.run import Run
from handrail.app.driving import ServerRuns
from handrail.app.due import by_tree, has_unread, is_due
from handrail.app.journals import UnknownDatabase, database_of, opened_database
from handrail.app.machine import Machine
from handrail.app.notifying import Webhooks, notifying
from handrail.app.ordering import Order
from handrail.app.running import ELSEWHERE, require_extra, start_run
from handrail.app.serving import Served, noted, outcome, see_to_due
from handrail.clock import Clock, SystemClock
from handrail.errors import HandrailError, StoreError
from handrail.journal.fold import fold
from handrail.runs.desk import Desk
from handrail.runs.journals.board_tables import Left
from handrail.runs.journals.holding import CARRYING, HeldElsewhere
from handrail.runs.journals.postgres import ANY, PostgresJournal
from handrail.runs.worker.queue import Queue, pace_for

LOOK_S = 5.0
"""How often, in seconds, one looks for runs to carry where nothing was announced: for those whose process died."""

LULL_S = 0.3
"""How long, in seconds, is waited after a look, however much is announced."""

AGAIN_S = 2.0
"""How long, in seconds, before a database that went away is tried again."""

DUE_EVERY = timedelta(seconds=15)


class Worker:
    """Carries runs until ``stop`` is called; at most ``most`` at a time. ``tell`` hears what happens to each.

    Another one that gave no sign of life for ``stalled_after_s`` seconds counts as gone.
    """

    def __init__(
        self,
        machine: Machine,
        environment: Mapping[str, str],
        tell: Callable[[Served], None],
        *,
        most: int = 8,
        database: str | None = None,
        webhooks: Webhooks | None = None,
        stalled_after_s: float = 12.0,
        clock: Clock | None = None,
    ) -> None:
        self._machine = machine
        self._environment = environment
        self._tell = tell
        self._most = most
        self._pace = pace_for(stalled_after_s)
        self._database = database_of(environment, database)
        self._endpoints = (webhooks or Webhooks()).endpoints(environment)
        self._clock = clock or SystemClock()
        self._handles: dict[str, Run] = {}
        self._as_left: dict[str, tuple[Left, ...]] = {}
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Take up nothing more, and leave what is carried to others once what runs of it has landed."""
        self._stopping.set()
        self._park()

    def _park(self) -> None:
        for run in self._handles.values():
            run.park()

    async def work(self) -> None:
        """Carry runs until it is stopped; ``ServerRuns`` where a server carries those of the database.

        A database that went away is waited for; one that cannot be used from the beginning is a ``StoreError``.
        """
        require_extra()
        with opened_database(self._machine, self._environment, self._database) as journal:
            if not isinstance(journal, PostgresJournal):
                raise UnknownDatabase("workers share a PostgreSQL database", hint="--database postgresql://…")
            await self._attend(journal)
            while not self._stopping.is_set():
                try:
                    await self._attend(journal)
                except StoreError as problem:
                    self._tell(Served(event="failed", detail=problem.message))
                    await self._pause()

    async def _attend(self, journal: PostgresJournal) -> None:
        """Work until it is stopped, or until the database is lost: then that is told, and waited for a moment."""
        queue = Queue(self._database or "", partial(self._carry, journal), most=self._most, pace=self._pace)
        with _sharing(journal):
            async with queue.opened(), notifying(journal, self._endpoints, noted(self._tell)):
                self._tell(Served(event="ready"))
                try:
                    await self._work(journal, queue)
                except StoreError as problem:
                    self._tell(Served(event="failed", detail=problem.message))
                    await self._pause()

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(AGAIN_S):
                await self._stopping.wait()

    async def _work(self, journal: PostgresJournal, queue: Queue) -> None:
        loop, is_over = asyncio.get_running_loop(), asyncio.Event()
        looking = loop.create_task(self._look_again_and_again(journal, queue))
        working = loop.create_task(queue.work(is_over))
        stopping = loop.create_task(self._stopping.wait())
        try:
            done, _ = await asyncio.wait((looking, working, stopping), return_when=asyncio.FIRST_COMPLETED)
            for task in done - {stopping}:
                task.result()
        finally:
            is_over.set()
            self._park()
            looking.cancel()
            stopping.cancel()
            await asyncio.gather(looking, working, stopping, return_exceptions=True)

    async def _look_again_and_again(self, journal: PostgresJournal, queue: Queue) -> None:
        desk, due_at = Desk(journal), self._clock.now()
        with journal.listen(ANY) as announced:
            while True:
                if (now := self._clock.now()) >= due_at:
                    await see_to_due(desk, now)
                    due_at = now + DUE_EVERY
                await self._take_up(journal, queue)
                await asyncio.sleep(LULL_S)
                await announced(LOOK_S)

    async def _take_up(self, journal: PostgresJournal, queue: Queue) -> None:
        """Put into the queue what has something to do and nobody is at, the oldest first."""
        trees, busy = by_tree(await journal.left()), await queue.busy()
        self._as_left = {root: tree for root, tree in self._as_left.items() if root in trees}
        for root, tree in trees.items():
            if root in busy or self._as_left.get(root) == tree or journal.is_held(root):
                continue
            self._as_left[root] = tree
            if await is_due(journal, root, tree, self._clock.now()):
                await queue.put(root)

    async def _carry(self, journal: PostgresJournal, session: str) -> bool:
        """Carry one run until it waits or ends; whether it is to be carried on at once."""
        state = fold(await journal.read(session))
        if state.run is None and not await journal.inbox(session, state.inbox):
            return False
        order = Order(workspace=Path.cwd(), session=session, database=self._database)
        try:
            async with start_run(self._machine, order, self._environment, ELSEWHERE, is_held=True) as begun:
                self._handles[session] = begun.run
                if self._stopping.is_set():
                    begun.run.park()
                self._tell(Served(event="taken", session=session))
                told = await outcome(begun.run)
        except HandrailError as problem:
            self._tell(Served(event="failed", session=session, detail=problem.message))
            return False
        finally:
            self._handles.pop(session, None)
        self._tell(told)
        return told.event == "waits" and await self._has_more(journal, session)

    async def _has_more(self, journal: PostgresJournal, session: str) -> bool:
        """Whether something came that the run did not hear any more, or it was left in the middle of its work."""
        tree = by_tree(await journal.left()).get(session, ())
        return await has_unread(journal, tree) or await is_due(journal, session, tree, self._clock.now())


@contextlib.contextmanager
def _sharing(journal: PostgresJournal) -> Iterator[None]:
    """Be one of those that carry the runs of ``journal``; ``ServerRuns`` where one does so alone."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(journal.holding(CARRYING, is_shared=True))
        except HeldElsewhere as problem:
            raise ServerRuns("a server carries the runs of this database; workers do so without one") from problem
        yield
