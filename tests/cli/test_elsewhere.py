"""Runs from elsewhere: sent to, answered, ended, watched, forked and shown by commands that do not drive them."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from handrail.cli.program import run as program
from tests.cli.homes import empty_home

pytest.importorskip("pydantic")

CHOOSES = """
name = "paint"

[[stages]]
name = "choose"
instructions = "Choose."
limits = { max_rounds = 5 }

[[stages.points]]
name = "colour"
prompt = "Which colour?"
style = "multiple_choice"
options = ["Red", "Blue - or so", "None at all"]
abort_options = ["None at all"]
comments = ["Blue - or so"]

[[stages.points]]
name = "words"
prompt = "Anything else?"
style = "free_text"
required = false
"""

Handrail = Callable[..., tuple[int, str, str]]
"""Runs a command here: its exit code, what it printed, what it said beside."""


@pytest.fixture
def handrail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Handrail:
    home = empty_home(tmp_path / "home") | {"HANDRAIL_CONFIG_DIR": str(tmp_path / "config"), "TZ": "UTC"}
    work = tmp_path / "shop"
    work.mkdir()
    (work / "paint.toml").write_text(CHOOSES)
    (work / "script.json").write_text(json.dumps(["I would take red.", "Painted.", "And more."]))
    monkeypatch.chdir(work)
    for name, value in home.items():
        # Stores look for their roots in the environment of the process.
        monkeypatch.setenv(name, value)

    def call(*arguments: str, **more: str) -> tuple[int, str, str]:
        code = program(arguments, {**os.environ, **home, **more})
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def session(handrail: Handrail) -> str:
    """A run that waits at its first point, driven by nobody."""
    code, out, err = handrail("run", "paint", "--blueprint", "paint.toml", "--model", "scripted:script.json")
    assert (code, out) == (7, "")
    return err.split("session ")[1].split()[0]


def _json(told: tuple[int, str, str]) -> Any:
    return json.loads(told[1])


def _ask(handrail: Handrail) -> str:
    (found,) = _json(handrail("asks", "--json"))["asks"]
    ask: str = found["ask"]["ask"]
    return ask


def test_a_run_without_a_terminal_waits_and_says_how_to_answer(handrail: Handrail) -> None:
    code, out, err = handrail("run", "paint", "--blueprint", "paint.toml", "--model", "scripted:script.json")
    assert (code, out) == (7, "")
    assert "? Which colour?  (1 red, 2 blue, 3 none-at-all)" in err
    assert f"handrail answer {_ask(handrail)}" in err
    assert "it goes on with `handrail resume " in err


def test_json_lines_of_a_run_that_waits_end_with_what_it_waits_for(handrail: Handrail) -> None:
    told = handrail("run", "paint", "--blueprint", "paint.toml", "--model", "scripted:script.json", "--json")
    last = json.loads(told[1].splitlines()[-1])
    assert (told[0], last["end_reason"], last["waits_for"]) == (7, "waiting", [_ask(handrail)])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["maybe"], "'maybe' is no option"),
        (["4"], "'4' is no option"),
        (["blue"], "needs a comment"),
        (["red", "--skip"], "several answers were given"),
        ([], "no answer was given: one of 1 red, 2 blue, 3 none-at-all"),
        (["--skip"], "the question needs an answer"),
        (["--file", "paint.toml"], "nothing to edit"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays_open(
    handrail: Handrail, session: str, arguments: Sequence[str], told: str
) -> None:
    code, out, err = handrail("answer", _ask(handrail), *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert _json(handrail("asks", session, "--json"))["asks"][0]["status"] == "open"


@pytest.mark.parametrize("answer", ["1", "red", "Red", "re"])
def test_an_option_is_its_number_its_word_its_label_or_the_start_of_one(
    handrail: Handrail, session: str, answer: str
) -> None:
    assert handrail("answer", _ask(handrail), answer)[:2] == (0, "answered\n")
    (row,) = _json(handrail("asks", "--all", "--json"))["asks"]
    assert row["ask"]["closed"]["choice"] == "Red"


def test_the_first_answer_counts_and_the_second_is_told_whose_it_was(handrail: Handrail, session: str) -> None:
    ask = _ask(handrail)
    assert handrail("answer", ask, "red")[0] == 0
    code, _, err = handrail("answer", ask, "blue", "--comment", "the sea")
    assert (code, "the question was closed already, by" in err) == (1, True)
    assert handrail("answer", ask, "--edit", EDITOR="/nonexistent")[0] == 1
    assert handrail("answer", ask, "red")[0] == 0


def test_a_question_that_is_not_there_is_not_found(handrail: Handrail, session: str) -> None:
    assert handrail("answer", "nonesuch", "1")[0] == 5
    assert handrail("asks", "nonesuch")[0] == 5
    assert handrail("watch", "nonesuch")[0] == 5
    assert handrail("steer", "nonesuch", "hello")[0] == 5
    assert handrail("context", "nonesuch")[0] == 5


def test_answers_carry_a_run_through_its_points_to_its_end(handrail: Handrail, session: str) -> None:
    assert handrail("answer", _ask(handrail), "2", "--comment", "like the sea", "--go-on")[0] == 7
    assert handrail("answer", _ask(handrail), "two coats", "--go-on")[0] == 0
    shown = handrail("show", session)[1]
    assert "like the sea" in shown
    assert "two coats" in shown
    assert _json(handrail("asks", "--json"))["asks"] == []


def test_a_run_goes_on_with_the_model_and_the_folder_it_began_with(
    handrail: Handrail, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handrail("answer", _ask(handrail), "red")
    monkeypatch.chdir(tmp_path)
    assert handrail("resume", session)[0] == 7
    (row,) = _json(handrail("ps", "--json"))["runs"]
    assert (row["run"]["stage"], row["run"]["cwd"]) == ("choose", str(tmp_path / "shop"))


def test_a_run_that_nobody_drives_is_cancelled_at_once(handrail: Handrail, session: str) -> None:
    assert handrail("cancel", session, "not today")[0] == 0
    assert _json(handrail("ps", "--json"))["runs"] == []
    (row,) = _json(handrail("ps", "--all", "--json"))["runs"]
    assert (row["run"]["reason"], row["run"]["detail"]) == ("cancelled", "not today")
    assert _json(handrail("asks", "--json"))["asks"] == []
    assert handrail("steer", session, "hello")[0] == 1
    assert handrail("resume", session)[0] == 1


def test_words_to_a_run_answer_nothing_and_end_as_delivered_or_returned(handrail: Handrail, session: str) -> None:
    code, out, err = handrail("steer", session, "use water colours")
    assert (code, out) == (0, "queued: it goes to the model with its next request\n")
    assert "nobody drives the run" in err
    assert handrail("steer", session, " ")[0] == 2
    assert _json(handrail("asks", "--json"))["asks"][0]["status"] == "open"
    assert handrail("answer", _ask(handrail), "red", "--go-on")[0] == 7
    code, _, err = handrail("answer", _ask(handrail), "--skip", "--go-on")
    assert code == 0
    assert "not delivered, the run ended" in err
    assert "use water colours" in err


def test_a_paused_run_keeps_an_answer_until_it_is_resumed(handrail: Handrail, session: str) -> None:
    assert handrail("pause", session)[0] == 0
    assert handrail("answer", _ask(handrail), "red", "--go-on")[0] == 7
    (row,) = _json(handrail("ps", "--json"))["runs"]
    assert row["status"] == "paused"
    assert handrail("resume", session)[0] == 7
    assert _json(handrail("asks", "--full", "--json"))["asks"][0]["ask"]["opened"]["prompt"] == "Anything else?"


def test_what_is_there_of_a_run_is_shown_at_once(handrail: Handrail, session: str) -> None:
    code, out, _ = handrail("watch", session[:13], "--once")
    assert code == 7
    assert out.splitlines()[0].startswith(f"session {session} paint")
    assert "── choose ──" in out
    assert f"? Which colour?  (handrail answer {_ask(handrail)})" in out
    lines = [json.loads(line) for line in handrail("watch", session, "--once", "--json")[1].splitlines()]
    assert [lines[0]["event"], lines[1]["event"], lines[-1]["event"]] == ["run", "happened", "end"]


def test_a_run_that_is_over_is_watched_to_its_end(handrail: Handrail, session: str) -> None:
    handrail("cancel", session)
    code, out, _ = handrail("watch", session)
    assert (code, out.splitlines()[-1]) == (130, "cancelled")


def test_a_fork_begins_like_the_run_and_goes_on_by_itself(handrail: Handrail, session: str) -> None:
    code, out, _ = handrail("fork", session, "--at", "2")
    assert code == 0
    made = out.strip()
    assert made != session
    assert handrail("run", "and now?", "--session", made, "--model", "scripted:script.json")[:2] == (0, "Painted.\n")
    assert handrail("fork", session, "--at", "99")[0] == 1
    assert _json(handrail("ps", "--json"))["runs"][0]["run"]["session"] == session


def test_the_context_of_a_run_is_told_by_region(handrail: Handrail, session: str) -> None:
    found = _json(handrail("context", session, "--json"))
    assert (found["blueprint"], found["report"]["stage"]) == ("paint", "choose")
    assert [region["name"] for region in found["report"]["regions"]] == ["conversation"]


def test_an_open_run_is_begun_anew_by_a_changed_blueprint_and_by_no_accident(handrail: Handrail, session: str) -> None:
    Path("paint.toml").write_text(CHOOSES.replace("Which colour?", "What colour?"))
    code, _, err = handrail("run", "--session", session, "--blueprint", "paint.toml")
    assert code == 2
    assert '+prompt = "What colour?"' in err
    code, _, err = handrail("run", "--session", session, "--blueprint", "paint.toml", "--anew")
    assert (code, "? What colour?" in err) == (7, True)
    assert [row["run"]["reason"] for row in _json(handrail("ps", "--status", "ended", "--json"))["runs"]] == [
        "cancelled"
    ]


def test_another_database_is_another_place(handrail: Handrail, session: str, tmp_path: Path) -> None:
    elsewhere = f"sqlite:{tmp_path / 'other.sqlite'}"
    assert _json(handrail("ps", "--database", elsewhere, "--json"))["runs"] == []
    assert _json(handrail("ps", "--json", HANDRAIL_DATABASE=elsewhere))["runs"] == []
    assert handrail("ps", "--database", "mysql://x")[0] == 2


def test_a_database_of_a_later_release_is_left_alone(handrail: Handrail, session: str, tmp_path: Path) -> None:
    path = tmp_path / "home" / ".handrail" / "sessions" / "journal.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE schema_version SET version = 99")
    connection.close()
    code, _, err = handrail("asks")
    assert (code, "a later release" in err) == (4, True)
    assert "a later release" in handrail()[2]


def test_nothing_is_created_where_nothing_ran(handrail: Handrail, tmp_path: Path) -> None:
    assert handrail("ps")[:2] == (0, "No runs.\n")
    assert handrail("asks")[:2] == (0, "Nothing waits for an answer.\n")
    assert not (tmp_path / "home").exists()
