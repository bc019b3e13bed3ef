"""Listings read the ends of files: neither many sessions nor huge ones cost memory."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.homes import CLAUDE_ID, claude_rows, empty_home, make_home

MEMORY_BYTES = 400_000_000
HUGE_BYTES = 3_000_000_000


def _listed(environment: dict[str, str], *arguments: str) -> list[dict[str, object]]:
    """The sessions that ``ls`` prints, in a process that may not have more than ``MEMORY_BYTES``."""
    done = subprocess.run(
        [sys.executable, "-m", "handrail", "ls", "--json", *arguments],
        env=environment,
        capture_output=True,
        check=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )
    sessions: list[dict[str, object]] = json.loads(done.stdout)["sessions"]
    return sessions


def _projects(environment: dict[str, str]) -> Path:
    folder = Path(environment["CLAUDE_CONFIG_DIR"]) / "projects" / "-srv-shop"
    folder.mkdir(parents=True)
    return folder


def test_a_session_of_3_gb_is_listed_from_its_ends(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    path = _projects(home) / f"{CLAUDE_ID}.jsonl"
    first, *rest = [json.dumps(row).encode() + b"\n" for row in claude_rows(CLAUDE_ID)[1:]]
    path.write_bytes(first)
    # A hole in the file: its size counts, its bytes take no room on disk.
    os.truncate(path, HUGE_BYTES)
    with path.open("ab") as stream:
        stream.write(b"\n" + b"".join(rest))
    (row,) = _listed(home)
    assert (row["id"], row["started_at"]) == (CLAUDE_ID, "2026-05-01T08:00:00Z")
    assert row["size_bytes"] == path.stat().st_size > HUGE_BYTES


def test_a_last_row_longer_than_a_listing_reads_is_no_damage(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    rows = claude_rows(CLAUDE_ID)[1:]
    rows[-1]["message"]["content"][0]["text"] = "long " * 50_000
    path = _projects(home) / f"{CLAUDE_ID}.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    (row,) = _listed(home)
    assert row["is_whole"] is True


def test_thousands_of_sessions_are_listed_in_little_memory(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    folder = _projects(home)
    for number in range(3000):
        session = f"00000000-0000-4000-8000-{number:012}"
        row = claude_rows(session)[1]
        (folder / f"{session}.jsonl").write_text(json.dumps(row) + "\n")
    assert len(_listed(home)) == 3000
    assert len(_listed(home, "-n", "7")) == 7


def test_ctrl_c_ends_a_command_with_130(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    waiting = tmp_path / "pipe"
    os.mkfifo(waiting)
    command = [sys.executable, "-m", "handrail", "show", str(waiting)]
    piped = subprocess.PIPE
    # Opening a pipe for writing waits until the command has opened it for reading.
    with subprocess.Popen(command, env=home, stdout=piped, stderr=piped) as running, waiting.open("wb"):
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err.strip()) == (130, b"", b"")
