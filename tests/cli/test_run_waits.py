"""A run that waits for an answer: its exit code, what it asks, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.homes import empty_home
from tests.cli.shell import handrail

pytest.importorskip("pydantic")

ASKS = """
from handrail import RoundDecision

class STRATEGY:
    name = "asks_once"

    def on_round(self, ctx):
        return RoundDecision.pause("Which colour?")
"""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A home where another distribution brings a strategy that asks."""
    info = tmp_path / "site" / "other-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[handrail.agents.strategies]\nasks_once = other_asks\n")
    (tmp_path / "site" / "other_asks.py").write_text(ASKS)
    return empty_home(tmp_path) | {"PYTHONPATH": str(tmp_path / "site")}


def _told(text: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(text.splitlines()[-1])
    return found


def test_a_run_that_waits_ends_with_7_and_goes_on_with_the_answer(home: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["I need to know more.", "Painted."]))
    model = ("--model", f"scripted:{script}")
    waits = handrail(home, "run", "paint", *model, "--strategy", "asks_once", "--json")
    told = _told(waits.text)
    assert (waits.code, told["end_reason"], told["question"]) == (7, "waiting", "Which colour?")
    done = handrail(home, "run", "red", *model, "--session", str(told["session"]), "--json")
    assert (done.code, _told(done.text)["output"]) == (0, "Painted.")
