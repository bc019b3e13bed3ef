"""Commands that go on in the background of a test: started, heard line by line, ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any


class Background:
    """``handrail`` with ``arguments``, whose standard output is JSON lines; ended with the block."""

    def __init__(self, environment: Mapping[str, str], cwd: Path, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "handrail", *arguments],
            cwd=cwd,
            env={"TZ": "UTC", "PATH": os.environ["PATH"], **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Background:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def hears(self, event: str) -> Any:
        """Wait for the next line whose ``event`` is that; what it says."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if told["event"] == event:
                return told
        raise AssertionError(f"it ended without {event!r}")

    def tell_to_end(self) -> int:
        """SIGTERM, and the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.ends()

    def ends(self) -> int:
        """Wait for the end; the exit code."""
        return self._process.wait(timeout=60)

    def kill(self) -> None:
        """SIGKILL, as a crash would."""
        self._process.kill()
        self._process.wait(timeout=60)
