"""What a person types while a run goes on: keys to lines, lines to values, and the one line that is redrawn."""

from __future__ import annotations

import io

import pytest

from handrail.agents.approval import ApprovalRequest
from handrail.agents.tool import Question
from handrail.cli.keyboard import PASTES_MARKED, PASTES_PLAIN, LineEditor
from handrail.cli.live import Screen
from handrail.cli.surface import Surface
from handrail.cli.typed import (
    Answered,
    CancelRun,
    Edited,
    Interrupt,
    Later,
    No,
    Steer,
    StopRun,
    Unclear,
    Yes,
    parse_answer,
    parse_command,
    parse_reply,
)
from handrail.cli.views.run import RunLines, render_asked, render_question
from handrail.journal.events import Event, ModelReplied, ToolFinished
from handrail.journal.vocabulary import DRIVER
from handrail.transcripts.model import Author, Message, Raw, Text, ToolUse


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("use the other file", Steer("use the other file")),
        ("yes", Steer("yes")),
        ("/steer y", Steer("y")),
        ("/later then test it", Later("then test it")),
        ("/interrupt", Interrupt("")),
        ("/interrupt do this", Interrupt("do this")),
        ("/stop", StopRun(None)),
        ("/stop it is late", StopRun("it is late")),
        ("/cancel", CancelRun(None)),
    ],
)
def test_a_line_is_a_command(line: str, meant: object) -> None:
    assert parse_command(f"  {line} ") == meant


@pytest.mark.parametrize("line", ["", "  ", "/", "/later", "/steer", "/nonesuch x", "/help"])
def test_what_is_no_command_sends_nothing_and_says_what_there_is(line: str) -> None:
    assert isinstance(parse_command(line), Unclear)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y", Yes()),
        ("YES", Yes()),
        ("a", Yes(holds=True)),
        ("n", No(None)),
        ("no not that file", No("not that file")),
        ('e {"a": 1}', Edited({"a": 1})),
        ("/steer look first", Steer("look first")),
        ("/stop", StopRun(None)),
    ],
)
def test_a_line_answers_whether_a_call_may_run(line: str, meant: object) -> None:
    assert parse_reply(line) == meant


def test_a_yes_can_be_made_to_hold_for_what_was_offered_and_for_nothing_else() -> None:
    assert parse_reply("a 2", 3) == Yes(holds=True, offer=2)
    assert [isinstance(parse_reply(line, 3), Unclear) for line in ("a 0", "a 4", "a -1", "a two", "a ２")] == [True] * 5
    assert isinstance(parse_reply("a 1"), Unclear)


@pytest.mark.parametrize("line", ["", "yep", "y but carefully", "not that", "a lot", "e {", "e", "nope"])
def test_words_that_are_no_clear_answer_neither_allow_nor_deny(line: str) -> None:
    assert isinstance(parse_reply(line), Unclear)


def test_a_question_is_answered_by_label_number_or_words() -> None:
    options = ("red", "2")
    assert parse_answer("red", options, may_type=False) == Answered(choice="red")
    assert parse_answer("1", options, may_type=False) == Answered(choice="red")
    assert parse_answer("2", options, may_type=False) == Answered(choice="2")
    assert parse_answer("blue", options, may_type=True) == Answered(text="blue")
    assert parse_answer("/no why", options, may_type=False) == No("why")
    for line in ("blue", "3", "0", ""):
        assert isinstance(parse_answer(line, options, may_type=False), Unclear)


def test_keys_become_lines_whatever_pieces_they_come_in() -> None:
    data = "für\rzwei\n".encode()
    for size in range(1, len(data) + 1):
        editor = LineEditor()
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        assert [line for piece in pieces for line in editor.feed(piece)] == ["für", "zwei"]


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ("abc\x7f\x08", "a"),
        ("\x7f", ""),
        ("one two\x17", "one"),
        ("one two\x15", ""),
        ("a\x1b[Ab\x1b[3~c\x1bOPd", "abcd"),
        ("a\tb\x00", "ab"),
    ],
)
def test_keys_that_edit(keys: str, left: str) -> None:
    editor = LineEditor()
    assert editor.feed(keys.encode()) == []
    assert editor.typed == left


def test_what_is_pasted_is_one_line_until_enter() -> None:
    editor = LineEditor()
    assert editor.feed(b"see: \x1b[200~one\r\x1b[201~two") == []
    assert editor.feed(b"\r") == ["see: one\ntwo"]


def test_the_end_of_input_counts_on_an_empty_line_only() -> None:
    editor = LineEditor()
    editor.feed(b"a\x04")
    assert not editor.is_over
    editor.feed(b"\x15\x04")
    assert editor.is_over


def test_what_is_typed_stays_below_what_is_shown() -> None:
    stream = io.BytesIO()
    screen = Screen(stream)
    screen.type("half a li")
    screen.show(["something happened"])
    screen.close()
    assert stream.getvalue().decode().split("\r\x1b[K") == [
        PASTES_MARKED,
        "› half a li",
        "something happened\n› half a li",
        PASTES_PLAIN,
    ]


def test_what_is_typed_cannot_move_the_cursor() -> None:
    stream = io.BytesIO()
    Screen(stream).type("a\x1b[2Jb")
    assert b"\x1b[2J" not in stream.getvalue()


def test_a_dumb_terminal_gets_lines_and_nothing_else() -> None:
    stream = io.BytesIO()
    screen = Screen(stream, is_live=False)
    screen.state("working")
    screen.type("abc")
    screen.show(["one", "two"])
    screen.close()
    assert stream.getvalue() == b"one\ntwo\n"


def test_what_a_model_says_cannot_move_the_cursor() -> None:
    surface = Surface({"NO_COLOR": "1"})
    hostile = "\x1b[2Jgone\r\u202e"
    call = ToolUse("c1", Raw(hostile, {hostile: hostile}))
    reply = ModelReplied(message=Message(role="assistant", content=(Text(hostile, Author.MODEL), call)))
    result = ToolFinished(call="c1", content=hostile, is_error=True)
    request = ApprovalRequest(id="a", call_id="c1", tool=hostile, input={hostile: hostile}, digest="", why=hostile)
    lines = RunLines(surface)
    shown = [
        *(line for body in (reply, result) for line in lines.render(Event(seq=1, by=DRIVER, body=body))),
        *render_asked(request),
        *render_question(Question(prompt=hostile, options=(hostile,), shown=hostile)),
    ]
    assert len(shown) == 8
    assert not any(char in line for line in shown for char in "\x1b\r\n\u202e")


def test_row_159_what_is_to_be_reviewed_is_shown_before_it_is_asked_about() -> None:
    lines = render_question(Question(prompt="Fine?", options=("Acknowledge",), shown="# Plan\n1. go"))
    assert ["  | # Plan", "  | 1. go", "? Fine?", "    1 Acknowledge"] == lines
