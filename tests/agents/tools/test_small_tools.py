"""Todo and Ask."""

from __future__ import annotations

import pytest

from handrail.agents.tool import Answer, Question, ToolOutput
from handrail.agents.tools import built_in
from handrail.transcripts.model import Author, Decision, Json, Refusal, RefusalKind, Text, Via
from tests.agents.tools.running import called, context, output, run

ASK, TODO = built_in("ask"), built_in("todo")


def _asked(answer: Answer, **input: Json) -> tuple[ToolOutput, list[Question]]:
    seen: list[Question] = []

    async def person(question: Question) -> Answer:
        seen.append(question)
        return answer

    return run(called(ASK, {"question": "Which one?", **input}, context(ask=person))), seen


def test_the_plan_is_shown_as_it_was_given() -> None:
    steps = [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}, {"content": "c"}]
    assert output(TODO, todos=steps).content == "[x] a\n[>] b\n[ ] c"
    assert output(TODO, todos=[]).content == "[no steps]"


def test_every_fault_of_a_plan_is_named() -> None:
    problems = TODO.problems({"todos": [{"content": 1}, {"content": "b", "status": "soon"}, {"text": "c"}]})
    assert [problem.split(":")[0] for problem in problems] == [
        "todos[0].content",
        "todos[1].status",
        "todos[2].content",
        "todos[2].text",
    ]


def test_a_chosen_label_is_a_persons_decision_on_this_call() -> None:
    got, seen = _asked(Answer(choice="left"), options=["left", "right"], may_type=False)
    assert got.content == "They answered: left"
    assert got.beside == (Decision("call_1", Author.PERSON, "left"),)
    assert seen == [Question(prompt="Which one?", options=("left", "right"), may_type=False)]


def test_typed_words_are_a_persons_words() -> None:
    got, _ = _asked(Answer(text="neither"))
    assert got.content == "They answered: neither"
    assert got.beside == (Text("neither", Author.PERSON, via=Via.ANSWER),)


def test_a_label_with_words_keeps_both() -> None:
    got, _ = _asked(Answer(choice="left", text="but slowly"))
    assert [type(block).__name__ for block in got.beside] == ["Decision", "Text"]


@pytest.mark.parametrize("kind", [RefusalKind.EXPIRED, RefusalKind.WITHDRAWN, RefusalKind.DENIED, RefusalKind.BLOCKED])
def test_a_question_without_an_answer_says_why_and_nobody_is_quoted(kind: RefusalKind) -> None:
    refusal = Refusal(kind, "x", "later")
    got, _ = _asked(Answer(refusal=refusal))
    assert (got.is_error, got.refusal, got.beside) == (True, refusal, ())


def test_the_ways_of_not_answering_are_worded_apart() -> None:
    kinds = [RefusalKind.EXPIRED, RefusalKind.WITHDRAWN, RefusalKind.DENIED, RefusalKind.BLOCKED]
    assert len({str(_asked(Answer(refusal=Refusal(kind)))[0].content) for kind in kinds}) == 4


def test_where_there_is_nobody_the_call_is_not_run() -> None:
    got = output(ASK, question="Which one?")
    assert got.refusal == Refusal(RefusalKind.NOT_RUN, "policy", "there is nobody to ask")


@pytest.mark.parametrize("input", [{"question": " "}, {"may_type": False}, {"options": [], "may_type": False}])
def test_a_question_that_cannot_be_answered_is_not_put(input: dict[str, Json]) -> None:
    got, seen = _asked(Answer(text="x"), **input)
    assert (got.is_error, seen) == (True, [])
