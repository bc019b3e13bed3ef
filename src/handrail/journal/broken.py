"""What a journal's readers raise."""

from __future__ import annotations

from pathlib import Path

from handrail.errors import HandrailWarning, JournalError


class BrokenJournal(JournalError):
    """An event stands where it cannot have happened."""

    code = "broken_journal"
    exit_code = 4


class NotDrivable(JournalError):
    """The journal holds events of kinds that this release does not know: it can be read, not gone on with."""

    code = "not_drivable"


class DamagedInbox(HandrailWarning):
    """A line of an inbox is no entry: ``start`` and ``end`` are its bytes in ``file``. All other lines count."""

    def __init__(self, file: Path, start: int, end: int, why: str) -> None:
        super().__init__(
            f"{file}: bytes {start:,}-{end:,} are no entry of an inbox and count for nothing ({why}); "
            "they stay where they are, and what was meant by them can be sent again"
        )
        self.file = file
        self.start = start
        self.end = end
