"""Every test here runs on both databases, unless it names one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from handrail.clock import Clock
from handrail.runs.journals.journal import SqlJournal
from handrail.runs.journals.postgres import PostgresJournal
from handrail.runs.journals.sqlite import SqliteJournal

Open: TypeAlias = Callable[..., SqlJournal]
"""Opens the journal of the test, again and again; takes a clock."""


@pytest.fixture(params=["sqlite", "postgres"])
def open_journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    opened: list[SqlJournal] = []

    def open_again(clock: Clock | None = None) -> SqlJournal:
        if url is None:
            opened.append(SqliteJournal(tmp_path / "state" / "journal.sqlite", clock))
        else:
            opened.append(PostgresJournal(url, clock, connections=2))
        return opened[-1]

    yield open_again
    for journal in opened:
        journal.close()


@pytest.fixture
def sqlite_journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path / "state" / "journal.sqlite")
    yield journal
    journal.close()
