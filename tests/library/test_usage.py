"""Each turn and each response counts once, wherever it stands."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handrail.library import usage
from handrail.library.usage import Entry, IdTable, Lines, Tokens, count_session
from handrail.transcripts.model import Author, Bash, Message, Read, Text, ToolUse, Usage

AT = datetime(2026, 5, 4, 8, tzinfo=UTC)
NOBODY: frozenset[str] = frozenset()


def turn(uid: str, origin: str | None = None) -> Message:
    return Message(role="user", content=(Text("go on", Author.PERSON),), uid=uid, timestamp=AT, origin=origin)


def response(uid: str, output: int = 10, origin: str | None = None) -> Message:
    tokens = Usage(input_tokens=100, output_tokens=output, cache_read_input_tokens=80, reasoning_tokens=4)
    return Message(
        role="assistant",
        content=(ToolUse(f"call-{uid}", Bash("ls")),),
        uid=uid,
        timestamp=AT,
        model="m-1",
        usage=tokens,
        origin=origin,
    )


def total(*entries: Entry) -> tuple[int, int, int]:
    """Turns, rounds and tokens put out."""
    spent = [entry.tokens.output for entry in entries if entry.tokens is not None]
    return sum(entry.turns for entry in entries), sum(entry.rounds for entry in entries), sum(spent)


def test_a_session_adds_its_turns_rounds_tools_and_tokens() -> None:
    (asked, answered), copies = count_session(Lines("h", [[turn("u1"), response("a1")]]), IdTable(), NOBODY)
    assert asked == Entry(at=AT, model="m-1", turns=1)
    spent = Tokens(input=100, cache_read=80, output=10, reasoning=4)
    assert answered == Entry(at=AT, model="m-1", rounds=1, tools=("Bash",), tokens=spent)
    assert copies == 0


def test_what_was_read_from_the_cache_is_taken_out_of_input_that_holds_it() -> None:
    lines = Lines("h", [[response("a1")]], input_holds_cache=True)
    (entry,), _ = count_session(lines, IdTable(), NOBODY)
    assert entry.tokens == Tokens(input=20, cache_read=80, output=10, reasoning=4)


def test_one_response_in_several_messages_counts_once_with_its_fullest_count_and_all_its_calls() -> None:
    ids = {"a1": "msg_1", "a2": "msg_1"}
    second = replace(response("a2", output=384), content=(ToolUse("call-x", Read("a.py")),))
    lines = Lines("h", [[response("a1", output=3), second, response("a1", output=3)]], ids)
    (entry,), _ = count_session(lines, IdTable(), NOBODY)
    assert (entry.rounds, entry.tools, entry.tokens and entry.tokens.output) == (1, ("Bash", "Read"), 384)


def test_a_response_in_two_files_counts_once_even_where_its_record_was_written_anew() -> None:
    seen = IdTable()
    first, _ = count_session(Lines("h", [[response("a1")]], {"a1": "msg_1"}), seen, NOBODY)
    second, copies = count_session(Lines("h", [[response("a9")]], {"a9": "msg_1"}), seen, NOBODY)
    assert (total(*first, *second), copies) == ((0, 1, 10), 1)


def test_the_same_id_in_another_harness_is_another_response() -> None:
    seen = IdTable()
    found = [entry for name in ("h", "g") for entry in count_session(Lines(name, [[response("1")]]), seen, NOBODY)[0]]
    assert total(*found) == (0, 2, 20)


def test_a_copy_of_a_session_that_is_here_is_left_to_it() -> None:
    fork = [turn("x1", origin="parent"), response("x2", origin="parent"), turn("u3"), response("a4", output=7)]
    entries, copies = count_session(Lines("h", [fork]), IdTable(), {"parent"})
    assert (total(*entries), copies) == ((1, 1, 7), 2)


def test_copies_of_a_session_that_is_gone_count_once_though_their_records_differ() -> None:
    seen = IdTable()
    one = [turn("x1", origin="gone"), response("x2", origin="gone"), response("own1")]
    two = [turn("y1", origin="gone"), response("y2", origin="gone"), response("own2")]
    entries = [entry for line in (one, two) for entry in count_session(Lines("h", [line]), seen, NOBODY)[0]]
    assert total(*entries) == (1, 3, 30)


def test_a_response_without_tokens_on_record_is_a_round_all_the_same() -> None:
    (entry,), _ = count_session(Lines("h", [[replace(response("a1"), usage=None)]]), IdTable(), NOBODY)
    assert (entry.rounds, entry.tokens) == (1, None)


def test_words_of_nobody_known_are_no_turn() -> None:
    told = Message(role="user", content=(Text("hook says hi", Author.HARNESS),), uid="u1")
    assert count_session(Lines("h", [[told]]), IdTable(), NOBODY) == ([], 0)


@given(st.lists(st.text(max_size=3), max_size=60))
def test_an_id_is_new_the_first_time_only(ids: list[str]) -> None:
    table = IdTable()
    before: set[str] = set()
    for id in ids:
        assert table.add(id) is (id not in before)
        before.add(id)


def test_ids_are_remembered_past_the_size_at_which_they_are_packed() -> None:
    table = IdTable()
    count = usage._RECENT_IDS * 2 + 10
    assert all(table.add(str(number)) for number in range(count))
    assert not any(table.add(str(number)) for number in range(0, count, 97))
