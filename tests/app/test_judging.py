"""A judge that is a command of its own, stood in for by small programs."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from handrail import app
from handrail.agents.guard import GUARD
from handrail.app import MomentFilter
from handrail.app.judging import command_judge
from handrail.errors import JudgeFailed
from handrail.learning.pushback_judge import case_of
from handrail.learning.pushback_turn import Turn
from tests.app.desk import model, person, put, session, talk

CASE = case_of(Turn("but that is wrong"))
PUSHED = talk([person("add the total")], [model("Done.")], [person("but the total is wrong")], [model("Sorry.")])


def program(code: str) -> str:
    """A command line that runs ``code``; ``case`` is what it was given."""
    return shlex.join([sys.executable, "-c", f"import json, sys; case = json.load(sys.stdin); {code}"])


@pytest.mark.parametrize("answer", [True, False])
def test_a_command_answers_with_one_bit(answer: bool) -> None:
    assert command_judge(program(f"print(json.dumps({{'stepin': {answer}, 'more': 1}}))"))(CASE) is answer


def test_a_command_is_shown_the_case(tmp_path: Path) -> None:
    shown = tmp_path / "shown.json"
    command_judge(program(f"open({str(shown)!r}, 'w').write(json.dumps(case))"))(CASE)
    assert json.loads(shown.read_text())["turn"] == "but that is wrong"


def test_a_judge_sets_off_no_hooks() -> None:
    # K.1: a headless judge that is an agent itself would fire the hooks of its parent again.
    assert command_judge(program(f"import os; print(json.dumps({{'stepin': {GUARD!r} in os.environ}}))"))(CASE) is True


@pytest.mark.parametrize(
    "code",
    ["pass", "print('yes')", "print('[]')", "print(json.dumps({'stepin': 'yes'}))", "print('{}')", "sys.exit(3)"],
    ids=["silence", "prose", "a list", "a word", "nothing said", "a failure"],
)
def test_anything_but_a_boolean_is_no_answer(code: str) -> None:
    assert command_judge(program(code))(CASE) is None


def test_a_judge_that_takes_too_long_gives_no_answer() -> None:
    assert command_judge(program("import threading; threading.Event().wait()"), timeout_s=0.2)(CASE) is None


@pytest.mark.parametrize("command", ["", "'unclosed", "/no/such/judge --fast"])
def test_a_judge_that_cannot_be_started_is_an_error(command: str) -> None:
    with pytest.raises(JudgeFailed):
        command_judge(command)(CASE)


@pytest.mark.parametrize("answer", [True, False])
def test_moments_are_told_by_the_judge_where_one_is_given(tmp_path: Path, answer: bool) -> None:
    machine = put(tmp_path, session("a", PUSHED))
    judged = app.with_judge(machine, program(f"print(json.dumps({{'stepin': {answer}}}))"))
    (row,) = app.moments(judged, MomentFilter(candidates=True)).moments
    assert row.is_stepin is answer
