"""``handrail learn --auto``, as a shell sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from tests.app.learning.world import ASK_FIRST, REFUSED, WORDS, make_world
from tests.cli.shell import handrail

NIGHT = [
    {"call": "reflect", "input": {"skip": False, "lesson": ASK_FIRST, "about": "behaviour", "wish": WORDS}},
    {"call": "change_rules", "input": {"changes": [{"do": "add", "lessons": ["L1"], "text": ASK_FIRST}]}},
    *[{"call": "Bash", "input": {"command": REFUSED}}, "May I?"] * 6,
]
"""It reflects, learns, and is probed three times at the gate and three times afterwards."""


def test_a_night_says_what_it_did_and_stays_within_its_budget(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    script = tmp_path / "script.json"
    script.write_text(json.dumps(NIGHT))

    ended = handrail(
        world.environment,
        "learn",
        "--auto",
        "--holdout",
        "0",
        "--model",
        f"scripted:{script}",
        "--max-requests",
        "50",
        "--json",
    )

    assert ended.code == 0, ended.err
    assert [one["did"] for one in ended.value["gated"]] == ["trial"]
    assert ended.value["spent"]["requests"] == len(NIGHT)
    shown = handrail(world.environment, "rules", "list", "--json").value
    assert ASK_FIRST in json.dumps(shown)


def test_without_a_stated_budget_nothing_begins(tmp_path: Path) -> None:
    world = make_world(tmp_path)

    ended = handrail(world.environment, "learn", "--auto", "--model", "scripted:nonesuch")

    assert ended.code == 2
    assert "asks nothing past a bound that you set" in ended.err


def test_a_dead_model_ends_with_1_and_a_bound_with_0(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    script = tmp_path / "script.json"
    script.write_text('[{"error": "bad_key"}]')
    order = ("learn", "--auto", "--model", f"scripted:{script}", "--max-requests")

    assert handrail(world.environment, *order, "9").code == 1
    bounded = handrail(world.environment, *order, "0")
    assert (bounded.code, "ended early: 0 requests are made" in bounded.err) == (0, True)
