"""What the Journal port does, as functions of an open transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from handrail.journal import events as ev
from handrail.journal.board import RunRow
from handrail.journal.board_rows import SETTLING, check_open, posted
from handrail.journal.port import Entry, Posted, SeqConflict, StaleEpoch
from handrail.journal.vocabulary import Actor
from handrail.runs.journals.board_tables import ask_in, entry_in, events_of, listed_status, project, write_ask
from handrail.runs.journals.cells import entry_cell, entry_from, key_cell, row_cell, row_from
from handrail.runs.journals.database import Found, Transaction
from handrail.runs.journals.outbox import write_news

_DURABLE = (
    ev.RunEnded,
    ev.AskOpened,
    ev.AskVoted,
    ev.AskClosed,
    ev.ToolStarted,
    ev.ToolFinished,
    ev.ToolOutcomeUnknown,
    ev.DocumentEdited,
    ev.PointRouted,
)
"""What must outlive a power cut: what people were asked and said, what tools did to the world, and ends."""

_NEWS = (ev.RunEnded, ev.AskOpened, ev.AskVoted, ev.AskClosed)
"""What watchers of a session are woken for; the rest they see when they look."""


def is_durable(events: Sequence[ev.Event]) -> bool:
    """Whether an append of ``events`` has to outlive a power cut."""
    return any(isinstance(event.body, _DURABLE) for event in events)


class _Session(NamedTuple):
    number: int
    epoch: int
    seq: int
    entries: int
    run: RunRow | None


def append(
    transaction: Transaction,
    session: str,
    expected_seq: int,
    epoch: int,
    events: Sequence[ev.Event],
    cells: Sequence[bytes],
) -> None:
    """Add ``events``, whose bytes are ``cells``. Raises as ``Journal.append`` does."""
    kept = _held(transaction, session)
    if transaction.is_again and _is_there(transaction, kept, epoch, expected_seq, cells):
        return
    if epoch != kept.epoch:
        raise StaleEpoch(f"session {session} is driven under epoch {kept.epoch}, not {epoch}")
    if expected_seq != kept.seq:
        raise SeqConflict(f"session {session} stands at event {kept.seq}, not {expected_seq}")
    if not events:
        return
    transaction.run_many(
        "INSERT INTO events (session_number, seq, event) VALUES (:number, :seq, :cell)",
        [{"number": kept.number, "seq": event.seq, "cell": cell} for event, cell in zip(events, cells, strict=True)],
    )
    row = project(transaction, kept.number, session, kept.run, events)
    transaction.run(
        """UPDATE sessions SET seq = :seq, size_bytes = size_bytes + :added_bytes,
        root = :root, status = :status, run = :cell WHERE number = :number""",
        number=kept.number,
        seq=events[-1].seq,
        added_bytes=sum(len(cell) + 1 for cell in cells),
        root=row.root,
        status=listed_status(row),
        cell=row_cell(row),
    )
    write_news(transaction, session, row.run, events)
    if any(isinstance(event.body, _NEWS) for event in events):
        transaction.announce(session)


def _is_there(transaction: Transaction, kept: _Session, epoch: int, expected_seq: int, cells: Sequence[bytes]) -> bool:
    """Whether the attempt before, whose outcome nobody heard of, had added just these events."""
    if epoch != kept.epoch or kept.seq != expected_seq + len(cells):
        return False
    found = transaction.run(
        "SELECT event FROM events WHERE session_number = :number AND seq > :after ORDER BY seq",
        number=kept.number,
        after=expected_seq,
    )
    return [cell for (cell,) in found] == list(cells)


def read(transaction: Transaction, session: str, after: int) -> tuple[ev.Event, ...]:
    """The events after number ``after``."""
    number = number_of(transaction, session)
    return () if number is None else tuple(events_of(transaction, number, session, after))


def take_over(transaction: Transaction, session: str) -> int:
    """Raise the epoch and return it."""
    found = transaction.run(
        """INSERT INTO sessions (session, epoch) VALUES (:session, 1)
        ON CONFLICT (session) DO UPDATE SET epoch = sessions.epoch + 1 RETURNING epoch""",
        session=session,
    )
    return int(found[0][0])


def post(transaction: Transaction, session: str, body: Posted, by: Actor, key: str, at: datetime) -> Entry:
    """Put something into the inbox. Raises as ``Journal.post`` does."""
    kept = _held(transaction, session)
    known = transaction.run(
        "SELECT entry, key FROM inbox WHERE session_number = :number AND key = :key",
        number=kept.number,
        key=key_cell(key),
    )
    if known:
        return _entries(known, session)[0]
    entry = Entry(number=kept.entries + 1, body=body, by=by, key=key, at=at)
    if isinstance(body, SETTLING):
        row = check_open(
            ask_in(transaction, kept.number, body.ask),
            body.ask,
            lambda number: entry_in(transaction, kept.number, number, session),
        )
        write_ask(transaction, kept.number, posted(row, entry))
    transaction.run(
        "INSERT INTO inbox (session_number, number, key, entry) VALUES (:session, :number, :key, :cell)",
        session=kept.number,
        number=entry.number,
        key=key_cell(key),
        cell=entry_cell(entry),
    )
    transaction.run(
        "UPDATE sessions SET entries = :entries WHERE number = :number", number=kept.number, entries=entry.number
    )
    transaction.announce(session)
    return entry


def inbox(transaction: Transaction, session: str, after: int) -> tuple[Entry, ...]:
    """The entries after number ``after``, in order."""
    found = transaction.run(
        """SELECT entry, key FROM inbox JOIN sessions ON sessions.number = inbox.session_number
        WHERE session = :session AND inbox.number > :after ORDER BY inbox.number""",
        session=session,
        after=after,
    )
    return _entries(found, session)


def _entries(found: Found, session: str) -> tuple[Entry, ...]:
    return tuple(entry_from(cell, key, session) for cell, key in found)


def sessions(transaction: Transaction) -> tuple[str, ...]:
    """The ids of all sessions that have events, in the order they began."""
    return tuple(name for (name,) in transaction.run("SELECT session FROM sessions WHERE seq > 0 ORDER BY number"))


def number_of(transaction: Transaction, session: str) -> int | None:
    """The number the tables know ``session`` by."""
    found = transaction.run("SELECT number FROM sessions WHERE session = :session", session=session)
    return int(found[0][0]) if found else None


def _held(transaction: Transaction, session: str) -> _Session:
    """The row of ``session``, made when there is none, which nobody else changes before this transaction ends."""
    statement = "SELECT number, epoch, seq, entries, run FROM sessions WHERE session = :session"
    found = transaction.run_locked(statement, session=session)
    if not found:
        transaction.run(
            "INSERT INTO sessions (session) VALUES (:session) ON CONFLICT (session) DO NOTHING",
            session=session,
        )
        found = transaction.run_locked(statement, session=session)
    number, epoch, seq, entries, cell = found[0]
    return _Session(number, epoch, seq, entries, None if cell is None else row_from(cell, RunRow))
