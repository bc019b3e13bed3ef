"""The tables, made step by step: a new database takes every step, an old one those that it lacks.

A step that has been released is never edited; a change is another step. After a step that is not the first, the board
is made anew from the events.
"""

from __future__ import annotations

from collections.abc import Mapping

from handrail.runs.journals.board_tables import rebuild
from handrail.runs.journals.database import NewerSchema, Transaction

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE sessions (
            number {serial},
            session {text} NOT NULL UNIQUE,
            epoch {integer} NOT NULL DEFAULT 0,
            seq {integer} NOT NULL DEFAULT 0,
            entries {integer} NOT NULL DEFAULT 0,
            size_bytes {integer} NOT NULL DEFAULT 0
        )""",
        """CREATE TABLE events (
            position {serial},
            session_number {integer} NOT NULL,
            seq {integer} NOT NULL,
            event {bytes} NOT NULL,
            UNIQUE (session_number, seq)
        )""",
        """CREATE TABLE inbox (
            session_number {integer} NOT NULL,
            number {integer} NOT NULL,
            key {bytes} NOT NULL,
            entry {bytes} NOT NULL,
            PRIMARY KEY (session_number, number),
            UNIQUE (session_number, key)
        )""",
    ),
    (
        "ALTER TABLE sessions ADD COLUMN root {text} NOT NULL DEFAULT ''",
        "ALTER TABLE sessions ADD COLUMN status {text}",
        "ALTER TABLE sessions ADD COLUMN run {bytes}",
        "CREATE INDEX sessions_by_status ON sessions (status, number)",
        """CREATE TABLE asks (
            position {integer} NOT NULL PRIMARY KEY,
            session_number {integer} NOT NULL,
            session {text} NOT NULL,
            seq {integer} NOT NULL,
            ask {text} NOT NULL,
            root {text} NOT NULL,
            kind {text} NOT NULL,
            status {text} NOT NULL,
            ask_row {bytes} NOT NULL,
            UNIQUE (session_number, seq)
        )""",
        "CREATE INDEX asks_by_name ON asks (ask)",
        "CREATE INDEX asks_by_status ON asks (status, position)",
        "CREATE INDEX asks_by_root ON asks (root, position)",
        "CREATE INDEX asks_by_session ON asks (session_number, status)",
    ),
    (
        """CREATE TABLE outbox (
            number {serial},
            topic {text} NOT NULL,
            session {text} NOT NULL,
            seq {integer} NOT NULL,
            run {text},
            ask {text},
            due_at {integer} NOT NULL,
            leased_until {integer},
            attempts {integer} NOT NULL DEFAULT 0,
            sent_at {integer}
        )""",
        "CREATE INDEX outbox_by_due ON outbox (sent_at, due_at)",
        "CREATE INDEX outbox_by_ask ON outbox (session, ask)",
    ),
)

VERSION = len(STEPS)
"""The version of the tables that this release reads and writes."""


def version_of(transaction: Transaction) -> int:
    """The version of the tables that are there."""
    found = transaction.run("SELECT version FROM schema_version")
    return int(found[0][0]) if found else 0


def check_version(version: int, name: str) -> None:
    """``NewerSchema`` for tables of a later release."""
    if version > VERSION:
        raise NewerSchema(
            f"{name} was written by a later release of Handrail (tables of version {version}, known: {VERSION})",
            hint="use that release, or another database",
        )


def bring_up(transaction: Transaction, types: Mapping[str, str], name: str) -> None:
    """Take every step that the database ``name`` lacks. ``types`` are its words for ``{serial}`` and so on."""
    transaction.run("CREATE TABLE IF NOT EXISTS schema_version (version {integer} NOT NULL)".format(**types))
    version = version_of(transaction)
    check_version(version, name)
    if version == VERSION:
        return
    for step in STEPS[version:]:
        for statement in step:
            transaction.run(statement.format(**types))
    transaction.run("DELETE FROM schema_version")
    transaction.run("INSERT INTO schema_version (version) VALUES (:version)", version=VERSION)
    if version:
        rebuild(transaction)
