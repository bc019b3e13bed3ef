"""A PostgreSQL database through psycopg: connections in a pool, and work run again where a server went away."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from handrail.clock import Clock, Sleeper, sleep
from handrail.errors import StoreError
from handrail.runs.journals.database import Found, Value
from handrail.runs.journals.schema import bring_up

SCHEMA = "handrail"
CHANNEL = "handrail"
"""Where sessions are announced; the payload is the session's id."""

_TYPES = {
    "serial": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "integer": "BIGINT",
    # By code point, as everywhere: the beginnings of ids are looked up as ranges.
    "text": 'TEXT COLLATE "C"',
    "bytes": "BYTEA",
}

_VALUE = re.compile(r"(?<!:):([a-z_]+)")
_LOCK_OF_THE_SCHEMA = 0x68616E64
_ROLLED_BACK = ("40001", "40P01")
"""The states of a transaction that lost to another and may be tried anew."""
_GONE = ("08", "57P", "25P03")
"""How the states of a connection begin that is gone: with its server, or taken from a process that stood still."""
FROZEN_AFTER_S = 5
"""How long, in seconds, a transaction may stand still before the server gives its locks to others.

A process that is frozen in the middle of one must not keep another from taking its session over.
"""
_WAITS_S = (0.05, 0.1, 0.2, 0.5, 1.0)
"""How long to wait before each further attempt; the last from then on."""

_HINTS = {
    "53100": "there is no room left on its disk; nothing was changed",
    "42501": "its user may not do that: give it a database in which it may make a schema",
}


Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]


class _Transaction:
    def __init__(self, connection: Connection, *, is_again: bool) -> None:
        self.is_again = is_again
        self._connection = connection

    def run(self, sql: str, **values: Any) -> Found:
        cursor = self._connection.execute(_spelled(sql), values)
        return cursor.fetchall() if cursor.description else []

    def run_locked(self, sql: str, **values: Any) -> Found:
        return self.run(sql + " FOR UPDATE", **values)

    def run_many(self, sql: str, values: Sequence[Mapping[str, Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_spelled(sql), values)

    def announce(self, session: str) -> None:
        """Committing an announcement takes a lock on all others, so it is for what somebody waits for."""
        self.run("SELECT pg_notify(:channel, :session)", channel=CHANNEL, session=session)


class PsycopgDatabase:
    """Fulfils ``Database`` with the schema ``handrail`` of the database at ``url``.

    A connection that breaks is replaced and the work run again, for ``patience_s`` seconds. A server that cannot be
    reached the first time is an error at once. Everything is durable: here a server can lose its memory while those who
    drive runs live on, and they would go on from events that are gone.
    """

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        connections: int,
        patience_s: float,
        connect_s: float,
        sleeper: Sleeper = sleep,
    ) -> None:
        self._url = url
        self._clock = clock
        self._connections = connections
        self._patience_s = patience_s
        self._connect_s = connect_s
        self._sleep = sleeper
        self._lock = threading.Lock()
        self._pool: ConnectionPool[Connection] | None = None

    def write(self, work: Callable[[_Transaction], Value], *, is_durable: bool) -> Value:
        def once(connection: Connection, is_again: bool) -> Value:
            with connection.transaction():
                return work(_Transaction(connection, is_again=is_again))

        return self._patiently(once)

    def read(self, work: Callable[[_Transaction], Value]) -> Value:
        def once(connection: Connection, is_again: bool) -> Value:
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            try:
                with connection.transaction():
                    return work(_Transaction(connection, is_again=is_again))
            finally:
                if not connection.closed:
                    connection.isolation_level = None

        return self._patiently(once)

    def at_once(self, work: Callable[[_Transaction], Value], *, writes: bool) -> None:
        """Never: a server is always waited for."""

    def mark(self) -> int | None:
        return None

    def close(self) -> None:
        with self._lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    def connect(self) -> Connection:
        """A connection of its own, with the schema found by itself."""
        connection = psycopg.connect(self._url, connect_timeout=self._whole_s)
        try:
            _find_schema(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _patiently(self, once: Callable[[Connection, bool], Value]) -> Value:
        """What ``once`` gives, tried again for as long as the server is away or another transaction won."""
        with self._told():
            pool = self._opened()
            until_s = self._clock.monotonic_s() + self._patience_s
            waits, is_again = iter(_WAITS_S), False
            while True:
                try:
                    with pool.connection(timeout=self._connect_s) as connection:
                        return once(connection, is_again)
                except psycopg.Error as problem:
                    if not _may_pass(problem) or self._clock.monotonic_s() >= until_s:
                        raise
                    is_again = is_again or problem.sqlstate not in _ROLLED_BACK
                wait_s = next(waits, _WAITS_S[-1])
                self._sleep(wait_s)

    def _opened(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._pool is None:
                self._prepare()
                self._pool = ConnectionPool(
                    self._url,
                    kwargs={"connect_timeout": self._whole_s},
                    min_size=1,
                    max_size=self._connections,
                    configure=_find_schema,
                    # One that the server dropped is not handed out, so that a restart costs no attempt.
                    check=ConnectionPool.check_connection,
                    name="handrail journal",
                    open=True,
                )
            return self._pool

    def _prepare(self) -> None:
        """Make the schema and bring its tables up."""
        with psycopg.connect(self._url, connect_timeout=self._whole_s) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK_OF_THE_SCHEMA,))
            # Asked first: making one that is there needs a right that using it does not.
            (found,) = connection.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchall()
            if found[0] is None:
                connection.execute("CREATE SCHEMA " + SCHEMA)
            connection.execute("SET LOCAL search_path TO " + SCHEMA)
            bring_up(_Transaction(connection, is_again=False), _TYPES, self._name)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Failures of the database as errors of the house."""
        try:
            yield
        except psycopg.Error as problem:
            why = " ".join(str(problem).split()) or type(problem).__name__
            hint = _HINTS.get(problem.sqlstate or "")
            raise StoreError(f"the journal {self._name}: {why}", hint=hint) from problem
        except UnicodeEncodeError as problem:
            raise StoreError(f"the journal {self._name}: a name is not valid text") from problem

    @property
    def _whole_s(self) -> int:
        """How long to try to connect, in the whole seconds libpq counts in; fewer than two it takes for two."""
        return max(2, round(self._connect_s))

    @property
    def _name(self) -> str:
        """The database as it may be shown: without its password."""
        parts = conninfo_to_dict(self._url)
        where = parts.get("host") or "localhost"
        port = f":{parts['port']}" if parts.get("port") else ""
        return f"in PostgreSQL at {where}{port}/{parts.get('dbname') or ''}"


def _find_schema(connection: psycopg.Connection[Any]) -> None:
    connection.execute("SET search_path TO " + SCHEMA)
    connection.execute(f"SET idle_in_transaction_session_timeout TO {FROZEN_AFTER_S * 1000}")
    connection.commit()


def _may_pass(problem: psycopg.Error) -> bool:
    """Whether trying again can help: the server went away, or another transaction won."""
    if isinstance(problem, PoolTimeout):
        return True
    state = problem.sqlstate
    if state is None:
        return isinstance(problem, psycopg.OperationalError | psycopg.InterfaceError)
    return state in _ROLLED_BACK or state.startswith(_GONE)


@cache
def _spelled(sql: str) -> str:
    """``sql`` with its values named as psycopg names them."""
    return _VALUE.sub(r"%(\1)s", sql)
