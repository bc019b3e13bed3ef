"""The sessions of a journal in SQL for those who read sessions whole: fulfils ``SessionTable``, blocking."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from handrail.errors import StoreError
from handrail.harnesses.handrail.table import TableSession
from handrail.journal.board import RunRow
from handrail.runs.journals.cells import row_from
from handrail.runs.journals.database import Database, Transaction, Value

NAME = "journal.sqlite"
"""What the file is called in the folder of its sessions."""

_ALL = 1 << 62
"""No limit, where SQL wants a number."""


class SqliteSessions:
    """Fulfils ``SessionTable`` with the journal at ``path``; while there is no file there, it holds no sessions.

    Each operation opens the file and lets go of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def name(self) -> str:
        return str(self._path)

    def sessions(self) -> Iterator[TableSession]:
        found = self._read(_list) or []
        for session, first, size_bytes, cell in found:
            row = RunRow(session=session, root=session) if cell is None else row_from(cell, RunRow)
            yield TableSession(
                id=session,
                first=first,
                size_bytes=size_bytes,
                title=row.title,
                model=row.model,
                updated_at=row.progress_at,
            )

    def lines(self, session: str, after: int = 0, limit: int | None = None) -> list[bytes]:
        def read(transaction: Transaction) -> list[bytes]:
            found = transaction.run(
                """SELECT event FROM events JOIN sessions ON sessions.number = events.session_number
                WHERE session = :session AND events.seq > :after ORDER BY events.seq LIMIT :limit""",
                session=session,
                after=after,
                limit=_ALL if limit is None else limit,
            )
            return [cell for (cell,) in found]

        return self._read(read) or []

    def fingerprint(self, session: str) -> str:
        def read(transaction: Transaction) -> str:
            found = transaction.run("SELECT number, seq FROM sessions WHERE session = :session", session=session)
            return f"{found[0][0]}:{found[0][1]}" if found and found[0][1] else ""

        return self._read(read) or ""

    def remove(self, session: str) -> bool:
        with self._opened() as database:
            return database is not None and database.write(
                lambda transaction: _remove(transaction, session), is_durable=True
            )

    def _read(self, work: Callable[[Transaction], Value]) -> Value | None:
        with self._opened() as database:
            return None if database is None else database.read(work)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Database | None]:
        try:
            is_there = self._path.is_file()
        except OSError as problem:
            raise StoreError(f"cannot look at {self._path}: {problem.strerror or problem}") from problem
        if not is_there:
            yield None
            return
        # Loaded where there is something to read: most commands find out that there is nothing.
        from handrail.runs.journals.sqlite_database import SqliteDatabase

        database = SqliteDatabase(self._path)
        try:
            yield database
        finally:
            database.close()


def _list(transaction: Transaction) -> list[tuple[str, bytes, int, bytes | None]]:
    return transaction.run(
        """SELECT session, event, size_bytes, run FROM sessions
        JOIN events ON events.session_number = sessions.number AND events.seq = 1 ORDER BY sessions.number"""
    )


def _remove(transaction: Transaction, session: str) -> bool:
    found = transaction.run("SELECT number FROM sessions WHERE session = :session", session=session)
    if not found:
        return False
    number = found[0][0]
    for table in ("events", "inbox", "asks"):
        transaction.run(f"DELETE FROM {table} WHERE session_number = :number", number=number)
    transaction.run("DELETE FROM outbox WHERE session = :session", session=session)
    transaction.run("DELETE FROM sessions WHERE number = :number", number=number)
    return True
