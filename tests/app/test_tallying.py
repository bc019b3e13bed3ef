"""What all the work adds up to, over sessions of real formats and of a made-up one."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from handrail import app
from handrail.app import Machine, SessionFilter
from handrail.testing.builders import ClaudeCodeSession, CodexSession
from handrail.testing.builders.claude_code import say
from handrail.transcripts.model import Message, Transcript
from tests.app.desk import DENIAL, model, person, put, session, talk
from tests.contracts.echo import EchoCodec

START = datetime(2026, 5, 4, 8, tzinfo=UTC)
ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
AGENT = "a17c09e"
FORK = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


def claude_code(root: Path) -> Machine:
    return app.open_machine({"claude_code": root}, only_given=True)


def _parent() -> ClaudeCodeSession:
    made = ClaudeCodeSession(ID, "/srv/shop", START)
    made.prompt("tidy the shop")
    made.reply(say("Looking."), made.call("look", "Bash", command="ls"), made.call("task", "Task", prompt="look"))
    made.result("look", "all is well")
    made.result("task", "done", detail={"agentId": AGENT})
    made.reply(say("Tidy."))
    return made


def _write(root: Path, made: ClaudeCodeSession, name: str) -> None:
    path = root / "-srv-shop" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.render())


def test_figures_are_those_of_all_sessions_and_of_each_group(tmp_path: Path) -> None:
    one, other = session("a", DENIAL, cwd="/srv/shop"), session("b", DENIAL, cwd="/srv/bank")
    moved = tuple(replace(message, uid=f"b{message.uid}") for message in DENIAL)
    found = app.stats(put(tmp_path, one, Transcript(other.meta, moved)), zone=UTC)
    total = found.total
    assert (total.sessions, total.turns, total.rounds, total.tools, total.stepins) == (2, 2, 6, 4, 2)
    assert (total.per_100_rounds, total.rounds_without_tokens, found.by_tool) == (33.3, 6, {"Bash": 4})
    assert [(group.name, group.figures.rounds) for group in found.by_project] == [("bank", 3), ("shop", 3)]
    assert [(group.name, group.figures) for group in found.by_harness] == [("echo", total)]
    assert [(group.name, group.figures) for group in found.by_day] == [("2026-05-01", total)]


def test_a_streamed_response_counts_its_tokens_once(tmp_path: Path) -> None:
    made = ClaudeCodeSession(ID, "/srv/shop", START)
    made.prompt("tidy the shop")
    made.reply(say("one"), say("two"), say("three"))
    _write(tmp_path, made, f"{ID}.jsonl")
    tokens = app.stats(claude_code(tmp_path)).total.tokens
    last = made.rows[-1]["message"]["usage"]
    assert (tokens.input, tokens.output) == (last["input_tokens"], last["output_tokens"])


def test_a_copy_of_a_session_adds_nothing(tmp_path: Path) -> None:
    _write(tmp_path, _parent(), f"{ID}.jsonl")
    alone = app.stats(claude_code(tmp_path))
    _write(tmp_path / "again", _parent(), f"{ID}.jsonl")
    both = app.stats(claude_code(tmp_path))
    assert replace(both.total, sessions=1) == alone.total
    assert (alone.copies, both.copies) == (0, 3)


@pytest.mark.parametrize("is_parent_here", [True, False])
def test_what_a_resumed_session_copied_counts_once_whether_its_parent_is_here_or_not(
    tmp_path: Path, is_parent_here: bool
) -> None:
    parent = _parent()
    if is_parent_here:
        _write(tmp_path, parent, f"{ID}.jsonl")
    for number, name in enumerate((FORK, FORK.replace("7c", "8d"))):
        fork = ClaudeCodeSession(name, "/srv/shop", START + timedelta(hours=1 + number))
        fork.rows, fork.last = list(parent.rows), parent.last
        fork.prompt("and now the cellar")
        fork.reply(say("Tidy too."))
        _write(tmp_path, fork, f"{name}.jsonl")
    total = app.stats(claude_code(tmp_path)).total
    assert (total.turns, total.rounds, total.tools) == (3, 4, 2)


def test_a_fork_of_codex_does_not_count_its_parent_again(tmp_path: Path) -> None:
    parent = CodexSession("019b0c1e-1111-7abc-8def-0123456789ab", "/srv/bank", START)
    parent.prompt("count the files")
    parent.finish("Seven.")
    fork = CodexSession(
        "019b0c1e-2222-7abc-8def-0123456789ab", "/srv/bank", START + timedelta(hours=1), forked_from=parent.session_id
    )
    fork.inherit(parent)
    fork.wait(60)
    fork.prompt("again")
    fork.finish("Still seven.")
    for made in (parent, fork):
        path = tmp_path / made.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made.render())
    total = app.stats(app.open_machine({"codex": tmp_path}, only_given=True)).total
    assert (total.sessions, total.turns, total.rounds) == (2, 2, 2)


def test_subagents_count_once_with_their_session_and_are_no_sessions(tmp_path: Path) -> None:
    _write(tmp_path, _parent(), f"{ID}.jsonl")
    alone = app.stats(claude_code(tmp_path)).total
    agent = ClaudeCodeSession(ID, "/srv/shop", START, agent_id=AGENT)
    agent.prompt("look")
    agent.reply(say("Looked."))
    path = tmp_path / "-srv-shop" / ID / "subagents" / f"agent-{AGENT}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(agent.render())
    found = app.stats(claude_code(tmp_path))
    assert (found.total.sessions, found.total.turns, found.total.rounds) == (1, 1, alone.rounds + 1)
    assert (found.subagents, found.copies) == (1, 0)
    assert (
        app.stats(claude_code(tmp_path), references=(str(tmp_path / "-srv-shop" / f"{ID}.jsonl"),)).total == found.total
    )


def test_a_line_that_was_left_counts_too(tmp_path: Path) -> None:
    made = ClaudeCodeSession(ID, "/srv/shop", START)
    made.prompt("tidy the shop")
    made.reply(say("Which part of it?"))
    before = made.last
    made.prompt("the cellar")
    made.reply(say("Swept the cellar."))
    made.go_back_to(before)
    made.prompt("the attic")
    made.reply(say("Swept the attic."))
    _write(tmp_path, made, f"{ID}.jsonl")
    total = app.stats(claude_code(tmp_path)).total
    assert (total.turns, total.rounds) == (3, 3)


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("at", "zone", "day"),
    [
        (datetime(2026, 3, 28, 22, 59, tzinfo=UTC), BERLIN, "2026-03-28"),
        (datetime(2026, 3, 28, 23, 0, tzinfo=UTC), BERLIN, "2026-03-29"),
        (datetime(2026, 3, 29, 21, 59, tzinfo=UTC), BERLIN, "2026-03-29"),
        (datetime(2026, 3, 29, 22, 0, tzinfo=UTC), BERLIN, "2026-03-30"),
        (datetime(2026, 10, 25, 22, 59, tzinfo=UTC), BERLIN, "2026-10-25"),
        (datetime(2026, 10, 25, 23, 0, tzinfo=UTC), BERLIN, "2026-10-26"),
        (datetime(2026, 3, 28, 23, 0, tzinfo=UTC), UTC, "2026-03-28"),
    ],
)
def test_a_day_is_the_calendars_on_days_of_23_and_25_hours_too(
    tmp_path: Path, at: datetime, zone: tzinfo, day: str
) -> None:
    body = tuple(replace(message, timestamp=at) for message in talk([person("hello")], [model("Hello.")]))
    found = app.stats(put(tmp_path, session("a", body)), zone=zone)
    assert [group.name for group in found.by_day] == [day]
    assert found.zone == str(zone)


def test_what_has_no_time_is_on_no_day_and_is_left_out_by_since(tmp_path: Path) -> None:
    timeless = tuple(replace(message, timestamp=None) for message in talk([person("hello")], [model("Hello.")]))
    machine = put(tmp_path, session("a", timeless))
    assert [group.name for group in app.stats(machine).by_day] == [None]
    assert app.stats(machine, SessionFilter(since=datetime(2026, 1, 1, tzinfo=UTC))).total.rounds == 0


def test_since_holds_for_what_is_counted_and_not_only_for_the_session(tmp_path: Path) -> None:
    machine = put(tmp_path, session("a", DENIAL))
    since = DENIAL[3].timestamp
    total = app.stats(machine, SessionFilter(since=since)).total
    assert (total.turns, total.rounds, total.stepins) == (0, 2, 0)


def test_by_model_a_turn_counts_with_who_answered_and_a_stepin_with_who_was_stepped_into(tmp_path: Path) -> None:
    models = [None, "m1", None, "m2", None, "m2"]
    body = tuple(replace(message, model=name) for message, name in zip(DENIAL, models, strict=True))
    groups = app.stats(put(tmp_path, session("a", body))).by_model
    found = {group.name: group.figures for group in groups}
    assert {name: (figures.turns, figures.rounds, figures.stepins) for name, figures in found.items()} == {
        "m1": (1, 1, 1),
        "m2": (0, 2, 0),
    }


def test_memory_does_not_grow_with_the_number_of_sessions(tmp_path: Path) -> None:
    body = talk(*([person("word " * 400)], [model("word " * 4000)]) * 20)
    few, many = tmp_path / "few", tmp_path / "many"

    def peak(root: Path, count: int) -> int:
        root.mkdir()
        codec = EchoCodec()
        machine = put(root)
        for number in range(count):
            own: tuple[Message, ...] = tuple(replace(item, uid=f"{number}-{item.uid}") for item in body)
            machine.stores["echo"].save(codec.from_common(session(f"s{number}", own)))
        tracemalloc.start()
        try:
            assert app.stats(machine).total.sessions == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(many, 24) < 1.5 * peak(few, 4)
