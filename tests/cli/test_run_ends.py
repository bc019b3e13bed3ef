"""A run that is told to end from outside, or whose reader goes away: it ends in order, with all it started."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail.runs.journals.session_table import NAME, SqliteSessions
from tests.agents.tools.running import is_gone
from tests.cli.homes import make_home

pytest.importorskip("pydantic")

_FULL = Path("/dev/full")

_WAITS = {"call": "Bash", "input": {"command": "sleep 600 & echo $! > pid; wait"}}
"""Says which process it started to whoever opens the pipe ``pid`` of the workspace, and waits for it."""


class Place:
    """A workspace, and what ``handrail run`` needs there; without bubblewrap, whose children die with it anyway."""

    def __init__(self, root: Path, *script: Any) -> None:
        self.work = root / "shop"
        self.work.mkdir()
        os.mkfifo(self.work / "pid")
        commands = root / "bin"
        commands.mkdir()
        for name in ("bash", "sleep"):
            (commands / name).symlink_to(str(shutil.which(name)))
        (root / "script.json").write_text(json.dumps(script))
        self.environment = make_home(root / "home") | {
            "HANDRAIL_CONFIG_DIR": str(root / "config"),
            "HANDRAIL_MODEL": f"scripted:{root / 'script.json'}",
            "PATH": str(commands),
        }

    def start(self, *arguments: str, shell: str = "", **streams: Any) -> subprocess.Popen[bytes]:
        """Start a run; ``shell`` is a command that its shell runs first."""
        command = [sys.executable, "-m", "handrail", "run", "go", "--allow", "Bash", *arguments]
        return subprocess.Popen(
            ["/bin/sh", "-c", f'{shell}\nexec "$@"', "sh", *command],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
        )

    def started(self) -> int:
        """The process that the call started; waits for it."""
        return int((self.work / "pid").read_text())

    def events(self) -> Iterator[str]:
        table = SqliteSessions(Path(self.environment["HANDRAIL_HOME"], "sessions", NAME))
        (session,) = table.sessions()
        for line in table.lines(session.id):
            yield json.loads(line)["type"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_told_to_end_it_ends_what_it_started_and_commits(tmp_path: Path, number: signal.Signals) -> None:
    place = Place(tmp_path, _WAITS, "never")
    with place.start() as running:
        child = place.started()
        running.send_signal(number)
        _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert is_gone(child)
    assert list(place.events())[-2:] == ["tool_finished", "run_ended"]
    assert ("Ctrl-C" if number is signal.SIGINT else number.name) in told.decode()


def test_a_hang_up_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    place = Place(tmp_path, _WAITS, "done")
    with place.start(shell="trap '' HUP") as running:
        child = place.started()
        running.send_signal(signal.SIGHUP)
        os.kill(child, signal.SIGTERM)
        out, _ = running.communicate(timeout=60)
    assert (running.returncode, out) == (0, b"done\n")


def test_a_reader_of_events_that_goes_away_ends_the_run_and_no_answer_is_claimed(tmp_path: Path) -> None:
    place = Place(tmp_path, _WAITS, "never")
    with place.start("--json") as running:
        child = place.started()
        assert running.stdout is not None
        running.stdout.close()
        os.kill(child, signal.SIGTERM)
        assert running.stderr is not None
        told = running.stderr.read()
    assert (running.returncode, told) == (
        130,
        b"nobody reads standard output any more; a run that was going on was cancelled\n",
    )
    # Two may wish it to end; the second comes to nothing.
    assert [kind for kind in place.events() if kind != "entry_refused"][-1] == "run_ended"


def test_a_reader_of_notes_that_goes_away_takes_the_answer_from_nobody(tmp_path: Path) -> None:
    place = Place(tmp_path, _WAITS, "done")
    with place.start() as running:
        child = place.started()
        assert running.stderr is not None
        running.stderr.close()
        os.kill(child, signal.SIGTERM)
        assert running.stdout is not None
        assert (running.stdout.read(), running.wait(timeout=60)) == (b"done\n", 0)


@pytest.mark.skipif(not _FULL.exists(), reason="this machine has no /dev/full")
@pytest.mark.parametrize("arguments", [(), ("--json",)], ids=["text", "json"])
def test_an_output_that_is_full_is_an_error_in_words(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    place = Place(tmp_path, "done")
    with _FULL.open("wb") as full, place.start(*arguments, stdout=full) as running:
        assert running.stderr is not None
        told = running.stderr.read().decode()
    assert running.returncode == 4
    assert "standard output cannot be written: No space left on device" in told
    assert "Traceback" not in told
