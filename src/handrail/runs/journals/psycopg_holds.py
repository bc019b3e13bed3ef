"""What this process holds in PostgreSQL: advisory locks on one connection, which end with it, however it ends."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import psycopg

from handrail.errors import StoreError
from handrail.runs.journals.holding import HeldElsewhere
from handrail.runs.journals.psycopg_database import Connection

_KEY = "hashtextextended('handrail ' || %s, 0)"

# Looked up, not tried: a lock that is tried for is held for a moment, and somebody else refused.
_IS_HELD = f"""SELECT EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pid <> pg_backend_pid()
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND ((classid::bigint << 32) | objid::bigint) = {_KEY}
)"""


class Holds:
    """The locks of one process. A server that went away forgets them; they are taken again as soon as it is asked."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._held: list[tuple[str, str]] = []

    @contextlib.contextmanager
    def holding(self, name: str, *, is_shared: bool = False) -> Iterator[None]:
        """Hold ``name`` as long as the block lasts; ``HeldElsewhere`` where another does, and not both share it."""
        kind = "_shared" if is_shared else ""
        taking = (f"pg_try_advisory_lock{kind}", name)
        if not self._asked(*taking):
            raise HeldElsewhere(f"another process is at {name}")
        self._held.append(taking)
        try:
            yield
        finally:
            if taking in self._held:
                self._held.remove(taking)
                with contextlib.suppress(StoreError):
                    # With the connection the lock is gone too.
                    self._asked(f"pg_advisory_unlock{kind}", name)

    def is_held(self, name: str) -> bool:
        """Whether somebody else holds ``name``, shared or not."""
        return self._told(_IS_HELD, name)

    def close(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._held.clear()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _asked(self, function: str, name: str) -> bool:
        return self._told(f"SELECT {function}({_KEY})", name)

    def _told(self, sql: str, name: str) -> bool:
        with self._lock:
            try:
                return self._row(sql, name)
            except psycopg.OperationalError:
                # The server went away in between, with all that was held.
                self._connection = None
            except psycopg.Error as problem:
                raise _unknown(name, problem) from problem
            try:
                return self._row(sql, name)
            except psycopg.Error as problem:
                raise _unknown(name, problem) from problem

    def _row(self, sql: str, name: str) -> bool:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
            self._connection.autocommit = True
            for function, held in self._held:
                # Somebody may have come first meanwhile; then both are at it, and epochs tell them apart.
                self._connection.execute(f"SELECT {function}({_KEY})".encode(), (held,))
        row = self._connection.execute(sql.encode(), (name,)).fetchone()
        return row is not None and bool(row[0])


def _unknown(name: str, problem: psycopg.Error) -> StoreError:
    return StoreError(f"nobody can say who is at {name}: {' '.join(str(problem).split())}")
