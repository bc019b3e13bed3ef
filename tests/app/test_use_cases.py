"""What each use case returns, over sessions of a made-up harness."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from handrail import app
from handrail.app import MomentFilter, SessionFilter
from handrail.app.sampling import SAMPLE_HOME
from handrail.errors import HandrailError, MalformedSession, StoreError, UnknownHarness
from handrail.library import Unread
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Taint, Transcript
from handrail.transcripts.spans import EmptyCrop, SplitPair
from tests.app.desk import DENIAL, START, model, person, put, session, talk

QUIET = talk([person("say hello")], [model("Hello.")])


def test_a_listing_is_newest_first_and_says_how_many_there_are(tmp_path: Path) -> None:
    machine = put(tmp_path, session("old", QUIET, day=1), session("new", QUIET, day=3), session("mid", QUIET, day=2))
    found = app.list_sessions(machine, SessionFilter(limit=2))
    assert ([row.id for row in found.sessions], found.total) == (["new", "mid"], 3)


def test_a_listing_can_be_narrowed_to_a_project(tmp_path: Path) -> None:
    machine = put(tmp_path, session("a", QUIET, cwd="/srv/shop"), session("b", QUIET, cwd="/srv/bank"))
    found = app.list_sessions(machine, SessionFilter(project="bank"))
    assert [row.id for row in found.sessions] == ["b"]


def test_a_session_without_a_title_is_listed_by_its_first_words_where_a_limit_bounds_the_work(tmp_path: Path) -> None:
    untitled = session("a", QUIET)
    machine = put(tmp_path, Transcript(msgspec.structs.replace(untitled.meta, title=None), QUIET))
    assert [row.opening for row in app.list_sessions(machine, SessionFilter(limit=5)).sessions] == ["say hello"]
    assert [row.opening for row in app.list_sessions(machine).sessions] == [None]


def test_an_unknown_harness_is_an_error_and_not_an_empty_list(tmp_path: Path) -> None:
    with pytest.raises(UnknownHarness):
        app.list_sessions(put(tmp_path), SessionFilter(harness="nonesuch"))


def test_an_overview_counts_sessions_damage_and_stepins(tmp_path: Path) -> None:
    machine = put(tmp_path, session("a", DENIAL, day=1), session("b", QUIET, day=2))
    torn = tmp_path / "b.echo"
    torn.write_bytes(torn.read_bytes()[:-1])
    found = app.overview(machine)
    (row,) = found.harnesses
    assert (row.sessions, row.damaged, row.read, row.rounds, row.stepins) == (2, 1, 2, 4, 1)
    assert (found.per_100_rounds, row.oldest_at) == (25.0, datetime(2026, 5, 1, 8, tzinfo=UTC))


def test_an_overview_stops_reading_when_its_time_is_over_and_says_so(tmp_path: Path) -> None:
    machine = put(tmp_path, session("old", DENIAL, day=1), session("new", QUIET, day=2))
    clock = ManualClock()
    found = app.overview(machine, budget_s=5, clock=clock, on_progress=lambda _done, _total: clock.advance(6))
    assert (found.sessions, found.read, found.stepins) == (2, 1, 0)


def test_an_overview_leaves_out_what_is_too_large_and_says_so(tmp_path: Path) -> None:
    machine = put(tmp_path, session("large", DENIAL, day=2), session("small", QUIET, day=1))
    largest = (tmp_path / "small.echo").stat().st_size
    found = app.overview(machine, largest_bytes=largest)
    assert (found.sessions, found.read, found.stepins) == (2, 1, 0)


def test_an_overview_without_a_bound_reads_all(tmp_path: Path) -> None:
    machine = put(tmp_path, session("old", DENIAL, day=1), session("new", QUIET, day=2))
    clock = ManualClock()
    found = app.overview(machine, budget_s=None, clock=clock, on_progress=lambda _done, _total: clock.advance(6))
    assert found.read == 2


def test_an_overview_counts_what_moments_counts_sub_agents_that_ask_people_included() -> None:
    machine = app.open_machine({"handrail": SAMPLE_HOME / ".local/state/handrail/sessions"}, only_given=True)
    found, counted = app.overview(machine, budget_s=None), app.moments(machine).summary
    assert (found.rounds, found.stepins) == (counted.rounds, counted.stepins)
    assert (found.sessions, found.read, found.harnesses[0].subagents, counted.sessions) == (3, 3, 2, 5)


def test_a_moment_says_when_where_what_was_said_and_how_it_went_on(tmp_path: Path) -> None:
    (row,) = app.moments(put(tmp_path, session("alpha-long-id", DENIAL))).moments
    assert (row.trigger, row.short_id, row.message, row.project) == ("denial", "alpha-lo", 3, "shop")
    assert row.text == "keep the table, archive it"
    assert "delete the old table" in row.context
    assert "archiving instead" in row.aftermath
    assert row.at == START.replace(minute=2)


def test_moments_come_with_stepins_per_100_rounds_by_trigger_and_project(tmp_path: Path) -> None:
    machine = put(tmp_path, session("a", DENIAL, cwd="/srv/shop"), session("b", QUIET, cwd="/srv/bank"))
    summary = app.moments(machine).summary
    assert (summary.sessions, summary.rounds, summary.stepins, summary.per_100_rounds) == (2, 4, 1, 25.0)
    assert summary.by_trigger == {"denial": 1}
    assert [(item.project, item.stepins, item.rounds) for item in summary.by_project] == [
        ("shop", 1, 3),
        ("bank", 0, 1),
    ]


def test_candidates_show_only_when_they_are_asked_for(tmp_path: Path) -> None:
    body = talk([person("count the files")], [model("Seven.")], [person("now sort them")], [model("Sorted.")])
    machine = put(tmp_path, session("a", body))
    assert app.moments(machine).moments == ()
    (row,) = app.moments(machine, MomentFilter(candidates=True)).moments
    assert (row.trigger, row.is_stepin) == ("followup", False)


@pytest.mark.parametrize(("since", "expected"), [(START, 1), (START.replace(hour=9), 0)])
def test_since_holds_for_the_moment_itself(tmp_path: Path, since: datetime, expected: int) -> None:
    machine = put(tmp_path, session("a", DENIAL))
    assert app.moments(machine, MomentFilter(since=since)).total == expected


def test_moments_of_named_sessions_only(tmp_path: Path) -> None:
    machine = put(tmp_path, session("a", DENIAL), session("b", DENIAL))
    found = app.moments(machine, references=("b",))
    assert [row.session for row in found.moments] == ["b"]


@pytest.mark.parametrize(("typed", "stepins", "rounds"), [("alpha#1-4", 1, 2), ("alpha#4-6", 0, 2), ("alpha", 1, 3)])
def test_a_range_counts_what_stands_in_it(tmp_path: Path, typed: str, stepins: int, rounds: int) -> None:
    found = app.moments(put(tmp_path, session("alpha-1", DENIAL)), references=(typed,))
    assert (found.summary.stepins, found.summary.rounds) == (stepins, rounds)
    assert {row.short_id for row in found.moments} <= {"alpha"}


def test_a_session_that_cannot_be_read_is_reported_and_the_others_are_not_lost(tmp_path: Path) -> None:
    machine = put(tmp_path, session("a", DENIAL), session("b", DENIAL))
    refs = list(machine.catalog().sessions)
    (tmp_path / "b.echo").unlink()
    unread: list[Unread] = []
    mined = list(app.iter_mined(machine, refs, {"a": "a", "b": "b"}, unread, total=2))
    assert [item.session for item in mined] == ["a"]
    assert [item.where for item in unread] == [str(tmp_path / "b.echo")]


def test_show_numbers_messages_in_the_whole_session(tmp_path: Path) -> None:
    shown = app.show(put(tmp_path, session("a", DENIAL)), "a#2-3")
    assert ([item.number for item in shown.messages], shown.length) == ([2, 3], 6)


def test_a_crop_reads_back_as_the_messages_it_kept(tmp_path: Path) -> None:
    machine = put(tmp_path, session("a", DENIAL))
    draft = app.crop(machine, "a#1,4-5")
    codec = machine.infos["echo"].codec
    assert codec.to_common(codec.parse(draft.document)).body == (DENIAL[0], *DENIAL[3:5])


def test_a_crop_that_parts_a_call_from_its_result_suggests_the_smallest_range(tmp_path: Path) -> None:
    with pytest.raises(SplitPair) as caught:
        app.crop(put(tmp_path, session("a", DENIAL)), "a#1-2")
    assert caught.value.hint == "the smallest valid range that holds it is #1-3"


def test_a_crop_without_a_range_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmptyCrop, match="names no range"):
        app.crop(put(tmp_path, session("a", DENIAL)), "a")


def test_a_session_without_messages_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(MalformedSession, match="holds no messages"):
        app.convert(put(tmp_path, session("a", ())), "a", "echo")


def test_a_save_is_private_and_never_over_an_existing_file(tmp_path: Path) -> None:
    draft = app.crop(put(tmp_path / "store", session("a", DENIAL)), "a#1")
    out = tmp_path / "new" / "out.jsonl"
    written = app.save(draft, str(out))
    assert (written.files, written.size_bytes, out.read_bytes()) == ((str(out),), len(draft.document), draft.document)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    out.write_bytes(b"mine")
    with pytest.raises(StoreError, match="exists already"):
        app.save(draft, str(out))
    assert out.read_bytes() == b"mine"
    app.save(draft, str(out), force=True)
    assert out.read_bytes() == draft.document


def test_a_session_of_one_file_needs_a_file_name(tmp_path: Path) -> None:
    draft = app.crop(put(tmp_path / "store", session("a", DENIAL)), "a#1")
    with pytest.raises(StoreError, match="is a folder"):
        app.save(draft, str(tmp_path))


def test_several_parts_go_into_a_folder_and_a_file_takes_the_main_one(tmp_path: Path) -> None:
    draft = app.Draft(
        source=app.Source(harness="echo", id="a", locator="a"),
        harness="echo",
        messages=1,
        parts={"a/subagents/agent-1.jsonl": b"side", "a.jsonl": b"main"},
    )
    app.save(draft, f"{tmp_path}/all/")
    assert (tmp_path / "all" / "a.jsonl").read_bytes() == b"main"
    assert (tmp_path / "all" / "a" / "subagents" / "agent-1.jsonl").read_bytes() == b"side"
    written = app.save(draft, str(tmp_path / "one.jsonl"))
    assert (tmp_path / "one.jsonl").read_bytes() == b"main"
    assert written.left_out == ("a/subagents/agent-1.jsonl",)


def test_a_part_name_cannot_leave_the_folder(tmp_path: Path) -> None:
    draft = app.Draft(
        source=app.Source(harness="echo", id="a", locator="a"),
        harness="echo",
        messages=1,
        parts={"../../escape.jsonl": b"x", "b": b""},
    )
    with pytest.raises(HandrailError):
        app.save(draft, f"{tmp_path}/all/")
    assert not (tmp_path / "all").exists()


def test_a_moment_says_how_much_of_it_a_lesson_may_be_drawn_from(tmp_path: Path) -> None:
    spoken = talk([person("tidy up")], [model("Tidied.")], [person("no, keep the table")], [model("Kept.")])
    known = tuple(msgspec.structs.replace(message, taint=Taint()) for message in spoken)
    machine = put(tmp_path, session("unknown", spoken), session("clean", known))
    found = app.moments(machine, MomentFilter(candidates=True)).moments
    assert {(row.session, row.evidence) for row in found} == {("unknown", "user_turns"), ("clean", "full")}
