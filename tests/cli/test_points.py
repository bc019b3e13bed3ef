"""What a line says to a durable question: pure, so every way to say it is tried."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.blueprints.labels import AnswerRefused
from handrail.cli.points import OpenEditor, parse_answer, render_opened
from handrail.cli.typed import CancelRun, Leave, Steer, Unclear
from handrail.journal.events import AskOpened
from handrail.journal.vocabulary import AskKind, AskOutcome
from handrail.runs.asks.replies import Reply, answer_to

POINT = AskOpened(
    ask="a1",
    kind=AskKind.POINT,
    prompt="Approve the plan?",
    options=("Approve", "Revise - I'll describe changes", "Edit", "Abort"),
    effects={"Approve": "approve", "Revise - I'll describe changes": "revise", "Edit": "edit", "Abort": "abort"},
    shown="one\n\x1b[2Jtwo",
    digest="d",
    stage="plan",
)
WORDS = AskOpened(ask="a2", kind=AskKind.POINT, prompt="What else?", is_required=False, may_type=True)
CONFIRM = AskOpened(ask="a3", kind=AskKind.POINT, prompt="Go?", options=("Yes", "No"), digest="d")
DOCUMENT = AskOpened(ask="a4", kind=AskKind.EDIT, prompt="Change it.", shown="text")


@pytest.mark.parametrize(
    ("line", "opened", "said"),
    [
        ("1", POINT, Reply(number=1, digest="d")),
        ("Approve", POINT, Reply(number=1, digest="d")),
        ("  abort ", POINT, Reply(number=4, digest="d")),
        ("2 smaller steps", POINT, Reply(number=2, comment="smaller steps", digest="d")),
        ("revise: smaller steps", POINT, Reply(number=2, comment="smaller steps", digest="d")),
        ("Revise – I'll describe changes", POINT, Reply(number=2, digest="d")),
        ("3", POINT, OpenEditor()),
        ("edit because", POINT, OpenEditor("because")),
        ("/edit", POINT, OpenEditor()),
        ("/edit", DOCUMENT, OpenEditor()),
        ("/skip", WORDS, Reply()),
        ("two coats", WORDS, Reply(words="two coats")),
        ("yes", CONFIRM, Reply(number=1, digest="d")),
        ("/steer look again", POINT, Steer("look again")),
        ("/cancel", POINT, CancelRun(None)),
        ("/leave", POINT, Leave()),
    ],
)
def test_a_line_is_an_option_with_a_comment_words_or_a_command(line: str, opened: AskOpened, said: Any) -> None:
    assert parse_answer(line, opened) == said


@pytest.mark.parametrize(
    ("line", "opened"),
    [
        ("", POINT),
        ("maybe", POINT),
        ("y", CONFIRM),
        ("ye", CONFIRM),
        ("/skip", POINT),
        ("/edit", WORDS),
        ("x", DOCUMENT),
    ],
)
def test_a_line_that_is_no_answer_is_none(line: str, opened: AskOpened) -> None:
    assert isinstance(parse_answer(line, opened), Unclear)


def test_a_document_moves_no_cursor_and_every_option_stands_below_it() -> None:
    lines = render_opened(POINT)
    assert not any("\x1b" in line for line in lines)
    assert lines[:2] == ["  | one", "  |  [2Jtwo"]
    assert [line.split()[0] for line in lines if line.startswith("    ")] == ["1", "2", "3", "4", "/edit"]


@given(st.text(), st.sampled_from([POINT, WORDS, CONFIRM, DOCUMENT]))
def test_no_line_approves_that_does_not_name_the_approval(line: str, opened: AskOpened) -> None:
    said = parse_answer(line, opened)
    if not isinstance(said, Reply):
        return
    try:
        closed = answer_to(opened, said)
    except AnswerRefused:
        return
    assert closed.outcome is AskOutcome.ANSWERED
    if closed.choice in ("Approve", "Yes"):
        first = line.strip().casefold().split()[0].rstrip(":,")
        assert first == "1" or closed.choice.casefold().startswith(first)
