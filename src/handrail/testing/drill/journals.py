"""The journals a drill is run over: how to open one, from any process, in a place of its own for every schedule."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct

from handrail.errors import MissingExtra
from handrail.journal.file import FileJournal
from handrail.journal.port import Journal
from handrail.runs.journals.postgres import PostgresJournal, require_driver
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.testing.postgres import VARIABLE, postgres_server

POLL_S = 0.005
"""How often a driver of the drill looks for what others posted: often, for the drill waits for it all the time."""

POSTGRES = "postgres"
_DATABASES = "handrail_drill"
_URL = "url"


def _nothing(folder: Path) -> None:
    """The folder is all that is needed."""


class JournalKind(Struct, frozen=True, kw_only=True):
    """A journal that several processes can share.

    ``prepare(folder)`` makes an empty place for one schedule, whose ``folder`` is its own, and ``open(folder)`` opens
    the journal there. Both are functions of a module, or partial ones of such: they are sent to other processes.
    """

    name: str
    open: Callable[[Path], AbstractAsyncContextManager[Journal]]
    prepare: Callable[[Path], None] = _nothing


class Absent(Struct, frozen=True, kw_only=True):
    """A journal that cannot be drilled here, and why."""

    name: str
    why: str


Host = Callable[[], AbstractContextManager[JournalKind | Absent]]
"""Gives a journal for the length of a drill, with whatever it needs running."""


@asynccontextmanager
async def _file(folder: Path) -> AsyncGenerator[Journal]:
    journal = FileJournal(folder / "sessions", poll_s=POLL_S)
    try:
        yield journal
    finally:
        journal.close()


@asynccontextmanager
async def _sqlite(folder: Path) -> AsyncGenerator[Journal]:
    journal = SqliteJournal(folder / "journal.sqlite", poll_s=POLL_S)
    try:
        yield journal
    finally:
        journal.close()


FILE = JournalKind(name="file", open=_file)
SQLITE = JournalKind(name="sqlite", open=_sqlite)
NAMES = (FILE.name, SQLITE.name, POSTGRES)
"""What ``HOSTS`` give, in their order."""


@contextlib.contextmanager
def postgres() -> Iterator[JournalKind | Absent]:
    """PostgreSQL at the URL that the environment gives, else on a server that is started for the drill."""
    try:
        require_driver()
    except MissingExtra as problem:
        yield Absent(name=POSTGRES, why=f"{problem} ({problem.hint})")
        return
    with postgres_server() as server:
        if server is None:
            yield Absent(name=POSTGRES, why=f"no server is installed, and {VARIABLE} names none")
            return
        with postgres_at(server.url) as kind:
            yield kind


@contextlib.contextmanager
def postgres_at(url: str) -> Iterator[JournalKind]:
    """The server at ``url``, with a database for each process that drills; they are dropped at the end."""
    prefix = f"{_DATABASES}_{os.getpid()}"
    try:
        yield JournalKind(name=POSTGRES, open=_postgres, prepare=partial(_empty_database, url, prefix))
    finally:
        _drop_databases(url, prefix)


def url_in(folder: Path) -> str:
    """The database of a schedule over PostgreSQL."""
    return (folder / _URL).read_text()


@asynccontextmanager
async def _postgres(folder: Path) -> AsyncGenerator[Journal]:
    # Drivers are woken by the server here, so the usual interval stays.
    journal = PostgresJournal(url_in(folder), connections=2)
    try:
        yield journal
    finally:
        journal.close()


def _empty_database(url: str, prefix: str, folder: Path) -> None:
    """Make the database of this process an empty one, and say in ``folder`` where it is."""
    import psycopg
    from psycopg.conninfo import make_conninfo

    name = f"{prefix}_{os.getpid()}"
    own = make_conninfo(url, dbname=name)
    with psycopg.connect(url, autocommit=True) as connection:
        is_there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if not is_there:
            connection.execute(f"CREATE DATABASE {name}".encode())
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS handrail, handrail_queue CASCADE")
    (folder / _URL).write_text(own)


def _drop_databases(url: str, prefix: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", (f"{prefix}%",)).fetchall()
        for (name,) in found:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


HOSTS: tuple[Host, ...] = (
    lambda: contextlib.nullcontext(FILE),
    lambda: contextlib.nullcontext(SQLITE),
    postgres,
)
"""Every journal that several processes can share."""
