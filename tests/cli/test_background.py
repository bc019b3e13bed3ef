"""Runs in the background and the process that serves them, with real processes that die when it hurts."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.homes import empty_home
from tests.cli.processes import Background
from tests.cli.shell import handrail

pytest.importorskip("pydantic")

POINT = """
name = "paint"

[[stages]]
name = "choose"
instructions = "Choose."
limits = { max_rounds = 5 }

[[stages.points]]
name = "colour"
prompt = "Which colour?"
style = "multiple_choice"
options = ["Red", "Again"]
directives = { Again = "Think again." }
"""

GATE = {"call": "Bash", "input": {"command": "echo here > reached; cat gate"}}
"""A call that says that it is ``reached`` and goes on until the test writes into the pipe ``gate``."""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return empty_home(tmp_path / "home") | {
        "HANDRAIL_CONFIG_DIR": str(tmp_path / "config"),
        "PATH": os.environ["PATH"],
    }


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "paint.toml").write_text(POINT)
    os.mkfifo(folder / "gate")
    os.mkfifo(folder / "reached")
    monkeypatch.chdir(folder)
    return folder


def _model(work: Path, *script: Any) -> tuple[str, str]:
    (work / "script.json").write_text(json.dumps(script))
    return "--model", "scripted:script.json"


def _detach(home: dict[str, str], *arguments: str) -> str:
    begun = handrail(home, "run", *arguments, "--detach")
    assert begun.code == 0, begun.err
    return begun.text.strip()


def _run(home: dict[str, str], session: str) -> Any:
    rows = handrail(home, "ps", "--all", "--json").value["runs"]
    return next(row for row in rows if row["run"]["session"] == session)


def _watch_to_the_end(home: dict[str, str], session: str) -> Sequence[Any]:
    watched = handrail(home, "watch", session, "--json")
    return [json.loads(line) for line in watched.text.splitlines()]


def _answer(home: dict[str, str], *arguments: str) -> Any:
    (ask,) = handrail(home, "asks", "--json").value["asks"]
    return handrail(home, "answer", ask["ask"]["ask"], *arguments, "--json")


def test_a_detached_run_prints_its_id_and_goes_on_by_itself(home: dict[str, str], work: Path) -> None:
    session = _detach(home, "paint", *_model(work, GATE, "Painted."), "--allow", "Bash")
    (work / "reached").read_text()
    assert (_run(home, session)["driven"], _run(home, session)["status"]) == ("here", "running")
    assert handrail(home, "run", "more", "--session", session, *_model(work, "x")).code == 4
    with Background(home, work, "watch", session, "--json") as watching:
        watching.hears("run")
        (work / "gate").write_text("open\n")
        assert watching.hears("end")["run"]["reason"] == "answered"
        assert watching.ends() == 0


def test_what_keeps_a_detached_run_from_beginning_is_told_here(home: dict[str, str], work: Path) -> None:
    begun = handrail(home, "run", "paint", "--model", "nobody:x", "--detach")
    assert (begun.code, begun.out) == (2, b"")
    assert "no model 'nobody:x'" in begun.err


def test_a_detached_run_waits_with_nobody_and_is_carried_on_by_its_answer(home: dict[str, str], work: Path) -> None:
    model = _model(work, "I would take red.")
    with Background(home, work, "run", "paint", "--blueprint", "paint.toml", *model, "--json") as running:
        assert running.hears("result")["end_reason"] == "waiting"
    handrail(home, "cancel", handrail(home, "ps", "--json").value["runs"][0]["run"]["session"])
    session = _detach(home, "paint", "--blueprint", "paint.toml", *model)
    with Background(home, work, "watch", session, "--json") as watching:
        while watching.hears("happened")["record"]["type"] != "ask_opened":
            pass
        assert _answer(home, "red").code == 0
        assert watching.hears("end")["run"]["reason"] == "answered"


def test_a_run_whose_process_was_killed_is_taken_over_by_the_one_that_serves(home: dict[str, str], work: Path) -> None:
    session = _detach(home, "paint", *_model(work, GATE, "Painted."), "--allow", "Bash")
    (work / "reached").read_text()
    with Background(home, work, "serve", "--json") as server:
        server.hears("ready")
        _kill_driver(home, session)
        assert server.hears("taken")["session"] == session
        ended = server.hears("ended")
    assert (ended["session"], ended["reason"]) == (session, "answered")
    shown = handrail(home, "show", session).text
    assert "it was running when" in shown or "unknown" in shown


def _kill_driver(home: dict[str, str], session: str) -> None:
    """Kill whatever process holds the lock of ``session``."""
    path = Path(home["HANDRAIL_HOME"], "sessions", f"{session}.driver")
    target = path.stat()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            held = [handle.stat() for handle in (process / "fd").iterdir()]
        except OSError:
            # It ended while we looked, or is somebody else's.
            continue
        if any((one.st_dev, one.st_ino) == (target.st_dev, target.st_ino) for one in held):
            os.kill(int(process.name), signal.SIGKILL)
            return
    raise AssertionError("nobody drives it")


def test_one_process_serves_and_takes_up_what_is_answered_until_told_to_end(home: dict[str, str], work: Path) -> None:
    model = _model(work, "I would take red.", "I would take blue.")
    begun = handrail(home, "run", "paint", "--blueprint", "paint.toml", *model)
    assert begun.code == 7
    with Background(home, work, "serve", "--json") as server:
        server.hears("ready")
        second = handrail(home, "serve")
        assert (second.code, "serves this database already" in second.err) == (4, True)
        assert _answer(home, "again", "--comment", "another one").value["driven"] == "served"
        server.hears("taken")
        server.hears("waits")
        assert _answer(home, "red").code == 0
        assert server.hears("ended")["reason"] == "answered"
        assert server.tell_to_end() == 0


def test_one_that_serves_lets_what_runs_finish_when_it_is_told_to_end(home: dict[str, str], work: Path) -> None:
    session = _detach(home, "paint", *_model(work, GATE, "Painted."), "--allow", "Bash")
    (work / "reached").read_text()
    _kill_driver(home, session)
    again = _detach(home, "again", *_model(work, GATE, "Painted."), "--allow", "Bash")
    (work / "reached").read_text()
    handrail(home, "cancel", session)
    _kill_driver(home, again)
    handrail(home, "steer", again, "and quickly")
    assert _run(home, session)["run"]["reason"] == "cancelled"
    with Background(home, work, "serve", "--json") as server:
        server.hears("ready")
        assert server.hears("ended")["session"] == again
        assert server.tell_to_end() == 0
    assert "and quickly" in handrail(home, "show", again).text
