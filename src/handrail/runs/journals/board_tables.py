"""The rows of the board in their tables: written in the transaction of the events they follow from, and listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from handrail.journal.board import (
    AmbiguousAsk,
    AmbiguousRun,
    AskNotFound,
    AskRow,
    RunNotFound,
    RunRow,
    RunStatus,
    pick,
)
from handrail.journal.board_rows import (
    SETTLING,
    asks_after,
    check_not_taken,
    overtaking,
    root_of,
    rows_of,
    run_after,
)
from handrail.journal.events import EntryRefused, Event, SessionOpened
from handrail.journal.port import Entry
from handrail.journal.vocabulary import AskKind
from handrail.runs.journals.cells import entry_from, event_of, row_cell, row_from
from handrail.runs.journals.database import Transaction

_SHOWN = 6
"""How many ids that start alike are read: one more than an error shows."""


def project(transaction: Transaction, number: int, session: str, row: RunRow | None, events: Sequence[Event]) -> RunRow:
    """The run's row after ``events``, given the one before; rows of questions are written as they change."""
    if row is None:
        root = session
        if isinstance(events[0].body, SessionOpened):
            root = root_of(events[0].body, session, lambda parent: known_root(transaction, parent))
        row = RunRow(session=session, root=root)
    unsettled = _changed_asks(transaction, number, session, events)
    check_not_taken(unsettled.values(), overtaking(events), lambda entry: entry_in(transaction, number, entry, session))
    for event in events:
        row = run_after(row, event)
        changed = asks_after(unsettled.values(), event, session, row.root)
        if changed is not None:
            unsettled[changed.ask] = changed
            write_ask(transaction, number, changed)
            if changed.status == "closed":
                del unsettled[changed.ask]
    return row


def known_root(transaction: Transaction, session: str) -> str | None:
    """The root of a session that is there."""
    found = transaction.run("SELECT root FROM sessions WHERE session = :session", session=session)
    return found[0][0] or None if found else None


def _changed_asks(transaction: Transaction, number: int, session: str, events: Sequence[Event]) -> dict[str, AskRow]:
    """The questions of a session that are not closed and that ``events`` may change; it may have many others."""
    names: list[str] = []
    for event in events:
        body: object = event.body
        if isinstance(body, EntryRefused) and event.inbox is not None:
            entry = entry_in(transaction, number, event.inbox, session)
            body = None if entry is None else entry.body
        if isinstance(body, SETTLING):
            names.append(body.ask)
    rows = (ask_in(transaction, number, name) for name in dict.fromkeys(names))
    return {row.ask: row for row in rows if row is not None and row.status != "closed"}


def ask_in(transaction: Transaction, number: int, ask: str) -> AskRow | None:
    """The question ``ask`` of a session, as it was opened last."""
    found = transaction.run(
        "SELECT ask_row FROM asks WHERE ask = :ask AND session_number = :number ORDER BY position DESC LIMIT 1",
        ask=ask,
        number=number,
    )
    return row_from(found[0][0], AskRow) if found else None


def entry_in(transaction: Transaction, session_number: int, number: int, session: str) -> Entry | None:
    """The inbox entry of that number."""
    found = transaction.run(
        "SELECT entry, key FROM inbox WHERE session_number = :session AND number = :number",
        session=session_number,
        number=number,
    )
    return next((entry_from(cell, key, session) for cell, key in found), None)


def write_ask(transaction: Transaction, number: int, row: AskRow) -> None:
    """Put ``row`` in its place: that of the event that opened it."""
    transaction.run(
        """INSERT INTO asks (position, session_number, session, seq, ask, root, kind, status, ask_row)
        SELECT position, session_number, :session, seq, :ask, :root, :kind, :status, :cell
        FROM events WHERE session_number = :number AND seq = :seq
        ON CONFLICT (position) DO UPDATE SET status = excluded.status, ask_row = excluded.ask_row""",
        number=number,
        session=row.session,
        seq=row.seq,
        ask=row.ask,
        root=row.root,
        kind=str(row.kind),
        status=row.status,
        cell=row_cell(row),
    )


# Listing ----------------------------------------------------------------------------------------------------


def list_asks(
    transaction: Transaction,
    *,
    is_open: bool | None,
    root: str | None,
    session: str | None,
    kind: AskKind | None,
    after: str | None,
    limit: int,
) -> tuple[AskRow, ...]:
    """A page of questions, in the order they were opened."""
    wanted: dict[str, tuple[str, Any]] = {}
    if is_open is not None:
        wanted["status"] = ("status = :status" if is_open else "status IN ('taken', 'closed')", "open")
    for column, value in (("root", root), ("session", session), ("kind", kind)):
        if value is not None:
            wanted[column] = (f"{column} = :{column}", str(value))
    if after is not None:
        known = _may_be_a_name(after)
        found = transaction.run("SELECT max(position) FROM asks WHERE ask = :ask", ask=after if known else "")
        if found[0][0] is None:
            raise AskNotFound(f"no question answers to {after!r}")
        wanted["after"] = ("position > :after", found[0][0])
    where = " AND ".join(condition for condition, _ in wanted.values())
    found = transaction.run(
        f"SELECT ask_row FROM asks {'WHERE ' + where if where else ''} ORDER BY position LIMIT :limit",
        limit=limit,
        **{name: value for name, (_, value) in wanted.items()},
    )
    return tuple(row_from(cell, AskRow) for (cell,) in found)


def find_ask(transaction: Transaction, name: str) -> AskRow:
    """The question that ``name`` means."""
    ask = pick(name, _starting(transaction, "asks", "ask", name), missing=AskNotFound, several=AmbiguousAsk)
    found = transaction.run("SELECT ask_row FROM asks WHERE ask = :ask ORDER BY position DESC LIMIT 1", ask=ask)
    return row_from(found[0][0], AskRow)


def list_runs(
    transaction: Transaction, *, status: RunStatus | None, after: str | None, limit: int
) -> tuple[RunRow, ...]:
    """A page of runs, the newest session first."""
    conditions, values = ["status IS NOT NULL"], dict[str, Any](limit=limit)
    if status is not None:
        conditions, values["status"] = ["status = :status"], status
    if after is not None:
        known = _may_be_a_name(after)
        found = transaction.run("SELECT number FROM sessions WHERE session = :session", session=after if known else "")
        if not found:
            raise RunNotFound(f"no run answers to {after!r}")
        conditions, values["after"] = [*conditions, "number < :after"], found[0][0]
    found = transaction.run(
        f"SELECT run FROM sessions WHERE {' AND '.join(conditions)} ORDER BY number DESC LIMIT :limit", **values
    )
    return tuple(row_from(cell, RunRow) for (cell,) in found)


def find_run(transaction: Transaction, name: str) -> RunRow:
    """The run of the session that ``name`` means."""
    starting = _starting(transaction, "sessions", "session", name, "AND status IS NOT NULL")
    session = pick(name, starting, missing=RunNotFound, several=AmbiguousRun)
    return row_from(transaction.run("SELECT run FROM sessions WHERE session = :session", session=session)[0][0], RunRow)


def _starting(transaction: Transaction, table: str, column: str, start: str, also: str = "") -> list[str]:
    """The first few values of ``column`` that start with ``start``, itself first."""
    if not _may_be_a_name(start):
        return []
    found = transaction.run(
        f"""SELECT DISTINCT {column} FROM {table} WHERE {column} >= :start AND {column} < :end {also}
        ORDER BY {column} LIMIT {_SHOWN}""",
        start=start,
        end=start + "\U0010ffff",
    )
    return [name for (name,) in found]


def _may_be_a_name(text: str) -> bool:
    """Whether a database can hold ``text``: what a person types may be no text at all."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


# Anew -------------------------------------------------------------------------------------------------------


def rebuild(transaction: Transaction) -> None:
    """Make every row of the board anew from the events and the inboxes."""
    transaction.run("DELETE FROM asks")
    sessions = transaction.run("SELECT number, session FROM sessions ORDER BY number")
    for number, session in sessions:
        events = list(events_of(transaction, number, session))
        entries = [
            entry_from(cell, key, session)
            for cell, key in transaction.run(
                "SELECT entry, key FROM inbox WHERE session_number = :number ORDER BY number", number=number
            )
        ]
        rows = rows_of(session, events, entries, lambda parent: known_root(transaction, parent))
        if events:
            write_run(transaction, number, rows.run)
        for row in rows.asks:
            write_ask(transaction, number, row)


def events_of(transaction: Transaction, number: int, session: str, after: int = 0) -> Iterator[Event]:
    """The events of a session after number ``after``."""
    found = transaction.run(
        "SELECT event FROM events WHERE session_number = :number AND seq > :after ORDER BY seq",
        number=number,
        after=after,
    )
    return (event_of(cell, session) for (cell,) in found)


def write_run(transaction: Transaction, number: int, row: RunRow) -> None:
    """Put the run's row in its place."""
    transaction.run(
        "UPDATE sessions SET root = :root, status = :status, run = :cell WHERE number = :number",
        number=number,
        root=row.root,
        status=listed_status(row),
        cell=row_cell(row),
    )


def listed_status(row: RunRow) -> str | None:
    """The status a run is listed under; None for a session in which nothing was run."""
    return row.status if row.run else None


class Left(NamedTuple):
    """A session whose run is not over: its last event, and its last inbox entry, by number."""

    session: str
    root: str
    seq: int
    entries: int


def list_left(transaction: Transaction) -> tuple[Left, ...]:
    """The sessions whose run is not over, in the order they began."""
    found = transaction.run(
        """SELECT session, root, seq, entries FROM sessions
        WHERE status IN ('running', 'waiting', 'paused') ORDER BY number"""
    )
    return tuple(Left(*row) for row in found)
