"""The story of a newcomer: a plan put up for approval, the process killed, the answer given from another terminal.

Real processes, a scripted model, and nothing waited for but what can be seen.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.homes import empty_home
from tests.cli.shell import Ended, handrail
from tests.cli.terminal import Terminal

pytest.importorskip("pydantic")

PLAN = "# The plan\n1. write a.txt"
WRITE = {"call": "Write", "input": {"file_path": "b.txt", "content": "b"}}
PASS = {"call": "Answer", "input": {"verdict": "pass", "summary": "b.txt is there.", "findings": []}}
SCRIPT = [PLAN, WRITE, "b.txt is written.", PASS, "It is done."]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A home whose editor puts b.txt in the place of a.txt."""
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[-1])\n"
        "path.write_text(path.read_text().replace('a.txt', 'b.txt'))\n"
    )
    return empty_home(tmp_path / "home") | {
        "HANDRAIL_CONFIG_DIR": str(tmp_path / "config"),
        "EDITOR": f"{sys.executable} {editor}",
        "PATH": os.environ["PATH"],
    }


def _model(work: Path, script: Sequence[object]) -> tuple[str, str]:
    path = work.parent / "script.json"
    path.write_text(json.dumps(script))
    return "--model", f"scripted:{path}"


def _begin(work: Path, script: Sequence[object]) -> tuple[str, ...]:
    return ("run", "write it down", "--blueprint", "plan-build-verify", *_model(work, script))


def _only_ask(home: dict[str, str]) -> dict[str, object]:
    (ask,) = handrail(home, "asks", "--json").value["asks"]
    found: dict[str, object] = ask["ask"]
    return found


def _decisions(home: dict[str, str], session: str) -> Ended:
    return handrail(home, "moments", session, "--json")


def test_a_plan_is_edited_from_another_terminal_after_the_process_was_killed(home: dict[str, str], work: Path) -> None:
    with Terminal(home, work, *_begin(work, SCRIPT)) as terminal:
        terminal.sees("Approve the plan?")
        terminal.sees("4 abort")
        terminal.kill()
    (run,) = handrail(home, "ps", "--json").value["runs"]
    session = run["run"]["session"]
    assert (run["driven"], run["status"], run["run"]["stage"]) == ("nobody", "waiting", "plan")
    assert "1 question waits for your answer" in handrail(home).err

    ask = _only_ask(home)
    told = handrail(home, "answer", str(ask["ask"])[:13], "--edit")
    assert (told.code, told.text) == (0, "answered\n")
    assert f"handrail resume {session}" in told.err

    again = handrail(home, "resume", session)
    assert again.code == 7
    shown = _only_ask(home)["opened"]
    assert isinstance(shown, dict)
    assert shown["shown"] == PLAN.replace("a.txt", "b.txt")

    done = handrail(home, "answer", str(_only_ask(home)["ask"]), "approve", "--go-on")
    assert done.code == 0
    assert (work / "b.txt").read_text() == "b"
    assert not (work / "a.txt").exists()

    seen = handrail(home, "context", session, "--text", "--json").value["report"]
    plan = next(region for region in seen["regions"] if region["name"] == "plan")
    assert plan["text"].endswith("1. write b.txt")

    (moment,) = _decisions(home, session).value["moments"]
    assert moment["trigger"] == "revision"
    story = handrail(home, "show", session).text
    assert "write a.txt" in story
    assert "1. write b.txt" in story
    assert "b.txt is written." in story


def test_a_person_at_the_terminal_is_asked_in_place_revises_edits_and_approves(
    home: dict[str, str], work: Path
) -> None:
    script = ["# First\n1. write x.txt", *SCRIPT]
    with Terminal(home, work, *_begin(work, script)) as terminal:
        terminal.sees("1. write x.txt")
        terminal.sees("Approve the plan?")
        terminal.sees("/edit opens the document in your editor")
        terminal.type("maybe")
        terminal.sees("is no option of this question")
        terminal.type("2 write a.txt instead")
        terminal.sees("write a.txt")
        terminal.sees("Approve the plan?")
        terminal.sees("/edit")
        terminal.type("/edit")
        terminal.sees("with changes")
        terminal.sees("1. write b.txt")
        terminal.sees("Approve the plan?")
        terminal.sees("/edit")
        terminal.type("approve")
        terminal.sees("── build ──")
        terminal.sees("── verify ──")
        assert terminal.ends() == 0
    assert (work / "b.txt").read_text() == "b"
    (row,) = handrail(home, "ps", "--all", "--json").value["runs"]
    found = _decisions(home, row["run"]["session"]).value
    assert found["summary"]["by_trigger"] == {"revision": 2}


@pytest.mark.parametrize("keys", ["\x04", "\x03", "/leave\r"], ids=["Ctrl-D", "Ctrl-C", "leave"])
def test_leaving_at_a_question_leaves_the_run_open(home: dict[str, str], work: Path, keys: str) -> None:
    with Terminal(home, work, *_begin(work, SCRIPT)) as terminal:
        terminal.sees("/edit opens")
        terminal.press(keys)
        assert terminal.ends() == 7
    (ask,) = handrail(home, "asks", "--json").value["asks"]
    assert ask["status"] == "open"


def test_an_abort_ends_the_run_with_no_further_request(home: dict[str, str], work: Path) -> None:
    begun = handrail(home, *_begin(work, SCRIPT))
    assert begun.code == 7
    assert "handrail answer " in begun.err
    done = handrail(home, "answer", str(_only_ask(home)["ask"]), "abort", "--go-on")
    assert done.code == 130
    (row,) = handrail(home, "ps", "--all", "--json").value["runs"]
    assert row["run"]["reason"] == "cancelled"
    found = _decisions(home, row["run"]["session"]).value
    assert (found["summary"]["by_trigger"], found["summary"]["rounds"]) == ({"revision": 1}, 1)
