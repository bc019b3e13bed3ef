"""Every journal under every rule of the journal contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.journal.file import FileJournal
from handrail.journal.memory import MemoryJournal
from handrail.testing.contracts.journal import JOURNAL_RULES, JournalCase
from handrail.testing.contracts.rules import Rule


@pytest.mark.parametrize("rule", JOURNAL_RULES, ids=str)
def test_memory_journal(rule: Rule[JournalCase]) -> None:
    journal = MemoryJournal()
    rule.check(JournalCase(lambda: journal))


@pytest.mark.parametrize("rule", JOURNAL_RULES, ids=str)
def test_file_journal(rule: Rule[JournalCase], tmp_path: Path) -> None:
    opened: list[FileJournal] = []

    def open_again() -> FileJournal:
        opened.append(FileJournal(tmp_path / "sessions"))
        return opened[-1]

    rule.check(JournalCase(open_again))
    for journal in opened:
        journal.close()
