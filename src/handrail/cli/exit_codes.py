"""What a command ends with. Stable across releases; errors carry theirs (``HandrailError.exit_code``)."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """``PROBLEMS``: done as asked, but a session is damaged, or parts of it were left out of what was written."""

    OK = 0
    ERROR = 1
    USAGE = 2
    PROBLEMS = 3
    UNREADABLE = 4
    NOT_FOUND = 5
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.ERROR: "an error: nothing was done",
    ExitCode.USAGE: "the command line was wrong",
    ExitCode.PROBLEMS: "done, but a session is damaged; what cannot be read was left out of what was written",
    ExitCode.UNREADABLE: "a file, a store or a session could not be read or written",
    ExitCode.NOT_FOUND: "no session answers to that reference, or several do",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
}
