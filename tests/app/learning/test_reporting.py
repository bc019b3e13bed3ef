"""The figures over real sessions of ours: what counts, once, and what has no figure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

from msgspec.structs import replace

from handrail.app.learning.reporting import repeats_of, report
from handrail.app.listing import SessionFilter
from handrail.learning.rules.model import Life, Rule
from tests.app.learning.world import World, make_world
from tests.cli.shell import handrail

NOW = datetime.now(UTC)
NO_RM = {"kind": "forbid", "call": {"tool": "Bash", "command": "rm *"}}


def _rule(world: World, **more: Any) -> Rule:
    return world.rule(created_at=NOW, check=NO_RM, **more)


def test_step_ins_rounds_and_violations_are_counted_once_each(tmp_path: Path) -> None:
    world = make_world(tmp_path, sessions=2)
    world.keep(_rule(world))

    found = report(world.machine(), world.memory()).told

    assert (found.total.sessions, found.total.rounds, found.total.step_ins) == (2, 4, 2)
    assert found.total.rate == 50.0
    # The refused call is what the check would have fired on, and rightly.
    assert (found.total.occasions, found.total.violations) == (2, 2)
    assert [project.name for project in found.projects] == ["shop"]
    assert [(one.rule, one.is_checkable, one.outcome) for one in found.rules] == [("raaaaaa", True, "not_measured")]


def test_without_a_check_there_is_no_violation_rate(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    found = report(world.machine(), world.memory()).told

    assert found.total.violation_rate is None
    assert found.rules[0].is_checkable is False


def test_no_session_at_all_is_a_dash_and_no_zero(tmp_path: Path) -> None:
    world = World(tmp_path)

    found = report(world.machine(), world.memory())

    assert (found.told.total.rate, found.told.weeks) == (None, ())
    assert not (tmp_path / "home").exists()


def test_a_correction_that_a_rule_was_there_for_is_a_repeat(tmp_path: Path) -> None:
    world = make_world(tmp_path, sessions=3)
    early, late, undated = world.sources()
    rule = _rule(
        world,
        sources=(replace(early, at=NOW - timedelta(days=1)), replace(late, at=NOW + timedelta(days=1)), undated),
    )
    world.keep(rule)

    (repeat,) = repeats_of(world.memory())

    assert (repeat.rule, repeat.at) == ("raaaaaa", NOW + timedelta(days=1))


def test_only_the_sessions_and_the_time_that_were_asked_for_count(tmp_path: Path) -> None:
    world = make_world(tmp_path)

    def sessions(wanted: SessionFilter) -> int:
        return report(world.machine(), world.memory(), wanted).told.total.sessions

    assert sessions(SessionFilter(project="shop")) == 1
    assert sessions(SessionFilter(project="bank")) == 0
    assert sessions(SessionFilter(since=NOW + timedelta(days=1))) == 0


def test_repeats_are_counted_only_of_what_was_asked_for(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(_rule(world, sources=(replace(world.sources()[0], at=NOW + timedelta(days=1)),)))

    def repeats(wanted: SessionFilter) -> int:
        return report(world.machine(), world.memory(), wanted).told.total.repeats

    assert repeats(SessionFilter()) == repeats(SessionFilter(project="shop")) == 1
    assert repeats(SessionFilter(harness="handrail", since=NOW)) == 1
    assert repeats(SessionFilter(project="bank")) == 0
    assert repeats(SessionFilter(since=NOW + timedelta(days=2))) == 0


def test_a_retired_rule_is_told_of_only_where_it_has_a_figure(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    retired = _rule(world, life=Life.RETIRED, reason="too much")
    world.keep(retired)
    assert report(world.machine(), world.memory()).told.rules == ()

    world.keep(replace(retired, sources=(replace(world.sources()[0], at=NOW + timedelta(days=1)),)))

    (told,) = report(world.machine(), world.memory()).told.rules
    assert (told.figure.repeats, told.reason) == (1, "retired: too much")


def test_the_command_prints_draws_and_replaces_only_when_told(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    picture = tmp_path / "weeks.svg"

    told = handrail(world.environment, "report", "--svg", str(picture))
    again = handrail(world.environment, "report", "--svg", str(picture))

    assert told.code == 0, told.err
    assert "step-ins per 100 rounds: 50.0" in told.text
    assert "What these figures cannot show:" in told.text
    assert picture.read_text().startswith("<svg")
    assert again.code == 4
    assert handrail(world.environment, "report", "--svg", str(picture), "--force").code == 0
    assert handrail(world.environment, "report", "--json").value["total"]["step_ins"] == 1
