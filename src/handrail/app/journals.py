"""Where runs are kept on this machine: the database that was named, else one file beside the sessions.

Sessions that an earlier release, or a Python program, keeps as files in that folder are found and go on there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from handrail import files
from handrail.app.machine import Machine
from handrail.errors import HandrailError, StoreError
from handrail.harnesses.handrail.store import HandrailStore
from handrail.runs.journals.session_table import NAME

if TYPE_CHECKING:
    from handrail.runs.journals.joined import JoinedJournal
    from handrail.runs.journals.journal import SqlJournal

DATABASE_VARIABLE = "HANDRAIL_DATABASE"
"""The environment variable that names the database where none is named otherwise."""

_HARNESS = "handrail"
_POSTGRES = ("postgresql://", "postgres://")
_SQLITE = "sqlite:"


class UnknownDatabase(HandrailError, ValueError):
    """What was named is no database that runs can be kept in."""

    code = "unknown_database"
    exit_code = 2


def sessions_folder(machine: Machine) -> Path:
    """Where sessions are kept, and what belongs to them; ``StoreError`` where there is no home."""
    store = machine.stores.get(_HARNESS)
    if not isinstance(store, HandrailStore) or store.root is None:
        raise StoreError("there is no home folder to keep the session in", hint="set HANDRAIL_HOME")
    return store.root


def database_of(environment: Mapping[str, str], given: str | None) -> str | None:
    """The database that is named, by ``given`` or by the environment; None for the file in the sessions' folder."""
    return given or environment.get(DATABASE_VARIABLE) or None


def drafts_folder(machine: Machine) -> Path:
    """Where what people are typing into documents is kept until it is their answer."""
    return sessions_folder(machine) / "drafts"


def has_journal(machine: Machine, environment: Mapping[str, str], database: str | None = None) -> bool:
    """Whether there is anything to open; asking makes no folder and no file."""
    if database_of(environment, database) is not None:
        return True
    store = machine.stores.get(_HARNESS)
    root = store.root if isinstance(store, HandrailStore) else None
    return root is not None and files.look_at(root) is not None


@contextlib.contextmanager
def opened_journal(
    machine: Machine, environment: Mapping[str, str], database: str | None = None
) -> Iterator[JoinedJournal]:
    """The journal of this machine as long as the block lasts.

    ``database`` is ``postgresql://…`` or ``sqlite:PATH``; None: what the environment names, else the file in the
    sessions' folder. Raises ``UnknownDatabase``, ``StoreError``, and ``MissingExtra`` where PostgreSQL needs it.
    """
    from handrail.journal.file import FileJournal
    from handrail.runs.journals.joined import JoinedJournal

    older = FileJournal(sessions_folder(machine))
    with opened_database(machine, environment, database) as newer:
        try:
            yield JoinedJournal(newer, older)
        finally:
            older.close()


@contextlib.contextmanager
def opened_database(
    machine: Machine, environment: Mapping[str, str], database: str | None = None
) -> Iterator[SqlJournal]:
    """The database alone, as long as the block lasts; raises as ``opened_journal``."""
    journal = _opened(database_of(environment, database), sessions_folder(machine))
    try:
        yield journal
    finally:
        journal.close()


def _opened(database: str | None, folder: Path) -> SqlJournal:
    if database is not None and database.startswith(_POSTGRES):
        from handrail.runs.journals.postgres import PostgresJournal

        return PostgresJournal(database)
    from handrail.runs.journals.sqlite import SqliteJournal

    if database is None:
        files.make_private_folder(folder)
        return SqliteJournal(folder / NAME)
    path = database.removeprefix(_SQLITE)
    if path == database or not path:
        raise UnknownDatabase(f"{_without_secret(database)} is no database", hint="postgresql://… or sqlite:PATH")
    try:
        file = Path(path).expanduser()
    except RuntimeError as problem:
        raise UnknownDatabase(f"{database} is no database: {problem}", hint="postgresql://… or sqlite:PATH") from None
    return SqliteJournal(file)


def _without_secret(database: str) -> str:
    """What was named, as far as it can be shown: an address may hold a password."""
    return f"{database.split(':', 1)[0]}:…" if ":" in database else repr(database)
