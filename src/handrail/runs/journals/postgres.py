"""PostgreSQL by URL: the same journal for many machines, whose processes wake one another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import partial
from importlib.util import find_spec

from handrail.clock import Clock, SystemClock
from handrail.errors import MissingExtra
from handrail.runs.journals.journal import SqlJournal

POLL_S = 2.0
"""How often, in seconds, a driver looks for what was posted even when nothing woke it."""

CONNECTIONS = 4
"""How many transactions of one journal run at once."""

CONNECT_S = 10.0
"""How long, in seconds, one attempt to get a connection may take."""

PATIENCE_S = 60.0
"""For how long, in seconds, a server that went away is waited for before an operation fails."""


class PostgresJournal(SqlJournal):
    """Fulfils ``JournalWithBoard``, ``Wakes`` and ``Holder`` with the schema ``handrail`` of one PostgreSQL database.

    ``url`` is a connection string of libpq (``postgresql://…``). The schema is made when it is not there. Raises
    ``MissingExtra`` without the extra ``postgres``.
    """

    def __init__(
        self,
        url: str,
        clock: Clock | None = None,
        *,
        poll_s: float = POLL_S,
        connections: int = CONNECTIONS,
        patience_s: float = PATIENCE_S,
        connect_s: float = CONNECT_S,
    ) -> None:
        require_driver()
        from handrail.runs.journals.psycopg_database import PsycopgDatabase
        from handrail.runs.journals.psycopg_holds import Holds
        from handrail.runs.journals.psycopg_listener import Listener

        clock = clock or SystemClock()
        database = PsycopgDatabase(url, clock, connections=connections, patience_s=patience_s, connect_s=connect_s)
        super().__init__(database, clock, poll_s=poll_s, threads=connections)
        self._new_listener = partial(Listener, database.connect)
        self._listener = self._new_listener()
        self._holds = Holds(database.connect)

    def listen(self, session: str) -> AbstractContextManager[Callable[[float], Awaitable[None]]]:
        """Inside the block: what waits for news of ``session`` (``ANY``: of any), so many seconds at most."""
        return self._listener.listen(session)

    def holding(self, name: str, *, is_shared: bool = False) -> AbstractContextManager[None]:
        """See ``Holder``."""
        return self._holds.holding(name, is_shared=is_shared)

    def is_held(self, name: str) -> bool:
        """See ``Holder``; of what this journal itself holds it says no."""
        return self._holds.is_held(name)

    def close(self) -> None:
        self._holds.close()
        ending, self._listener = self._listener, self._new_listener()
        ending.close()
        super().close()


ANY = ""
"""Any session, to ``PostgresJournal.listen``."""


def require_driver() -> None:
    """``MissingExtra`` unless what PostgreSQL needs is installed."""
    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        raise MissingExtra("PostgreSQL needs the extra 'postgres'", hint="pip install 'handrail[postgres]'")
