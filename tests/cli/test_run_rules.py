"""Rules in runs of the command line: they ride, it is recorded which, and none ride when told so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from handrail.app.learning.recorded import iter_runs
from handrail.app.opening import open_session
from handrail.cli.program import run as program
from handrail.journal.events import RunStarted
from handrail.learning.rules.block import HEADING
from tests.app.learning.world import ASK_FIRST, World, make_world

NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""The digest of no block at all."""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = make_world(tmp_path)
    monkeypatch.chdir(world.shop)
    for name, value in world.environment.items():
        # Stores look for their roots in the environment of the process.
        monkeypatch.setenv(name, value)
    return world


def _started(world: World, capfd: pytest.CaptureFixture[str], *arguments: str) -> RunStarted:
    """What is recorded of a run that begins."""
    script = world.root / "script.json"
    script.write_text('["Done."]')
    code = program(["run", "go", "--model", f"scripted:{script}", "--json", *arguments], world.environment)
    printed = capfd.readouterr()
    assert code == 0, printed.err
    session = json.loads(printed.out.splitlines()[0])["session"]
    ((_, started),) = iter_runs(open_session(world.machine(), session))
    return started


def test_rules_of_this_place_ride_and_it_is_recorded_which(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    world.keep(world.rule())

    started = _started(world, capfd)

    assert started.rules == ("raaaaaa",)
    assert started.rules_digest not in (None, NOTHING)
    assert (started.instructions or "").endswith(f"\n- {ASK_FIRST}")
    assert "Bash" in started.tools


def test_none_ride_when_told_so_and_that_is_recorded_too(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    world.keep(world.rule())

    started = _started(world, capfd, "--no-rules")

    assert (started.rules, started.rules_digest) == ((), NOTHING)
    assert HEADING not in (started.instructions or "")


def test_where_there_are_no_rules_it_is_recorded_that_none_rode(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    started = _started(world, capfd)

    assert (started.rules, started.rules_digest) == ((), NOTHING)
    assert not world.memory().folder.exists()
