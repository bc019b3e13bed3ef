"""``handrail hook run HOST``: the program that another host calls. Loads as little as it can, and never says no by
accident: its exit code is 0 whatever happens, for with 2 both hosts would stop their agent.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

MAX_BYTES = 32 << 20
"""More than any call holds; what is longer is no call, and is not read on."""


def run(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    """Answer on standard output what standard input asks, as the host that ``arguments`` name takes it."""
    from handrail.app.learning.hosting import answer
    from handrail.clock import SystemClock
    from handrail.learning.checks.hosts import HOSTS

    host = next((one for one in HOSTS if list(arguments) == [one]), None)
    if host is None or sys.stdin.isatty():
        sys.stderr.write(f"handrail hook run is for a host to call: one of {', '.join(HOSTS)}, JSON on its input\n")
        return
    said = answer(
        host, sys.stdin.buffer.read(MAX_BYTES), os.environ if environment is None else environment, SystemClock()
    )
    sys.stdout.buffer.write(said)
    sys.stdout.buffer.flush()
