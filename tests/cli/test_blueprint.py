"""``handrail blueprint``, run as a shell would."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from handrail.blueprints.shelf import shipped_names, shipped_text
from handrail.blueprints.toml import parse_json, parse_toml
from tests.cli.homes import empty_home
from tests.cli.shell import handrail

_SOUND = 'name = "mine"\n[[stages]]\nname = "a"\ninstructions = "Do it."\nlimits = { max_rounds = 9 }\n'
_BROKEN = 'name = "mine"\ncolour = 1\n[[stages]]\nname = "a"\ntools = ["Reed"]\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return empty_home(tmp_path) | {"HANDRAIL_CONFIG_DIR": str(tmp_path / "config")}


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_problem_is_told_with_its_line_and_what_was_meant(home: dict[str, str]) -> None:
    _write(Path("flow.toml"), _BROKEN)
    ended = handrail(home, "blueprint", "check", "flow.toml")
    assert ended.code == 3
    assert "error unknown-key  line 2 colour" in ended.text
    assert "error unknown-tool  line 5 stages[0].tools[0]" in ended.text
    assert "try: Read" in ended.text
    assert "1 blueprint: 2 errors, 2 warnings, 0 notes." in ended.text


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (_SOUND, [], 0),
        (_SOUND, ["--deny-warnings"], 0),
        (_SOUND.replace("limits = { max_rounds = 9 }\n", ""), [], 0),
        (_SOUND.replace("limits = { max_rounds = 9 }\n", ""), ["--deny-warnings"], 3),
        (_BROKEN, [], 3),
        ("= 1", [], 3),
    ],
)
def test_the_exit_code_says_whether_it_can_be_run(
    home: dict[str, str], text: str, options: list[str], code: int
) -> None:
    _write(Path("flow.toml"), text)
    assert handrail(home, "blueprint", "check", "flow.toml", *options).code == code


@pytest.mark.parametrize(
    ("reference", "code"), [("nonesuch", 5), ("./nonesuch.toml", 5), ("./folder.toml", 4), ("../work/", 4)]
)
def test_what_is_not_there_or_cannot_be_read_has_its_exit_code(home: dict[str, str], reference: str, code: int) -> None:
    Path("folder.toml").mkdir()
    ended = handrail(home, "blueprint", "check", reference)
    assert (ended.code, ended.out) == (code, b"")
    assert ended.err


def test_a_name_that_is_none_is_answered_with_those_there_are(home: dict[str, str]) -> None:
    assert all(name in handrail(home, "blueprint", "check", "nonesuch").err for name in shipped_names())


def test_json_says_the_same_as_text(home: dict[str, str]) -> None:
    _write(Path("flow.toml"), _BROKEN)
    ended = handrail(home, "blueprint", "check", "flow.toml", "--json")
    assert ended.code == 3
    assert (ended.value["schema_version"], ended.value["errors"]) == (1, 2)
    assert ended.value["checked"][0]["problems"][0] == {
        "level": "error",
        "code": "unknown-key",
        "path": "colour",
        "line": 2,
        "message": "nothing reads 'colour'",
        "suggestion": None,
    }


def test_standard_input_is_toml_or_json(home: dict[str, str]) -> None:
    as_json = handrail(home, "blueprint", "show", "plan-build-verify", "--to", "json").out
    assert handrail(home, "blueprint", "check", "-", stdin=as_json).code == 0
    assert handrail(home, "blueprint", "check", "-", stdin=_SOUND.encode()).code == 0
    assert handrail(home, "blueprint", "check", "-", stdin=b"\xff\xfe").code == 3


def test_a_repository_cannot_put_its_blueprint_in_the_place_of_another(home: dict[str, str], tmp_path: Path) -> None:
    _write(Path(".handrail/blueprints/plan-build-verify.toml"), _SOUND)
    _write(Path(".handrail/blueprints/theirs.toml"), _SOUND)
    _write(tmp_path / "config/blueprints/theirs.toml", _SOUND.replace("mine", "yours"))
    rows = {row["name"]: row for row in handrail(home, "blueprint", "list", "--json").value["blueprints"]}
    assert {name: row["origin"] for name, row in rows.items()} == {
        "theirs": "yours",
        "plan-build-verify": "shipped",
        "research-review": "shipped",
    }
    assert handrail(home, "blueprint", "show", "plan-build-verify").out == shipped_text("plan-build-verify")


def test_without_names_your_own_and_the_folders_are_checked(home: dict[str, str]) -> None:
    assert [one["name"] for one in handrail(home, "blueprint", "check", "--json").value["checked"]] == list(
        shipped_names()
    )
    _write(Path(".handrail/blueprints/here.json"), json.dumps({"name": "here", "stages": [{"name": "a"}]}))
    assert [one["name"] for one in handrail(home, "blueprint", "check", "--json").value["checked"]] == ["here"]


def test_a_list_tells_of_one_that_cannot_be_read(home: dict[str, str]) -> None:
    _write(Path(".handrail/blueprints/broken.toml"), "= 1")
    assert "broken  workspace" in handrail(home, "blueprint", "list").text
    assert "cannot be read: not TOML" in handrail(home, "blueprint", "list").text


def test_a_folder_of_blueprints_that_is_none_is_told(home: dict[str, str]) -> None:
    _write(Path(".handrail/blueprints"), "no folder")
    ended = handrail(home, "blueprint", "list")
    assert (ended.code, "cannot list" in ended.err) == (4, True)


def test_a_drawing_is_text_or_a_picture(home: dict[str, str]) -> None:
    assert handrail(home, "blueprint", "graph", "plan-build-verify").text.startswith("flowchart TD\n")
    picture = handrail(home, "blueprint", "graph", "plan-build-verify", "--svg").out
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert handrail(home, "blueprint", "graph", "plan-build-verify", "--out", "plan.svg").code == 0
    assert Path("plan.svg").read_bytes() == picture
    again = handrail(home, "blueprint", "graph", "plan-build-verify", "--out", "plan.svg")
    assert (again.code, "exists" in again.err) == (4, True)
    assert handrail(home, "blueprint", "graph", "plan-build-verify", "--out", "plan.svg", "--force").code == 0


def test_a_blueprint_with_errors_of_form_is_not_drawn(home: dict[str, str]) -> None:
    _write(Path("flow.toml"), _BROKEN)
    ended = handrail(home, "blueprint", "graph", "flow.toml")
    assert (ended.code, ended.out) == (3, b"")
    assert "line 2: colour" in ended.err


def test_what_ships_is_shown_as_it_is_kept_and_reads_back_in_both_forms(home: dict[str, str]) -> None:
    for name in shipped_names():
        as_toml = handrail(home, "blueprint", "show", name).out
        assert as_toml == shipped_text(name)
        as_json = handrail(home, "blueprint", "show", name, "--to", "json").out
        assert parse_json(as_json) == parse_toml(as_toml)
        _write(Path("copy.json"), as_json.decode())
        assert parse_toml(handrail(home, "blueprint", "show", "copy.json").out) == parse_toml(as_toml)


def test_the_schema_is_printed(home: dict[str, str]) -> None:
    assert handrail(home, "blueprint", "schema").value["title"] == "A Handrail blueprint"


def test_a_huge_file_is_refused_and_not_read(home: dict[str, str]) -> None:
    with Path("huge.toml").open("wb") as stream:
        os.truncate(stream.fileno(), 1 << 40)  # a hole of a terabyte: whoever reads it all runs out of memory
    ended = handrail(home, "blueprint", "check", "huge.toml")
    assert (ended.code, "more than 262,144 bytes" in ended.text) == (3, True)


def test_nothing_in_a_file_reaches_the_terminal_as_a_command(home: dict[str, str]) -> None:
    _write(Path("flow.toml"), _SOUND + '"\\u001b[2J" = 1\ntools = ["\\u001b]0;owned\\u0007"]\n')
    ended = handrail(home, "blueprint", "check", "flow.toml")
    assert ended.code == 3
    assert b"\x1b" not in ended.out
