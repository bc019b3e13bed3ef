"""Following a session that is being written: what is told, when, and that nothing is told twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from handrail import app
from handrail.app import (
    FollowedMessage,
    FollowedMoment,
    FollowedSession,
    FollowEvent,
    FollowNotice,
    FollowOptions,
    Judging,
    Machine,
)
from handrail.errors import MalformedSession, SessionNotFound, StoreError
from handrail.learning.interventions import Intervention, Verdict
from handrail.testing.builders import ClaudeCodeSession
from handrail.testing.builders.claude_code import say
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Common, Text
from tests.app.desk import DENIAL, put, session

START = datetime(2026, 5, 4, 8, tzinfo=UTC)
ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
Step = Callable[[], object]


class Writer:
    """A Claude Code session and its file; what was built since the last ``write`` is appended by it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{ID}.jsonl"
        self.path.touch()
        self.made = ClaudeCodeSession(ID, "/srv/shop", START)
        self._written = 0

    def write(self, count: int | None = None) -> None:
        """Append the next ``count`` rows, or all there are."""
        end = len(self.made.rows) if count is None else self._written + count
        whole = self.made.render().splitlines(keepends=True)
        with self.path.open("ab") as stream:
            stream.write(b"".join(whole[self._written : end]))
        self._written = end


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    made = Writer(tmp_path)
    made.made.prompt("tidy the shop")
    made.made.reply(say("I will drop it."), made.made.call("drop", "Bash", command="drop old"))
    made.write()
    return made


def follow(path: Path, *steps: Step, options: FollowOptions | None = None) -> list[FollowEvent]:
    """What is told at the start and after each of ``steps``, which happen while the follower rests."""
    return list(_until_done(path, iter(steps), options or FollowOptions()))


def _until_done(
    path: Path, steps: Iterator[Step], options: FollowOptions, machine: Machine | None = None
) -> Iterator[FollowEvent]:
    def rest(_seconds: float) -> None:
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    machine = machine or app.open_machine({}, only_given=True)
    try:
        yield from app.follow(machine, str(path), options, sleeper=rest, clock=ManualClock())
    except KeyboardInterrupt:
        return


def texts(events: list[FollowEvent]) -> list[str]:
    return [
        block.text
        for event in events
        if isinstance(event, FollowedMessage)
        for block in event.content
        if isinstance(block, Text)
    ]


def moments(events: list[FollowEvent]) -> list[tuple[str, str]]:
    return [(event.moment.trigger, event.moment.words) for event in events if isinstance(event, FollowedMoment)]


def codes(events: list[FollowEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, FollowNotice)]


def test_it_begins_with_what_is_there(writer: Writer) -> None:
    first, *rest = follow(writer.path)
    assert isinstance(first, FollowedSession)
    assert (first.source.harness, first.messages, first.rounds, first.stepins) == ("claude_code", 2, 1, 0)
    assert texts(rest) == ["tidy the shop", "I will drop it."]


@pytest.mark.parametrize(
    ("last", "shown"), [(0, []), (1, ["I will drop it."]), (9, ["tidy the shop", "I will drop it."])]
)
def test_it_begins_with_as_many_messages_as_were_asked_for(writer: Writer, last: int, shown: list[str]) -> None:
    assert texts(follow(writer.path, options=FollowOptions(last=last))) == shown


def test_a_message_that_grows_is_told_by_what_was_added(writer: Writer) -> None:
    writer.made.deny("drop", "keep it")
    writer.made.reply(say("Kept."), writer.made.call("list", "Bash", command="ls"))
    events = follow(writer.path, lambda: writer.write(2), writer.write, options=FollowOptions(last=0))
    told = [(event.number, event.first_block, event.is_again) for event in events if isinstance(event, FollowedMessage)]
    assert told == [(3, 0, False), (4, 0, False), (4, 1, False)]


def test_a_stepin_is_told_when_it_happens_and_once(writer: Writer) -> None:
    def deny() -> None:
        writer.made.deny("drop", "keep it")
        writer.write()

    def go_on() -> None:
        writer.made.reply(say("Kept."))
        writer.write()

    before = follow(writer.path, deny)
    assert moments(before) == [("denial", "keep it")]
    assert isinstance(before[-1], FollowedMoment)
    assert moments(follow(writer.path, go_on)) == [("denial", "keep it")]


def test_a_refusal_whose_words_come_later_is_told_again_with_them(writer: Writer) -> None:
    def deny() -> None:
        writer.made.deny("drop")
        writer.write()

    def speak() -> None:
        writer.made.prompt("archive it")
        writer.write()

    events = [event for event in follow(writer.path, deny, speak) if isinstance(event, FollowedMoment)]
    assert [(event.moment.words, event.replaces) for event in events] == [
        ("", None),
        ("archive it", events[0].moment.id),
    ]


def test_a_record_that_is_not_whole_is_waited_for(writer: Writer) -> None:
    writer.made.reply(say("One moment."))
    whole = writer.made.render()
    seen = writer.path.read_bytes()
    pieces = whole[len(seen) : -20], whole[-20:]

    def append(data: bytes) -> None:
        with writer.path.open("ab") as stream:
            stream.write(data)

    assert texts(follow(writer.path, lambda: append(pieces[0]), options=FollowOptions(last=0))) == []
    assert texts(follow(writer.path, lambda: append(pieces[1]), options=FollowOptions(last=0))) == ["One moment."]


def test_a_file_cut_short_is_said_and_nothing_is_told_twice(writer: Writer) -> None:
    def cut() -> None:
        lines = writer.path.read_bytes().splitlines(keepends=True)
        writer.path.write_bytes(b"".join(lines[:-1]))

    def go_on() -> None:
        writer.made.reply(say("Again."))
        writer.write()

    events = follow(writer.path, cut, go_on)
    assert codes(events) == ["truncated"]
    assert texts(events) == ["tidy the shop", "I will drop it.", "Again."]


def test_a_file_replaced_by_another_is_told_from_its_beginning(writer: Writer, tmp_path: Path) -> None:
    def replace_file() -> None:
        (tmp_path / "new").mkdir()
        other = Writer(tmp_path / "new")
        other.made = ClaudeCodeSession("7c9e6679-7425-40de-944b-e07fc1f90ae7", "/srv/bank", START)
        other.made.prompt("count the files")
        other.write()
        other.path.replace(writer.path)

    events = follow(writer.path, replace_file)
    assert codes(events) == ["replaced"]
    assert texts(events)[-1] == "count the files"


def test_a_file_that_is_gone_is_said_once_and_waited_for(writer: Writer) -> None:
    aside = writer.path.with_suffix(".aside")

    def come_back() -> None:
        aside.rename(writer.path)
        writer.made.reply(say("Back."))
        writer.write()

    events = follow(writer.path, lambda: writer.path.rename(aside), lambda: None, come_back)
    assert codes(events) == ["missing"]
    assert texts(events)[-1] == "Back."


def test_damage_is_said_when_it_is_met_and_the_rest_is_told(writer: Writer) -> None:
    def damage() -> None:
        with writer.path.open("ab") as stream:
            stream.write(b'{"type":"user","mess\n')

    def go_on() -> None:
        writer.made.reply(say("Unharmed."))
        writer.write()

    events = follow(writer.path, damage, go_on)
    assert codes(events) == ["damaged"]
    assert texts(events)[-1] == "Unharmed."


def test_once_ends_by_itself_and_names_an_unfinished_record(writer: Writer) -> None:
    options = FollowOptions(once=True)
    assert codes(follow(writer.path, options=options)) == []
    with writer.path.open("ab") as stream:
        stream.write(b'{"type":"us')
    assert codes(follow(writer.path, options=options)) == ["unfinished"]


def test_candidates_are_told_only_when_they_are_asked_for(writer: Writer) -> None:
    writer.made.result("drop", "done")
    writer.made.reply(say("Dropped."))
    writer.made.prompt("thanks, now the cellar please")
    writer.write()
    assert moments(follow(writer.path)) == []
    assert [trigger for trigger, _ in moments(follow(writer.path, options=FollowOptions(candidates=True)))] == [
        "followup"
    ]


def test_what_is_told_of_a_session_that_grew_is_what_mining_it_at_once_gives(writer: Writer) -> None:
    def go_on(words: str, answer: str) -> Callable[[], None]:
        def step() -> None:
            writer.made.prompt(words)
            writer.write()
            writer.made.reply(say(answer))
            writer.write()

        return step

    writer.made.result("drop", "done")
    writer.made.reply(say("Dropped."))
    writer.write()
    steps = [go_on("no, that is wrong, put it back", "You are right, I put it back."), go_on("thanks", "Welcome.")]
    events = follow(writer.path, *steps, go_on("and now the cellar", "Swept."), options=FollowOptions(candidates=True))
    told = {event.moment.id: event.moment for event in events if isinstance(event, FollowedMoment)}
    machine = app.open_machine({}, only_given=True)
    wanted = app.MomentFilter(candidates=True)
    mined = app.moments(machine, wanted, references=(str(writer.path),)).moments
    assert list(told) == [row.id for row in mined]
    assert mined[0].words == "no, that is wrong, put it back"


def test_a_followup_is_judged_again_only_while_the_agent_is_still_answering_it(writer: Writer) -> None:
    judged: list[str] = []

    def scorer(moment: Intervention, line: Common, at: int) -> Verdict:
        judged.append(moment.words)
        assert moment.words in str(line[at].content)
        return Verdict()

    def speak(words: str) -> Callable[[], None]:
        def step() -> None:
            writer.made.reply(say("Done."))
            writer.made.prompt(words)
            writer.write()

        return step

    writer.made.result("drop", "done")
    machine = replace(app.open_machine({}, only_given=True), judging=Judging(scorer=scorer))
    list(_until_done(writer.path, iter(map(speak, "abcd")), FollowOptions(), machine))
    assert {words: judged.count(words) for words in "abcd"} == {"a": 2, "b": 2, "c": 2, "d": 1}


def test_an_empty_file_needs_to_be_told_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.touch()
    machine = app.open_machine({}, only_given=True)
    with pytest.raises(StoreError, match="empty so far"):
        next(app.follow(machine, str(path)))
    first = next(app.follow(machine, str(path), harness="codex"))
    assert isinstance(first, FollowedSession)
    assert (first.source.harness, first.messages) == ("codex", 0)


def test_a_long_session_is_looked_at_less_often(writer: Writer) -> None:
    rests: list[float] = []
    clock = ManualClock()

    class Slow(ManualClock):
        def monotonic_s(self) -> float:
            clock.advance(2.0)
            return clock.monotonic_s()

    def rest(seconds: float) -> None:
        rests.append(seconds)
        if len(rests) == 3:
            raise KeyboardInterrupt

    machine = app.open_machine({}, only_given=True)
    with pytest.raises(KeyboardInterrupt):
        list(app.follow(machine, str(writer.path), sleeper=rest, clock=Slow()))
    assert rests == [1.0, 8.0, 8.0]


def test_a_harness_that_cannot_read_on_is_followed_all_the_same(tmp_path: Path) -> None:
    machine = put(tmp_path, session("alpha-1", DENIAL))
    path = tmp_path / "alpha-1.echo"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))

    def rest(_seconds: float) -> None:
        if path.read_bytes() == b"".join(lines):
            raise KeyboardInterrupt
        path.write_bytes(b"".join(lines))

    events: list[FollowEvent] = []
    with pytest.raises(KeyboardInterrupt):
        for event in app.follow(machine, "alpha-1", sleeper=rest):
            events.append(event)
    told = [event.number for event in events if isinstance(event, FollowedMessage)]
    assert (told, moments(events)) == ([1, 2, 3, 4, 5, 6], [("denial", "keep the table, archive it")])


def test_a_range_or_a_name_nobody_answers_to_is_refused(writer: Writer, tmp_path: Path) -> None:
    machine = app.open_machine({"claude_code": tmp_path}, only_given=True)
    with pytest.raises(MalformedSession, match="range"):
        next(app.follow(machine, f"{ID}#2-3"))
    with pytest.raises(SessionNotFound):
        next(app.follow(machine, "nonesuch"))
    with pytest.raises(StoreError, match="folder"):
        next(app.follow(machine, str(tmp_path)))
