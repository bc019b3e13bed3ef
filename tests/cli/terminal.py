"""``handrail`` on a terminal of its own: what is typed goes in as keys, and one waits for what it shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

_TIMEOUT_S = 60.0
_STARTED = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # its controlling terminal, so that Ctrl-C reaches it
from handrail.cli import main
sys.exit(main())
"""
_MOVES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Terminal:
    """A running command; leave the block when it has ended. ``shown`` is all it wrote, without colours and moves."""

    def __init__(self, environment: Mapping[str, str], cwd: Path, *arguments: str) -> None:
        self.shown = ""
        self._seen = 0
        self._raw = b""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _STARTED, *arguments],
            cwd=cwd,
            env={"TZ": "UTC", "PATH": os.environ["PATH"], "TERM": "xterm", **environment},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._master)

    @property
    def moved(self) -> bool:
        """Whether it coloured anything or moved the cursor."""
        return b"\x1b" in self._raw

    def type(self, line: str) -> None:
        """Type ``line`` and Enter."""
        self.press(f"{line}\r")

    def press(self, keys: str) -> None:
        """Type ``keys`` as they are."""
        os.write(self._master, keys.encode())

    def sees(self, text: str) -> None:
        """Wait until ``text`` stands in what was written since the last one that was seen."""
        while (found := self.shown.find(text, self._seen)) < 0:
            assert self._read(), f"it ended without {text!r}:\n{self.shown}"
        self._seen = found + len(text)

    def ends(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        return self._process.wait(timeout=_TIMEOUT_S)

    def kill(self) -> None:
        """Kill it as a crash would."""
        self._process.kill()
        self._process.wait(timeout=_TIMEOUT_S)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], _TIMEOUT_S)
        assert ready, f"nothing more came:\n{self.shown}"
        try:
            data = os.read(self._master, 65536)
        except OSError:
            # Linux says so when the other side was closed.
            return False
        self._raw += data
        self.shown = _MOVES.sub("", self._raw.decode("utf-8", "replace"))
        return bool(data)
