"""From a correction to a rule at the command line, with a model that plays a script."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from handrail.cli.schemas import RESULTS
from tests.cli.homes import CLAUDE_ID, DENIED_WORDS, empty_home, make_home
from tests.cli.shell import Ended, handrail

RULE = "Archive tables instead of dropping them."
_LESSON = {
    "call": "reflect",
    "input": {"skip": False, "lesson": RULE, "about": "behaviour", "wish": DENIED_WORDS},
}
_CHANGES = {
    "call": "change_rules",
    "input": {"changes": [{"do": "add", "lessons": ["L1", "L2"], "text": RULE, "why": "said twice"}]},
}


def _script(root: Path, *items: object) -> str:
    file = root / "script.json"
    file.write_text(json.dumps(items))
    return f"scripted:{file}"


def _home(root: Path) -> dict[str, str]:
    return make_home(root)


def _reflect(root: Path, *arguments: str) -> Ended:
    return handrail(_home(root), "reflect", "--model", _script(root, _LESSON, _LESSON), *arguments)


def _learn(root: Path) -> str:
    """The id of the proposal that learning made."""
    _reflect(root)
    ended = handrail(_home(root), "learn", "--model", _script(root, _CHANGES), "--json")
    (proposal,) = ended.value["proposals"]
    return str(proposal["id"])


def test_a_correction_becomes_a_rule_that_is_shown_beside_it(tmp_path: Path) -> None:
    proposal = _learn(tmp_path)

    shown = handrail(_home(tmp_path), "proposals", "show", proposal).text
    accepted = handrail(_home(tmp_path), "proposals", "accept", proposal, "--json").value
    (rule,) = accepted["rules"]
    beside = handrail(_home(tmp_path), "rules", "show", rule["id"]).text

    assert f"+ {rule['id']} {RULE}" in shown
    assert DENIED_WORDS in shown
    assert (rule["life"], rule["text"]) == ("trial", RULE)
    assert beside.count(f"said    {DENIED_WORDS}") == 2


def test_what_came_of_each_moment_and_what_was_left_out_is_printed(tmp_path: Path) -> None:
    ended = _reflect(tmp_path)

    assert (ended.code, ended.err) == (0, "")
    assert "2 moments of 3 sessions reflected on: 2 lessons, 0 without one" in ended.text
    assert RULE in ended.text


def test_a_dry_run_needs_no_model_and_makes_no_folder(tmp_path: Path) -> None:
    ended = handrail(_home(tmp_path), "reflect", "--dry-run")

    assert ended.code == 0
    assert "2 requests would be sent, of 3 sessions; nothing was." in ended.text
    assert not (tmp_path / ".handrail").exists()


def test_no_model_is_asked_unless_one_is_named(tmp_path: Path) -> None:
    ended = handrail(_home(tmp_path), "reflect")

    assert (ended.code, ended.out) == (2, b"")
    assert "no model is named" in ended.err


def test_the_model_may_be_named_in_the_environment(tmp_path: Path) -> None:
    home = _home(tmp_path) | {"HANDRAIL_MODEL": _script(tmp_path, _LESSON, _LESSON)}

    assert len(handrail(home, "reflect", "--json").value["rows"]) == 2


def test_a_model_that_fails_ends_with_1_and_says_what_is_left(tmp_path: Path) -> None:
    script = _script(tmp_path, _LESSON, {"error": "bad_key"})

    ended = handrail(_home(tmp_path), "reflect", "--model", script, "--json")

    assert (ended.code, len(ended.value["rows"]), ended.value["left"]) == (1, 1, 1)
    assert "1 moment left for another time" in ended.err


def test_learning_asks_no_model_where_there_is_nothing_to_learn(tmp_path: Path) -> None:
    ended = handrail(_home(tmp_path), "learn")

    assert (ended.code, ended.text) == (0, "No proposals.\n")


def test_lessons_are_listed_edited_dropped_and_restored(tmp_path: Path) -> None:
    _reflect(tmp_path)
    home = _home(tmp_path)
    first = handrail(home, "lessons", "--json").value["lessons"][0]["lesson"]["id"]

    unchanged = handrail(home, "lessons", "edit", first, RULE)
    edited = handrail(home, "lessons", "edit", first, "Archive first.")
    dropped = handrail(home, "lessons", "drop", first, "--reason", "one-off")

    assert (unchanged.code, edited.code, dropped.code) == (2, 0, 0)
    assert len(handrail(home, "lessons", "--json").value["lessons"]) == 1
    assert handrail(home, "lessons", "restore", first).code == 0
    assert handrail(home, "lessons", "show", "nonesuch").code == 5


def test_rules_of_ones_own_are_added_scoped_edited_retired_and_restored(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    added = handrail(home, "rules", "add", RULE, "--repository", str(tmp_path), "--on", "any", "--json").value["rule"]
    id = added["id"]

    scoped = handrail(home, "rules", "scope", id, "--repository", "any", "--tool", "Bash", "--json").value["rule"]
    same = handrail(home, "rules", "edit", id, RULE)
    retired = handrail(home, "rules", "retire", id, "--reason", "no more")
    listed = handrail(home, "rules", "--json").value

    assert added["scope"] == {"repositories": [str(tmp_path.resolve())]}
    assert scoped["scope"] == {"tools": ["Bash"]}
    assert (same.code, retired.code, listed["rules"], listed["others"]) == (2, 0, [], 1)
    assert handrail(home, "rules", "restore", id[:4]).code == 0
    assert handrail(home, "rules", "retire", id).code == 2


def test_a_rule_counts_in_the_folder_it_was_added_in_unless_it_is_said(tmp_path: Path) -> None:
    rule = handrail(empty_home(tmp_path), "rules", "add", RULE, "--json").value["rule"]

    assert len(rule["scope"]["repositories"]) == 1


def test_names_that_are_none_are_refused(tmp_path: Path) -> None:
    home = empty_home(tmp_path)

    assert handrail(home, "rules", "add", RULE, "--on", "nonesuch").code == 2
    assert handrail(home, "rules", "add", RULE, "--tool", " ").code == 2
    assert not (tmp_path / ".handrail").exists()


def test_lint_ends_with_3_where_there_is_a_problem(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    handrail(home, "rules", "add", "Use npm over pnpm.", "--repository", "any")
    fine = handrail(home, "rules", "lint")
    handrail(home, "rules", "add", "Use pnpm over npm.", "--repository", "any")
    wrong = handrail(home, "rules", "lint", "--json")

    assert (fine.code, wrong.code) == (0, 3)
    assert [one["code"] for one in wrong.value["findings"]] == ["contradiction"]


def test_hostile_words_do_not_reach_the_terminal(tmp_path: Path) -> None:
    hostile = {"call": "reflect", "input": {"skip": True}}
    shown = handrail(_home(tmp_path), "reflect", "--dry-run")
    script = _script(tmp_path, hostile, hostile)

    assert b"\x1b[2J" not in shown.out
    assert b"\x1b[2J" not in handrail(_home(tmp_path), "reflect", "--model", script).out


@pytest.mark.parametrize("command", [("lessons",), ("proposals",), ("rules",), ("rules", "lint"), ("learn",)])
def test_looking_at_nothing_is_no_error_and_makes_nothing(tmp_path: Path, command: tuple[str, ...]) -> None:
    ended = handrail(empty_home(tmp_path), *command)

    assert ended.code == 0
    assert not (tmp_path / ".handrail").exists()


def test_everything_printed_as_json_fits_its_schema(tmp_path: Path) -> None:
    home = _home(tmp_path)
    proposal = _learn(tmp_path)
    lesson = handrail(home, "lessons", "--json").value["lessons"][0]["lesson"]["id"]
    rule = handrail(home, "rules", "add", "Say less.", "--repository", "any", "--json").value["rule"]["id"]
    printed = {
        "reflect": ("--dry-run",),
        "lessons": (),
        "lessons show": (lesson,),
        "learn": ("--dry-run",),
        "proposals": (),
        "proposals show": (proposal,),
        "proposals reject": (proposal,),
        "rules": (),
        "rules show": (rule,),
        "rules scope": (rule, "--tool", "Bash"),
        "rules lint": (),
    }

    for command, arguments in printed.items():
        out = handrail(home, *command.split(), *arguments, "--json").out
        assert msgspec.json.decode(out, type=RESULTS[f"handrail {command}"]).schema_version == 1, command


def test_a_session_is_named_with_its_moment(tmp_path: Path) -> None:
    shown = handrail(_home(tmp_path), "reflect", "--dry-run", "--json").value["would_send"]

    assert CLAUDE_ID in {sent["session"] for sent in shown}
