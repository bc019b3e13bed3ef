"""What stands around a follow-up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from handrail.learning.pushback_turn import turn_at
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import Author, Common, Message, Text, Via
from tests.learning.build import agent, bash, result, stop, user

START = datetime(2026, 5, 4, 10, tzinfo=UTC)


def timed(*messages: Message, step_s: int = 10) -> Common:
    """The messages, ``step_s`` seconds apart."""
    return tuple(
        msgspec.structs.replace(message, timestamp=START + timedelta(seconds=index * step_s))
        for index, message in enumerate(messages)
    )


def test_a_turn_sees_its_own_stretch_and_no_further() -> None:
    line = timed(
        user("build it"),
        agent("first words", bash("c1")),
        user(result("c1", is_error=True)),
        agent("second words"),
        user("that is wrong"),
        agent("let me look", bash("c2", "git revert HEAD")),
        user(result("c2")),
        agent("reverted"),
        user("good"),
        agent("fine", bash("c3")),
    )
    turn = turn_at(line, 4, "that is wrong")
    assert (turn.previous, turn.said, turn.answer) == ("build it", "second words", "let me look")
    assert [call_name(call) for call in (*turn.calls, *turn.next_calls)] == ["Bash", "Bash"]
    assert (turn.errors, turn.is_second, turn.is_stopped_next) == (1, True, False)
    assert turn.worked_s == 30


def test_results_and_notes_are_not_the_person_speaking() -> None:
    note = Text("context follows", Author.HARNESS)
    line = timed(user("one"), agent("x"), user("two"), agent("y"), user(note), agent("z"), user("three"))
    turn = turn_at(line, 6, "three")
    assert (turn.previous, turn.said, turn.is_second) == ("two", "z", False)


def test_an_answer_to_the_agents_question_is_no_turn_of_its_own() -> None:
    answer = Text("blue", Author.PERSON, via=Via.ANSWER)
    line = timed(user("one"), agent("which?", bash("c1")), user(result("c1"), answer), agent("ok"), user("two"))
    assert turn_at(line, 4, "two").previous == "one"


def test_a_turn_in_pieces_is_answered_after_the_last_piece() -> None:
    line = timed(user("one"), agent("x"), user("first half"), user("second half"), agent("answer"))
    turn = turn_at(line, 2, "first half\n\nsecond half")
    assert (turn.said, turn.answer) == ("x", "answer")


def test_being_stopped_next_is_seen() -> None:
    line = timed(user("one"), agent("x"), user("two"), agent("y", stop()), user("three"))
    assert turn_at(line, 2, "two").is_stopped_next


def test_unknown_and_backward_times_are_none() -> None:
    line = (user("one"), agent("x"), user("two"))
    assert turn_at(line, 2, "two").worked_s is None
    backward = timed(user("one"), agent("x"), user("two"), step_s=-10)
    assert turn_at(backward, 2, "two").worked_s is None


def test_a_turn_at_the_very_edges_has_empty_surroundings() -> None:
    turn = turn_at((user("alone"),), 0, "alone")
    assert (turn.previous, turn.said, turn.answer, turn.calls, turn.next_calls) == ("", "", "", [], [])
