"""Running ``handrail`` as a shell would: a process of its own, with an environment and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ended:
    """What a command left behind: its exit code, what it printed, what it said beside."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def value(self) -> Any:
        return json.loads(self.out)


def handrail(environment: Mapping[str, str], *arguments: str, stdin: bytes = b"") -> Ended:
    """Run ``handrail`` with ``arguments`` and the standard input ``stdin``; times are shown in UTC."""
    done = subprocess.run(
        [sys.executable, "-m", "handrail", *arguments],
        env={"TZ": "UTC", "PATH": "", **environment},
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Ended(done.returncode, done.stdout, done.stderr.decode())
