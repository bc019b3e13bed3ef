"""Every journal under every rule of the journal contract and of the board's."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.journal.file import FileJournal
from handrail.journal.memory import MemoryJournal
from handrail.runs.journals.postgres import PostgresJournal
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.testing.contracts.board import BOARD_RULES
from handrail.testing.contracts.journal import JOURNAL_RULES, JournalCase
from handrail.testing.contracts.rules import Rule

RULES = [*JOURNAL_RULES, *BOARD_RULES]
IDS = [f"journal {rule}" for rule in JOURNAL_RULES] + [f"board {rule}" for rule in BOARD_RULES]


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_memory_journal(rule: Rule[JournalCase]) -> None:
    journal = MemoryJournal()
    rule.check(JournalCase(lambda: journal))


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_file_journal(rule: Rule[JournalCase], tmp_path: Path) -> None:
    opened: list[FileJournal] = []

    def open_again() -> FileJournal:
        opened.append(FileJournal(tmp_path / "sessions"))
        return opened[-1]

    rule.check(JournalCase(open_again))
    for journal in opened:
        journal.close()


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_sqlite_journal(rule: Rule[JournalCase], tmp_path: Path) -> None:
    opened: list[SqliteJournal] = []

    def open_again() -> SqliteJournal:
        opened.append(SqliteJournal(tmp_path / "state" / "journal.sqlite"))
        return opened[-1]

    rule.check(JournalCase(open_again))
    for journal in opened:
        journal.close()


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_postgres_journal(rule: Rule[JournalCase], postgres_url: str) -> None:
    opened: list[PostgresJournal] = []

    def open_again() -> PostgresJournal:
        opened.append(PostgresJournal(postgres_url, connections=1))
        return opened[-1]

    try:
        rule.check(JournalCase(open_again))
    finally:
        for journal in opened:
            journal.close()
