"""Following a session that grows, and adding up many: processor time, and memory that must not grow with them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import shapes
from benchmarks.timing import fresh_process

_STATS = """
import sys, time
from pathlib import Path
from handrail import app
machine = app.open_machine({"claude_code": Path(sys.argv[1])}, only_given=True)
start = time.process_time()
total = app.stats(machine).total
RESULT = {"sessions": total.sessions, "rounds": total.rounds, "processor_s": time.process_time() - start}
"""

_FOLLOW = """
import sys, time
from pathlib import Path
from handrail import app
path, rows = Path(sys.argv[1]), int(sys.argv[2])
lines = path.read_bytes().splitlines(keepends=True)
path.write_bytes(b"".join(lines[:-rows]))
rest = iter(lines[-rows:])
def append(_seconds):
    with path.open("ab") as stream:
        stream.write(next(rest, None) or sys.exit(report()))
def report():
    took = (time.process_time() - start) / rows
    RESULT.update(size_mb=path.stat().st_size / 1e6, processor_ms=took * 1000)
RESULT = {}
machine = app.open_machine({}, only_given=True)
events = app.follow(machine, str(path), app.FollowOptions(last=0), sleeper=append)
next(events)
start = time.process_time()
try:
    for _ in events:
        pass
except SystemExit:
    pass
"""


def stats(sessions: tuple[int, ...] = (20, 160), messages: int = 400) -> Iterator[dict[str, object]]:
    """``handrail stats`` over so many sessions of ``messages`` rows; ``peak_mib`` is the figure to look at."""
    for count in sessions:
        with tempfile.TemporaryDirectory() as folder:
            for index in range(count):
                path = Path(folder) / "-srv-shop" / f"00000000-0000-4000-8000-{index:012}.jsonl"
                path.parent.mkdir(exist_ok=True)
                data = shapes.chatty(messages, seed=index)
                path.write_bytes(data.replace(b'"id":"msg_', b'"id":"msg_%d_' % index))
            yield {"what": f"stats of {count} sessions", **_rounded(fresh_process(_STATS, folder))}


def following(messages: tuple[int, ...] = (1_000, 4_000), rows: int = 20) -> Iterator[dict[str, object]]:
    """What a look costs when one row was appended, in sessions of so many rows."""
    for count in messages:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "session.jsonl"
            path.write_bytes(shapes.chatty(count))
            run = fresh_process(_FOLLOW, str(path), str(rows))
            yield {"what": f"a look at a session of {count:,} rows that grew by one", **_rounded(run)}


def _rounded(run: dict[str, object]) -> dict[str, object]:
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in run.items()}
