"""What a command ends with. Stable across releases; errors carry theirs (``HandrailError.exit_code``)."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """``PROBLEMS``: done as asked, but a session is damaged, or parts of it were left out of what was written.

    ``UNFINISHED``: a run ended, everything committed, and without an answer. ``WAITING``: it goes on with a person's.
    """

    OK = 0
    ERROR = 1
    USAGE = 2
    PROBLEMS = 3
    UNREADABLE = 4
    NOT_FOUND = 5
    UNFINISHED = 6
    WAITING = 7
    DIVERGED = 8
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.ERROR: "an error: nothing was done, or a run failed",
    ExitCode.USAGE: "the command line was wrong, or an answer does not fit its question",
    ExitCode.PROBLEMS: "done, but a session is damaged (what cannot be read was left out) or a blueprint has problems",
    ExitCode.UNREADABLE: "a file, a store or a session could not be read or written",
    ExitCode.NOT_FOUND: "no session, run or question answers to that reference, or several do",
    ExitCode.UNFINISHED: "a run ended without an answer: it was stopped, spent a bound, was cut off or refused",
    ExitCode.WAITING: "a run waits for an answer",
    ExitCode.DIVERGED: "a replay went another way than the recording",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C, told to end, or left by its reader",
}
