"""What a journal's readers raise."""

from __future__ import annotations

from handrail.errors import JournalError


class BrokenJournal(JournalError):
    """An event stands where it cannot have happened."""

    code = "broken_journal"
    exit_code = 4


class NotDrivable(JournalError):
    """The journal holds events of kinds that this release does not know: it can be read, not gone on with."""

    code = "not_drivable"
