"""An SQLite database: one file, readable by its owner only, for many threads and processes at once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from handrail import files
from handrail.errors import StoreError
from handrail.runs.journals.database import Done, Found, Value
from handrail.runs.journals.schema import VERSION, bring_up, check_version, version_of

BUSY_S = 30.0
"""How long, in seconds, a writer waits for its turn among those of other processes before it gives up."""

_TYPES = {"serial": "INTEGER PRIMARY KEY AUTOINCREMENT", "integer": "INTEGER", "text": "TEXT", "bytes": "BLOB"}


class _Transaction:
    is_again = False

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, **values: Any) -> Found:
        return self._connection.execute(sql, values).fetchall()

    # The writer's lock is on the whole file.
    run_locked = run

    def run_many(self, sql: str, values: Sequence[Mapping[str, Any]]) -> None:
        self._connection.executemany(sql, values)

    def announce(self, session: str) -> None:
        """Nobody is woken: other processes look now and then."""


class SqliteDatabase:
    """Fulfils ``Database`` with a connection whose users take turns, and another that waits for nobody.

    The second makes small things cheap: handing one to a thread and back costs more than the thing itself.
    """

    def __init__(self, path: Path, *, busy_s: float = BUSY_S) -> None:
        self._path = path
        self._busy_s = busy_s
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._is_durable: bool | None = None
        self._quick_lock = threading.Lock()
        self._quick: sqlite3.Connection | None = None

    def write(self, work: Callable[[_Transaction], Value], *, is_durable: bool) -> Value:
        with self._turn() as connection:
            self._set_durability(connection, is_durable)
            return self._within(connection, "BEGIN IMMEDIATE", work)

    def read(self, work: Callable[[_Transaction], Value]) -> Value:
        with self._turn() as connection:
            return self._within(connection, "BEGIN", work)

    def at_once(self, work: Callable[[_Transaction], Value], *, writes: bool) -> Done[Value] | None:
        if not self._quick_lock.acquire(blocking=False):
            return None
        try:
            if self._quick is None:
                return None
            return Done(self._within(self._quick, "BEGIN IMMEDIATE" if writes else "BEGIN", work))
        except sqlite3.Error as problem:
            if _code(problem) == sqlite3.SQLITE_BUSY:
                return None
            raise self._failed(problem) from problem
        finally:
            self._quick_lock.release()

    def mark(self) -> int | None:
        with self._turn() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            return int(version)

    def close(self) -> None:
        with self._lock, self._quick_lock:
            for connection in (self._quick, self._connection):
                if connection is not None:
                    connection.close()
            self._connection = self._quick = None

    @contextlib.contextmanager
    def _turn(self) -> Iterator[sqlite3.Connection]:
        """The connection, for the one whose turn it is."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                    with self._quick_lock:
                        self._quick = self._connect_quick()
                yield self._connection
            except sqlite3.Error as problem:
                raise self._failed(problem) from problem
            except UnicodeEncodeError as problem:
                raise StoreError(f"{self._path}: a name is not valid text") from problem

    def _within(self, connection: sqlite3.Connection, begin: str, work: Callable[[_Transaction], Value]) -> Value:
        connection.execute(begin)
        try:
            value = work(_Transaction(connection))
            connection.execute("COMMIT")
        except BaseException:
            # Some failures (a full disk) have rolled back already.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return value

    def _set_durability(self, connection: sqlite3.Connection, is_durable: bool) -> None:
        if is_durable != self._is_durable:
            connection.execute(f"PRAGMA synchronous = {'FULL' if is_durable else 'NORMAL'}")
            self._is_durable = is_durable

    def _connect(self) -> sqlite3.Connection:
        """A connection to the file, which is made when there is none, with its tables brought up."""
        path = self._path
        # Turning on the log and making the tables waits for no lock of SQLite's own, hence this one.
        with files.lock(path.with_name(path.name + ".lock")):
            _make(path)
            connection = sqlite3.connect(path, timeout=self._busy_s, isolation_level=None, check_same_thread=False)
            self._is_durable = None
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                self._set_durability(connection, True)
                if not self._within(connection, "BEGIN", self._is_up_to_date):
                    self._within(connection, "BEGIN IMMEDIATE", lambda made: bring_up(made, _TYPES, str(path)))
            except BaseException:
                connection.close()
                raise
        return connection

    def _connect_quick(self) -> sqlite3.Connection:
        """The connection that waits for nobody: no turn, no disk, no tidying up of the log."""
        connection = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        return connection

    def _is_up_to_date(self, transaction: _Transaction) -> bool:
        """Whether the tables are there as this release knows them: then nothing is written, and nobody waited for."""
        if not transaction.run("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'"):
            return False
        version = version_of(transaction)
        check_version(version, str(self._path))
        return version == VERSION

    def _failed(self, problem: sqlite3.Error) -> StoreError:
        return StoreError(f"the journal {self._path}: {problem}", hint=_HINTS.get(_code(problem)))


def _make(path: Path) -> None:
    """Make the file where there is none, readable by its owner only.

    One that is there is not opened: closing a handle on it, whichever, takes from this process every lock that other
    connections of it hold on the file (POSIX), and another process would clear their log away under them.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, files.PRIVATE_FILE))
    except FileExistsError:
        return
    except OSError as problem:
        raise StoreError(f"cannot open {path}: {problem.strerror or problem}") from problem


def _code(problem: sqlite3.Error) -> int:
    """SQLite's own primary code of what went wrong."""
    return int(getattr(problem, "sqlite_errorcode", 0)) & 0xFF


_HINTS = {
    sqlite3.SQLITE_BUSY: "another process has been writing to it for long; nothing was changed, try again",
    sqlite3.SQLITE_FULL: "there is no room left on its disk; nothing was changed",
    sqlite3.SQLITE_CORRUPT: "it is damaged: move it away and put back a copy, or recover it with the sqlite3 program",
    sqlite3.SQLITE_NOTADB: "it is no SQLite database: move it away, and a new one is made",
    sqlite3.SQLITE_READONLY: "it may not be written",
}
