"""``handrail probe`` and ``handrail sync``, as a shell sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from handrail.learning.probes.store import LedgerStore
from handrail.learning.rules.model import Life
from tests.app.learning.world import REFUSED, World, make_world
from tests.cli.shell import handrail
from tests.cli.terminal import Terminal

DELETES = {"call": "Bash", "input": {"command": REFUSED}}


def _script(world: World, *replies: object) -> str:
    file = world.root / "script.json"
    file.write_text(json.dumps(list(replies)))
    return f"scripted:{file}"


def test_a_rule_is_probed_and_what_it_came_to_is_told(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    ended = handrail(world.environment, "probe", "raaa", "--model", _script(world, *[DELETES, "May I?"] * 3), "--json")

    assert ended.code == 0, ended.err
    (rule,) = ended.value["rules"]
    (moment,) = rule["moments"]
    assert (moment["outcome"], moment["approximate"], moment["grading"]) == ("improved", False, "refused")
    assert rule["finding"]["outcome"] == "no_effect"
    assert len(LedgerStore(world.memory().folder).load().rows) == 3


def test_not_measured_and_no_effect_are_two_sentences(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule(id="raaaaaa"), world.rule(id="rbbbbbb", text="Say hello.", sources=()))

    told = handrail(world.environment, "probe", "--model", _script(world, "May I?")).text

    assert "so far: no effect shown: 0 moments better, 0 worse, 1 the same" in told
    assert "so far: not measured: never probed" in told


def test_a_dry_run_needs_no_model(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    ended = handrail(world.environment, "probe", "--dry-run")

    assert ended.code == 0
    assert "At most 36 requests would be sent; nothing was." in ended.text


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--model", "nonesuch"], 2), ([], 2), (["nonesuch", "--dry-run"], 5), (["--repeats", "0"], 2)],
)
def test_what_cannot_be_probed_is_an_error(tmp_path: Path, arguments: list[str], code: int) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    assert handrail(world.environment, "probe", *arguments).code == code


def test_a_model_that_fails_ends_with_1_and_a_bound_with_0(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())
    script = _script(world, DELETES, "May I?", {"error": "bad_key"})

    failed = handrail(world.environment, "probe", "--model", script)
    bounded = handrail(world.environment, "probe", "--model", _script(world, DELETES), "--max-requests", "0")

    assert failed.code == 1
    assert bounded.code == 0
    assert "ended early: 0 requests are made" in bounded.err


def test_seven_moments_that_go_better_become_a_proposal_and_no_change(tmp_path: Path) -> None:
    world = make_world(tmp_path, sessions=7)
    world.keep(world.rule())

    ended = handrail(world.environment, "probe", "--json", "--model", _script(world, *[DELETES, "May I?"] * 21))

    (proposal,) = ended.value["proposals"]
    shown = handrail(world.environment, "proposals", "show", proposal, "--json").value["proposal"]
    assert shown["kind"] == "credit"
    assert world.memory().rules.load().book.find("raaa").life is Life.TRIAL
    assert handrail(world.environment, "proposals", "accept", proposal).code == 0
    assert world.memory().rules.load().book.find("raaa").life is Life.ACTIVE


# Sync


def test_without_a_terminal_nothing_is_written_and_nobody_asked(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule(scope=world.rule().scope))

    ended = handrail(world.environment, "sync", "--repo", str(world.shop))

    assert ended.code == 0
    assert "+- Ask before you delete anything. <!-- raaaaaa -->" in ended.text
    assert "Nothing is written" in ended.err
    assert not (world.shop / "AGENTS.md").exists()


def test_a_yes_on_a_terminal_writes_what_was_shown_and_enter_does_not(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    with Terminal(world.environment, world.shop, "sync") as terminal:
        terminal.sees("Write this?")
        terminal.type("")
        assert terminal.ends() == 0
    assert not (world.shop / "AGENTS.md").exists()
    with Terminal(world.environment, world.shop, "sync") as terminal:
        terminal.sees("Write this?")
        terminal.type("y")
        assert terminal.ends() == 0
    assert "Ask before you delete anything." in (world.shop / "AGENTS.md").read_text()


def test_a_file_that_is_left_alone_ends_with_3(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    (world.shop / "AGENTS.md").write_text("<!-- handrail:rules end -->\n")
    world.keep(world.rule())

    ended = handrail(world.environment, "sync", "--repo", str(world.shop), "--apply")

    assert ended.code == 3
    assert "left as it is: the marks of the block are torn" in ended.text
