"""Waking: one connection that listens for all sessions somebody in this process waits for."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator

import psycopg

from handrail.errors import StoreError
from handrail.runs.journals.psycopg_database import CHANNEL, Connection

_LOOK_S = 0.5
"""How often, in seconds, the thread looks whether it is still wanted."""

_AGAIN_S = 2.0
"""How long, in seconds, before it connects again after it lost its connection."""


class _Waiter:
    """One who waits, in a loop of its own; news that come before it waits are not lost."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._has_news = asyncio.Event()

    def tell(self) -> None:
        with contextlib.suppress(RuntimeError):
            # The loop may be closed by now; then nobody waits.
            self._loop.call_soon_threadsafe(self._has_news.set)

    async def wait(self, within_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._has_news.wait()
        self._has_news.clear()


class Listener:
    """Hears what is announced in the database, in a thread that runs from the first ``listen`` on.

    Without a connection nobody is woken, and those who wait look by themselves after the time they named.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._waiters: defaultdict[str, list[_Waiter]] = defaultdict(list)
        self._thread: threading.Thread | None = None
        self._is_over = threading.Event()

    @contextlib.contextmanager
    def listen(self, session: str) -> Iterator[Callable[[float], Awaitable[None]]]:
        """Inside the block: what waits for news of ``session``, so many seconds at most."""
        waiter = _Waiter()
        with self._lock:
            self._waiters[session].append(waiter)
            if self._thread is None and not self._is_over.is_set():
                self._thread = threading.Thread(target=self._run, name="handrail listener", daemon=True)
                self._thread.start()
        try:
            yield waiter.wait
        finally:
            with self._lock:
                self._waiters[session].remove(waiter)
                if not self._waiters[session]:
                    del self._waiters[session]

    def close(self) -> None:
        """Listen no more."""
        self._is_over.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._is_over.is_set():
            try:
                with self._connect() as connection:
                    self._hear(connection)
            except (psycopg.Error, StoreError):
                # Those who wait look by themselves meanwhile.
                self._is_over.wait(_AGAIN_S)

    def _hear(self, connection: Connection) -> None:
        connection.autocommit = True
        connection.execute("LISTEN " + CHANNEL)
        # What was announced before this stood is news to everybody.
        self._tell(None)
        while not self._is_over.is_set():
            for notice in connection.notifies(timeout=_LOOK_S):
                self._tell(notice.payload)

    def _tell(self, session: str | None) -> None:
        """Wake who waits for ``session``; everybody for None."""
        with self._lock:
            if session is None:
                woken = [waiter for waiters in self._waiters.values() for waiter in waiters]
            else:
                # Whoever waits for any session waits under no name.
                woken = [*self._waiters.get(session, ()), *self._waiters.get("", ())]
        for waiter in woken:
            waiter.tell()
