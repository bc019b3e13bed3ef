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
    """The locks of one process. A server that went away in between has forgotten them; epochs still guard the runs."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    @contextlib.contextmanager
    def holding(self, name: str, *, is_shared: bool = False) -> Iterator[None]:
        """Hold ``name`` as long as the block lasts; ``HeldElsewhere`` where another does, and not both share it."""
        kind = "_shared" if is_shared else ""
        if not self._asked(f"pg_try_advisory_lock{kind}", name):
            raise HeldElsewhere(f"another process is at {name}")
        try:
            yield
        finally:
            with contextlib.suppress(StoreError):
                # With the connection the lock is gone too.
                self._asked(f"pg_advisory_unlock{kind}", name)

    def is_held(self, name: str) -> bool:
        """Whether somebody else holds ``name``, shared or not."""
        return self._told(_IS_HELD, name)

    def close(self) -> None:
        """Let go of everything."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _asked(self, function: str, name: str) -> bool:
        return self._told(f"SELECT {function}({_KEY})", name)

    def _told(self, sql: str, name: str) -> bool:
        with self._lock:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = self._connect()
                    self._connection.autocommit = True
                row = self._connection.execute(sql.encode(), (name,)).fetchone()
            except psycopg.Error as problem:
                raise StoreError(f"nobody can say who is at {name}: {' '.join(str(problem).split())}") from problem
        return row is not None and bool(row[0])
