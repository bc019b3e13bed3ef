"""SQLite: the journal that is kept where nothing else is said."""

from __future__ import annotations

from pathlib import Path

from handrail.clock import Clock
from handrail.runs.journals.journal import SqlJournal
from handrail.runs.journals.sqlite_database import SqliteDatabase

POLL_S = 0.2
"""How often a driver looks for what other processes posted, in seconds."""


class SqliteJournal(SqlJournal):
    """Fulfils ``JournalWithBoard`` with one SQLite file.

    Several processes may use it: one drives a session, all may post. Not to be carried through a fork.
    """

    def __init__(self, path: Path | str, clock: Clock | None = None, *, poll_s: float = POLL_S) -> None:
        self.path = Path(path)
        super().__init__(SqliteDatabase(self.path), clock, poll_s=poll_s)
