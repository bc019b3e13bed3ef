"""The tools that ask a person: what they put, and that their results never claim what nobody said."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.agents.tool import Answer, Question, ToolOutput
from handrail.agents.tools import ASKING, built_in, built_in_names, everyday_names
from handrail.journal.vocabulary import AskKind
from handrail.transcripts.model import Json, Refusal, RefusalKind
from tests.agents.tools.running import called, context, output, run

FITTING: dict[str, dict[str, Json]] = {
    "ask_user_choice": {"options": ["left", "right"], "prompt": "Which?"},
    "ask_user_confirm": {"prompt": "Go?"},
    "ask_user_text": {"prompt": "Why?"},
    "edit_document": {"content": "one\ntwo", "prompt": "Look."},
    "present_for_review": {"markdown": "# Plan", "title": "The plan"},
}
SILENT = (RefusalKind.EXPIRED, RefusalKind.WITHDRAWN, RefusalKind.DENIED, RefusalKind.BLOCKED)


def asked(name: str, answer: Answer, **input: Json) -> tuple[ToolOutput, list[Question]]:
    seen: list[Question] = []

    async def person(question: Question) -> Answer:
        seen.append(question)
        return answer

    return run(called(built_in(name), {**FITTING[name], **input}, context(ask=person))), seen


def test_they_are_called_as_the_blueprints_call_them_and_are_offered_where_they_are_named() -> None:
    assert set(FITTING) == set(ASKING)
    assert [built_in(name).name for name in ASKING] == list(ASKING)
    assert set(built_in_names()) - set(everyday_names()) >= set(ASKING)
    assert "ask" in everyday_names()


@pytest.mark.parametrize("name", ASKING)
def test_row_107_they_may_all_be_open_at_once_and_be_run_again(name: str) -> None:
    assert (True, True) == (built_in(name).is_parallel, built_in(name).is_twice_safe)


# Answers


@pytest.mark.parametrize(
    ("name", "answer", "told"),
    [
        ("ask_user_text", Answer(text="because"), "They answered: because"),
        ("ask_user_choice", Answer(choice="left"), "They chose: left"),
        ("ask_user_choice", Answer(choice="left", comment="slowly"), "They chose: left They added: slowly"),
        ("ask_user_choice", Answer(text="neither"), "They chose none of them and answered: neither"),
        ("ask_user_confirm", Answer(choice="Yes"), "They answered: Yes."),
        ("ask_user_confirm", Answer(choice="No"), "They answered: No."),
        ("edit_document", Answer(text="one\ntwo"), "They left the document as it is."),
        ("present_for_review", Answer(text="too long"), "They reviewed it and said: too long"),
        ("present_for_review", Answer(choice="Acknowledge"), "They acknowledged it, without anything to say."),
    ],
)
def test_rows_97_to_102_an_answer_is_told_as_it_was_given(name: str, answer: Answer, told: str) -> None:
    got, _ = asked(name, answer)
    assert (told, False, None) == (got.content, got.is_error, got.refusal)


def test_row_102_an_edited_text_is_told_whole_and_wins() -> None:
    got, _ = asked("edit_document", Answer(text="one\n2", comment="shorter"))
    assert "They added: shorter" in str(got.content)
    assert str(got.content).endswith("build on it as it stands:\n\none\n2")
    assert {"is_changed": True} == got.details


# No answer


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("kind", SILENT)
def test_rows_100_to_102_where_nobody_answered_the_result_says_so(name: str, kind: RefusalKind) -> None:
    refusal = Refusal(kind, "x", "later")
    got, _ = asked(name, Answer(refusal=refusal))
    assert (True, refusal, ()) == (got.is_error, got.refusal, got.beside)
    told = str(got.content).lower()
    assert not any(claim in told for claim in ("acknowledged", "they answered", "they chose", "as it is.", "yes"))


@pytest.mark.parametrize("name", ASKING)
def test_row_127_the_ways_of_not_answering_are_worded_apart(name: str) -> None:
    told = {str(asked(name, Answer(refusal=Refusal(kind)))[0].content) for kind in SILENT}
    assert len(SILENT) == len(told)


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("answer", [Answer(), Answer(text=" \n")])
def test_row_97_an_empty_answer_is_no_answer(name: str, answer: Answer) -> None:
    got, _ = asked(name, answer)
    assert got.is_error
    assert str(got.content).startswith("They left it open: nobody has ")


@pytest.mark.parametrize("name", ASKING)
def test_row_106_where_there_is_nobody_the_call_says_so_and_does_not_block(name: str) -> None:
    got = output(built_in(name), **FITTING[name])
    assert Refusal(RefusalKind.NOT_RUN, "policy", "there is nobody to ask") == got.refusal
    assert "nobody has" in str(got.content)


# Questions


@pytest.mark.parametrize(
    "input",
    [
        {"options": ["one"]},
        {"options": []},
        {"options": ["a", " "]},
        {"options": ["a", "a"]},
        {"options": ["a b", "a  b"]},
    ],
)
def test_row_98_a_choice_without_two_options_is_an_error_and_nobody_is_asked(input: dict[str, Json]) -> None:
    got, seen = asked("ask_user_choice", Answer(choice="one"), **input)
    assert (True, []) == (got.is_error, seen)


def test_a_review_of_nothing_is_an_error_and_nobody_is_asked() -> None:
    got, seen = asked("present_for_review", Answer(choice="Acknowledge"), markdown=" \n")
    assert (True, []) == (got.is_error, seen)


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("blank", ["", "  "])
def test_row_103_a_missing_prompt_or_title_has_a_default(name: str, blank: str) -> None:
    _, (question,) = asked(
        name, Answer(choice="Yes", text="x"), **{key: blank for key in FITTING[name] if key in ("prompt", "title")}
    )
    assert question.prompt.strip()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ask_user_text", Question(prompt="Why?")),
        ("ask_user_choice", Question(prompt="Which?", options=("left", "right"), may_type=False)),
        ("ask_user_confirm", Question(prompt="Go?", options=("Yes", "No"), may_type=False)),
        ("edit_document", Question(prompt="Look.", kind=AskKind.EDIT, shown="one\ntwo")),
    ],
)
def test_what_is_asked_is_what_the_call_says(name: str, expected: Question) -> None:
    assert [expected] == asked(name, Answer(choice="Yes", text="x"))[1]


def test_row_159_what_is_to_be_reviewed_is_shown_with_the_question() -> None:
    _, (question,) = asked("present_for_review", Answer(choice="Acknowledge"))
    shown: tuple[Any, ...] = (question.kind, question.title, question.shown, question.body_format, question.options)
    assert (AskKind.REVIEW, "The plan", "# Plan", "markdown", ("Acknowledge",)) == shown
