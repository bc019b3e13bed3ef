"""Medians of repeated calls, and peak memory of a fresh process."""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def median_s(work: Callable[[], object], trials: int = 5) -> float:
    """The median wall time in seconds of ``trials`` calls, one warm-up call left out."""
    work()
    return statistics.median(_time(work, time.perf_counter) for _ in range(trials))


def side_by_side_s(*works: Callable[[], object], trials: int = 5) -> list[float]:
    """The median processor time in seconds of each of ``works``, called in turn ``trials`` times.

    Taking turns and counting processor time keeps the ratios true on a machine that has other things to do.
    """
    for work in works:
        work()
    rounds = [[_time(work, time.process_time) for work in works] for _ in range(trials)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def _time(work: Callable[[], object], now: Callable[[], float]) -> float:
    gc.collect()
    start = now()
    work()
    return now() - start


_TELL = """
import json, pathlib, re, resource
status = pathlib.Path("/proc/self/status")
# What the system counts for a process begins with the size of the one that started it; this does not.
kib = re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1] if status.exists() else None
peak = int(kib) if kib else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({**RESULT, "peak_mib": peak / 1024}))
"""


def fresh_process(code: str, *arguments: str) -> dict[str, Any]:
    """Run ``code`` in a new interpreter; it prints one JSON object, to which wall time and peak memory are added.

    ``wall_s`` is the child's whole life, ``peak_mib`` its largest resident set.
    """
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code + _TELL, *arguments], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**found, "wall_s": time.perf_counter() - start}
