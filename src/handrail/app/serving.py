"""Use case: one process that carries on every run of a database that nobody else drives.

A run is carried until it waits for a person or ends, and then held by nobody: what waits is rows. It is taken up again
when something was sent to it, when a question of it fell due, and when the process that drove it died.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from msgspec import Struct

from handrail.agents.result import RunFailed
from handrail.agents.run import Run
from handrail.app.driving import RunDriven, carrying_alone, is_driven, serving
from handrail.app.due import by_tree, has_unread, is_due
from handrail.app.journals import database_of, opened_database, sessions_folder
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.notifying import Webhooks, notifying
from handrail.app.ordering import Order
from handrail.app.running import ELSEWHERE, require_extra, start_run
from handrail.clock import Clock, SystemClock
from handrail.errors import HandrailError
from handrail.journal.vocabulary import EndReason
from handrail.runs.desk import Desk
from handrail.runs.journals.board_tables import Left
from handrail.runs.journals.journal import SqlJournal
from handrail.runs.webhooks.sending import Delivery

LOOK_S = 0.3
"""How often, in seconds, one asks whether anything was committed, which costs next to nothing."""

DUE_EVERY = timedelta(seconds=15)
"""How often one looks for questions that fell due."""


class Served(Struct, frozen=True, kw_only=True):
    """What happened to a run: it was taken up, it waits for a person, it ended, or it could not be carried on.

    ``ready`` is said once, of no run: from then on runs are carried. ``notice`` is said of a try to tell another
    program something, and ``detail`` what came of it.
    """

    schema_version: int = SCHEMA_VERSION
    event: Literal["ready", "taken", "waits", "ended", "failed", "notice"]
    session: str = ""
    reason: EndReason | None = None
    detail: str | None = None


class Server:
    """Carries runs until ``stop`` is called; at most ``most`` at a time. ``tell`` hears what happens to each."""

    def __init__(
        self,
        machine: Machine,
        environment: Mapping[str, str],
        tell: Callable[[Served], None],
        *,
        most: int = 8,
        database: str | None = None,
        webhooks: Webhooks | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._machine = machine
        self._environment = environment
        self._tell = tell
        self._most = most
        self._database = database_of(environment, database)
        self._endpoints = (webhooks or Webhooks()).endpoints(environment)
        self._clock = clock or SystemClock()
        self._folder = sessions_folder(machine)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._handles: dict[str, Run] = {}
        self._as_left: dict[str, tuple[Left, ...]] = {}
        self._elsewhere: set[str] = set()
        self._has_more = True
        self._stopping = asyncio.Event()
        self._news = asyncio.Event()

    def stop(self) -> None:
        """Take up nothing more, and leave what is carried once what runs of it has landed."""
        self._stopping.set()
        self._news.set()
        for run in self._handles.values():
            run.park()

    async def serve(self) -> None:
        """Carry runs until it is stopped; ``ServerRuns`` where another process serves the same database."""
        require_extra()
        with (
            serving(self._folder, self._database),
            opened_database(self._machine, self._environment, self._database) as journal,
            carrying_alone(journal),
        ):
            self._tell(Served(event="ready"))
            try:
                async with notifying(journal, self._endpoints, noted(self._tell)):
                    await self._look_again_and_again(journal)
            finally:
                self.stop()
                await asyncio.gather(*self._running.values())

    async def _look_again_and_again(self, journal: SqlJournal) -> None:
        desk, due_at, seen = Desk(journal), self._clock.now(), None
        while not self._stopping.is_set():
            if (now := self._clock.now()) >= due_at:
                await see_to_due(desk, now)
                due_at = now + DUE_EVERY
            mark = await journal.mark()
            if mark is None or mark != seen or self._has_more or self._has_died_elsewhere():
                seen, self._has_more = mark, False
                await self._take_up(journal)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S if mark is not None else journal.poll_s):
                    await self._news.wait()
            self._news.clear()

    def _has_died_elsewhere(self) -> bool:
        """Whether a process that drove a run is gone; nothing in the journal says so."""
        return any(not is_driven(self._folder, session) for session in self._elsewhere)

    async def _take_up(self, journal: SqlJournal) -> None:
        """Begin to carry what has something to do, the oldest first, as many as may be."""
        for root, tree in by_tree(await journal.left()).items():
            if root in self._running or self._as_left.get(root) == tree:
                continue
            if is_driven(self._folder, root):
                self._elsewhere.add(root)
            elif not await is_due(journal, root, tree, self._clock.now()):
                self._elsewhere.discard(root)
                self._as_left[root] = tree
            elif len(self._running) < self._most:
                self._elsewhere.discard(root)
                self._begin(journal, root, tree)
            else:
                # Somebody will be done with another one, and then it is looked for again.
                return

    def _begin(self, journal: SqlJournal, root: str, tree: tuple[Left, ...]) -> None:
        task = asyncio.get_running_loop().create_task(self._carry(journal, root, tree))
        self._running[root] = task
        task.add_done_callback(lambda _: self._done(root))

    def _done(self, root: str) -> None:
        del self._running[root]
        self._has_more = True
        self._news.set()

    async def _carry(self, journal: SqlJournal, root: str, tree: tuple[Left, ...]) -> None:
        """Carry one run until it waits or ends; what keeps it from going on is told, and not tried until it changes."""
        order = Order(workspace=Path.cwd(), session=root, database=self._database)
        try:
            async with start_run(self._machine, order, self._environment, ELSEWHERE) as begun:
                self._handles[root] = begun.run
                if self._stopping.is_set():
                    begun.run.park()
                self._tell(Served(event="taken", session=root))
                told = await outcome(begun.run)
        except RunDriven:
            self._elsewhere.add(root)
            return
        except HandrailError as problem:
            self._as_left[root] = tree
            self._tell(Served(event="failed", session=root, detail=problem.message))
            return
        finally:
            self._handles.pop(root, None)
        self._tell(told)
        await self._leave(journal, root)

    async def _leave(self, journal: SqlJournal, root: str) -> None:
        """Note how the run was left, unless something came for it that it did not hear any more."""
        tree = by_tree(await journal.left()).get(root)
        if tree is not None and not await has_unread(journal, tree):
            self._as_left[root] = tree


async def outcome(run: Run) -> Served:
    """What ``run`` comes to, once it waits or has ended."""
    session = run.session.id
    try:
        result = await run
    except RunFailed as problem:
        return Served(event="ended", session=session, reason=EndReason.FAILED, detail=problem.message)
    is_left = result.end_reason is EndReason.WAITING
    return Served(
        event="waits" if is_left else "ended", session=session, reason=result.end_reason, detail=result.detail
    )


def noted(tell: Callable[[Served], None]) -> Callable[[Delivery], None]:
    """Tells of deliveries as of everything else that happens."""

    def told(delivery: Delivery) -> None:
        answer = delivery.detail or delivery.status
        detail = f"{delivery.delivery_id} to {delivery.url}, try {delivery.attempt}: {delivery.outcome} ({answer})"
        tell(Served(event="notice", detail=detail))

    return told


async def see_to_due(desk: Desk, now: datetime) -> None:
    """What time does to questions: they run out, somebody is reminded, a vote that was the last one closes."""
    await desk.expire_due(now)
    await desk.remind_due(now)
    await desk.count_votes()
