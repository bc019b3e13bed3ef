"""Listing many sessions, a monstrous one, and how long the command takes to say its version."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import shapes
from benchmarks.timing import fresh_process, median_s

_LIST = """
import sys, time
import handrail
start = time.perf_counter()
count = sum(1 for _ in handrail.harness("claude_code").store(sys.argv[1]).discover())
RESULT = {"sessions": count, "listing_s": time.perf_counter() - start}
"""


def many(trials: int, sessions: int = 10_000) -> Iterator[dict[str, object]]:
    """``sessions`` small files in 100 projects, listed by a fresh process; ``wall_s`` holds its start too."""
    with tempfile.TemporaryDirectory() as folder:
        for index in range(sessions):
            data = shapes.tiny(6, seed=index)
            path = Path(folder) / f"-srv-project-{index % 100}" / f"00000000-0000-4000-8000-{index:012}.jsonl"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        runs = sorted((fresh_process(_LIST, folder) for _ in range(trials)), key=lambda run: float(run["wall_s"]))
        yield {"what": f"listing {sessions:,} sessions, fresh process", **_rounded(runs[len(runs) // 2])}


def monster(size: int) -> Iterator[dict[str, object]]:
    """One session of ``size`` bytes, nearly all progress rows, listed by a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "-srv-shop" / "00000000-0000-4000-8000-000000000001.jsonl"
        path.parent.mkdir()
        with path.open("wb") as stream:
            stream.writelines(shapes.progress_rows(size))
        yield {"what": f"listing one session of {size / 1e9:.1f} GB", **_rounded(fresh_process(_LIST, folder))}


def startup(trials: int) -> Iterator[dict[str, object]]:
    """``handrail --version``, beside an interpreter that does nothing."""
    command = [str(Path(sys.executable).with_name("handrail")), "--version"]
    nothing = [sys.executable, "-c", "pass"]
    ours = median_s(lambda: subprocess.run(command, check=True, capture_output=True), trials)
    bare = median_s(lambda: subprocess.run(nothing, check=True, capture_output=True), trials)
    yield {"what": "handrail --version", "ms": round(ours * 1000), "bare_interpreter_ms": round(bare * 1000)}


def _rounded(run: dict[str, object]) -> dict[str, object]:
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in run.items()}
