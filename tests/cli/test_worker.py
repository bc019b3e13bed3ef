"""Workers as processes of their own, on a real PostgreSQL: they share runs, die, stand still, are told to end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import quote

import pytest

from handrail.cli.program import run as program
from handrail.journal.events import Event
from handrail.journal.wire import type_of
from handrail.runs.journals.postgres import PostgresJournal
from handrail.testing.postgres import PostgresServer
from tests.cli.homes import empty_home

pytest.importorskip("procrastinate")

PATIENCE_S = 60.0
"""Far longer than anything here takes; what hangs fails."""

PAINT = """
name = "paint"

[[stages]]
name = "choose"
instructions = "Choose."
tools = ["Bash"]
permissions = { allow = ["Bash"] }
limits = { max_rounds = 9 }

[[stages.points]]
name = "colour"
prompt = "Which colour?"
style = "multiple_choice"
options = ["Red", "Again", "None at all"]
abort_options = ["None at all"]
directives = { "Again" = "Do it again." }
"""


class Process:
    """A worker whose lines are read as they come. ``events`` are those seen so far."""

    def __init__(self, shop: Shop, *, stalled_after_s: int) -> None:
        command = [sys.executable, "-m", "handrail", "worker", "--json", "--stalled-after", str(stalled_after_s)]
        self.child = subprocess.Popen(
            command, cwd=shop.folder, env=shop.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._lines: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.child.stdout or ():
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def seen(self, *events: str) -> dict[str, Any]:
        """The next line whose event is one of ``events``."""
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE_S)
            except Empty:
                raise AssertionError(f"nothing of {events} came in {PATIENCE_S} s") from None
            assert line is not None, f"it ended before {events}: {self.child.stderr and self.child.stderr.read()!r}"
            if line["event"] in events:
                return line

    def tell(self, number: signal.Signals) -> None:
        self.child.send_signal(number)

    def ended(self) -> int:
        code = self.child.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        for stream in (self.child.stdout, self.child.stderr):
            if stream is not None:
                stream.close()
        return code


class Shop:
    """A folder with a blueprint and a script, a home, and a database."""

    def __init__(self, folder: Path, home: Path, database: str) -> None:
        self.folder = folder
        self.environment = {**os.environ, **empty_home(home), "HANDRAIL_DATABASE": database, "TZ": "UTC"}
        self.processes: list[Process] = []

    def worker(self, *, stalled_after_s: int = 60) -> Process:
        self.processes.append(Process(self, stalled_after_s=stalled_after_s))
        self.processes[-1].seen("ready")
        return self.processes[-1]

    def call(self, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
        command = [sys.executable, "-m", "handrail", *arguments, "--json"]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return done.returncode, lines

    def events(self, session: str) -> tuple[Event, ...]:
        """What the database holds of a session."""
        journal = PostgresJournal(self.environment["HANDRAIL_DATABASE"], connections=1)
        try:
            return asyncio.run(journal.read(session))
        finally:
            journal.close()

    def begin(self, *script: Any) -> tuple[str, str]:
        """Begin a run that parks at its point; its session, and the question."""
        (self.folder / "script.json").write_text(json.dumps(script))
        code, lines = self.call("run", "paint it", "--blueprint", "paint.toml", "--model", "scripted:script.json")
        assert code == 7, lines
        return lines[-1]["session"], lines[-1]["waits_for"][0]


@pytest.fixture
def shop(tmp_path: Path, postgres: PostgresServer) -> Iterator[Shop]:
    with postgres.database() as url:
        from psycopg.conninfo import conninfo_to_dict

        parts = conninfo_to_dict(url)
        address = f"postgresql://{parts['user']}@/{parts['dbname']}?host={quote(str(parts['host']), safe='')}"
        folder, home = tmp_path / "shop", tmp_path / "home"
        folder.mkdir()
        (folder / "paint.toml").write_text(PAINT)
        made = Shop(folder, home, address)
        yield made
        for process in made.processes:
            if process.child.poll() is None:
                process.tell(signal.SIGKILL)
            process.ended()


def bash(command: str) -> dict[str, Any]:
    return {"call": "Bash", "input": {"command": command}}


@contextlib.contextmanager
def gate(path: Path) -> Iterator[None]:
    """A pipe at which a command waits until the block ends."""
    os.mkfifo(path)
    handle = os.open(path, os.O_RDWR)
    try:
        yield
    finally:
        os.write(handle, b"go\n")
        os.close(handle)


def until_there(path: Path) -> None:
    """Wait until a command has made ``path``."""
    waited = threading.Event()
    for _ in range(int(PATIENCE_S * 50)):
        if path.exists():
            return
        waited.wait(0.02)
    raise AssertionError(f"{path.name} never came")


def test_an_answer_has_the_run_carried_on_by_a_worker(shop: Shop) -> None:
    worker = shop.worker()
    session, ask = shop.begin("red", "painted")
    code, answered = shop.call("answer", ask, "red")
    assert (code, answered[0]["driven"]) == (0, "served")
    assert worker.seen("taken")["session"] == session
    ended = worker.seen("ended", "failed")
    assert (ended["session"], ended["reason"]) == (session, "answered")


def test_a_worker_that_is_killed_in_the_middle_of_a_round_leaves_the_run_to_another(shop: Shop) -> None:
    here = shop.folder
    command = bash("echo x >> began; touch here; read -r _ < gate; echo x >> done")
    with gate(here / "gate"):
        first = shop.worker(stalled_after_s=2)
        session, ask = shop.begin("red", command, "painted")
        shop.call("answer", ask, "again")
        first.seen("taken")
        until_there(here / "here")
        second = shop.worker(stalled_after_s=2)
        first.tell(signal.SIGKILL)
        first.ended()
        taken = second.seen("taken")
        waits = second.seen("waits", "failed")
    assert (taken["session"], waits["event"], waits["session"]) == (session, "waits", session)
    assert (here / "began").read_text() == "x\n"
    types = [type_of(event.body) for event in shop.events(session)]
    assert (types.count("tool_started"), types.count("tool_outcome_unknown")) == (1, 1)


def test_a_worker_that_stands_still_is_taken_over_and_writes_nothing_when_it_wakes(shop: Shop) -> None:
    here = shop.folder
    with gate(here / "gate"):
        first = shop.worker(stalled_after_s=2)
        session, ask = shop.begin("red", bash("touch here; read -r _ < gate"), "painted")
        shop.call("answer", ask, "again")
        first.seen("taken")
        until_there(here / "here")
        first.tell(signal.SIGSTOP)
        second = shop.worker(stalled_after_s=2)
        assert second.seen("taken")["session"] == session
        assert second.seen("waits", "failed")["event"] == "waits"
        before = shop.events(session)
        first.tell(signal.SIGCONT)
    assert first.seen("failed", "ended", "waits")["event"] == "failed"
    assert shop.events(session) == before
    assert "tool_outcome_unknown" in [type_of(event.body) for event in before]


def test_a_worker_that_is_told_to_end_finishes_what_it_does_and_leaves_the_run_to_another(shop: Shop) -> None:
    here = shop.folder
    with gate(here / "gate"):
        first = shop.worker()
        session, ask = shop.begin("red", bash("touch here; read -r _ < gate; echo x >> done"), "painted")
        shop.call("answer", ask, "again")
        first.seen("taken")
        until_there(here / "here")
        second = shop.worker()
        first.tell(signal.SIGTERM)
    assert first.seen("waits", "failed")["event"] == "waits"
    assert first.ended() == 0
    assert second.seen("taken")["session"] == session
    assert second.seen("waits", "failed")["event"] == "waits"
    assert (here / "done").read_text() == "x\n"


def test_workers_and_a_server_do_not_carry_the_runs_of_one_database_together(shop: Shop) -> None:
    shop.worker()
    code, _ = shop.call("serve")
    assert code != 0


def test_a_worker_needs_postgresql(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    home = empty_home(tmp_path)
    assert program(["worker", "--database", f"sqlite:{tmp_path / 'runs.sqlite'}"], {**os.environ, **home}) != 0
    assert "PostgreSQL" in capfd.readouterr().err
