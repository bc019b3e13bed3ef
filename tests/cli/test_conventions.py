"""What holds for every command: streams, exit codes, speed, and nothing loaded before it is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from handrail import registry
from handrail.cli.program import COMMANDS
from handrail.cli.reference import render_reference
from handrail.cli.schemas import RESULTS, render_schemas
from tests.cli.homes import CODEX_ID, empty_home, make_home
from tests.cli.shell import handrail
from tests.cli.terminal import Terminal

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nonesuch"], 2),
        (["show", "--nonesuch"], 2),
        (["show", CODEX_ID, "--nonesuch"], 2),
        (["moments", "--nonesuch"], 2),
        (["moments", "-x"], 2),
        (["moments", CODEX_ID, "--project", "shop"], 2),
        (["ls", "--tz", "Nowhere/Land"], 2),
        (["ls", "--root", "claude_code"], 2),
        (["ls", "--root", "nonesuch=/x"], 2),
        (["ls", "--root", "codex=/nonesuch"], 2),
        (["ls", "--root", "codex=~nonesuch/sessions"], 2),
        (["ls", "--project", "~nonesuch/shop"], 2),
        (["ps", "--database", "sqlite:~nonesuch/runs"], 2),
        (["ls", "--harness", "nonesuch"], 2),
        (["ls", "-n", "-1"], 2),
        (["moments", "--since", "yesterday"], 2),
        (["convert", CODEX_ID], 2),
        (["export", CODEX_ID, "--json"], 2),
        (["crop", CODEX_ID], 1),
        (["show", f"{CODEX_ID}#0"], 1),
        (["show", f"{CODEX_ID}#9"], 1),
        (["show", "nonesuch"], 5),
        (["show", "./nonesuch.jsonl"], 5),
    ],
)
def test_an_error_has_its_exit_code_and_prints_no_data(tmp_path: Path, arguments: list[str], code: int) -> None:
    ended = handrail(make_home(tmp_path), *arguments)
    assert (ended.code, ended.out) == (code, b"")
    assert ended.err


@pytest.mark.parametrize(
    "arguments", [["show", "nonesuch", "--json"], ["show", "--json"], ["ls", "--tz", "X", "--json"]]
)
def test_an_error_as_json_is_one_object_on_stderr(tmp_path: Path, arguments: list[str]) -> None:
    error = json.loads(handrail(empty_home(tmp_path), *arguments).err)
    assert error["schema_version"] == 1
    assert error["error"].keys() == {"code", "message", "hint", "retryable"}
    assert error["error"]["retryable"] is False


def test_a_machine_without_sessions_is_no_error(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    assert handrail(home).code == 0
    assert handrail(home, "ls", "--json").value["sessions"] == []
    assert handrail(home, "moments", "--json").value["moments"] == []


def test_nothing_is_created_on_a_machine_without_sessions(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    handrail(home)
    handrail(home, "moments")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_ends_a_command_quietly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "handrail", "show", CODEX_ID]
    with subprocess.Popen(command, env=make_home(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert (running.stderr.read(), running.wait(timeout=60)) == (b"", 0)


def test_output_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    home = make_home(tmp_path) | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    assert "── #1 ──" in handrail(home, "show", CODEX_ID).text


def test_no_colour_unless_it_is_asked_for(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    assert b"\x1b[" not in handrail(home, "moments").out
    assert b"\x1b[" in handrail(home | {"FORCE_COLOR": "1"}, "moments").out
    assert b"\x1b[" not in handrail(home | {"FORCE_COLOR": "1", "NO_COLOR": "1"}, "moments").out
    assert b"\x1b[" not in handrail(home | {"FORCE_COLOR": "1"}, "moments", "--no-color").out


@pytest.mark.parametrize("setting", [{}, *({name: "1"} for name in ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX"))])
def test_a_terminal_that_an_agent_reads_gets_neither_colours_nor_progress(
    tmp_path: Path, setting: dict[str, str]
) -> None:
    with Terminal(make_home(tmp_path) | setting, tmp_path, "moments") as terminal:
        assert terminal.ends() == 0
        assert terminal.moved is (not setting)


def _modules(*arguments: str) -> set[str]:
    """The modules that are loaded once ``arguments`` have run."""
    code = (
        "import sys\nfrom handrail.cli import main\nsys.argv[1:] = sys.argv[2:]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(chr(10).join(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "-", *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_help_loads_no_codec_and_no_msgspec() -> None:
    loaded = _modules("--help")
    assert "handrail.cli.commands.moments" in loaded
    heavy = ("msgspec", "handrail.transcripts", "handrail.harnesses", "handrail.library", "handrail.learning")
    assert [name for name in loaded if name.startswith(heavy)] == []


def test_version_loads_nothing_but_the_package() -> None:
    loaded = _modules("--version")
    assert "click" not in loaded
    assert {name for name in loaded if name.startswith("handrail")} == {"handrail", "handrail.cli"}


def test_help_names_every_command(tmp_path: Path) -> None:
    text = handrail(empty_home(tmp_path), "--help").text
    listed = [line.split()[0] for line in text.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
    assert listed == [name.replace("_", "-") for name in registry.names(COMMANDS)]


@pytest.mark.parametrize("topic", [[], ["moments"], ["moments", "mark"], ["blueprint", "check"]])
def test_help_says_of_a_command_what_its_own_help_says(tmp_path: Path, topic: list[str]) -> None:
    home = empty_home(tmp_path)
    text = handrail(home, *topic, "--help").text
    assert handrail(home, "help", *topic).text == text
    assert handrail(home, "help", *topic, "--json").value == {"schema_version": 1, "text": text.removesuffix("\n")}


@pytest.mark.parametrize("topic", [["nonesuch"], ["ls", "nonesuch"], ["moments", "nonesuch"]])
def test_help_on_what_is_no_command_is_a_wrong_command_line(tmp_path: Path, topic: list[str]) -> None:
    ended = handrail(empty_home(tmp_path), "help", *topic)
    assert (ended.code, ended.out) == (2, b"")
    assert "has no command 'nonesuch'" in ended.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_back_the_program(tmp_path: Path, shell: str) -> None:
    ended = handrail(empty_home(tmp_path), "completion", shell)
    assert ended.code == 0
    assert "_HANDRAIL_COMPLETE" in ended.text


def test_completion_offers_commands_and_harnesses(tmp_path: Path) -> None:
    home = empty_home(tmp_path) | {"_HANDRAIL_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    assert "plain,moments" in handrail(home | {"COMP_WORDS": "handrail mom"}).text
    named = handrail(home | {"COMP_WORDS": "handrail ls --harness co", "COMP_CWORD": "3"})
    assert "plain,codex" in named.text


def test_the_page_of_reference_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_reference(), "run python -m handrail.cli.reference > docs/cli.md"


def test_the_schemas_of_json_output_are_up_to_date() -> None:
    remedy = "run python -m handrail.cli.schemas > docs/cli.schema.json"
    assert PAGE.with_suffix(".schema.json").read_text(encoding="utf-8") == render_schemas(), remedy


@pytest.mark.parametrize("arguments", [[], ["ls"], ["show", CODEX_ID], ["moments", "--all"], ["demo"]])
def test_what_is_printed_as_json_fits_its_schema(tmp_path: Path, arguments: list[str]) -> None:
    result = RESULTS[" ".join(["handrail", *arguments[:1]])]
    printed = handrail(make_home(tmp_path), *arguments, "--json").out
    assert msgspec.json.decode(printed, type=result).schema_version == 1


def test_a_demo_shows_own_sessions_and_the_sample_where_there_are_none(tmp_path: Path) -> None:
    own = handrail(make_home(tmp_path / "full"), "demo", "--json").value
    sample = handrail(empty_home(tmp_path / "none"), "demo", "--json").value
    assert (own["is_sample"], own["overview"]["sessions"]) == (False, 3)
    assert sample["is_sample"] is True
    assert sample["moments"]["summary"]["stepins"] > 0


def test_the_sample_shows_every_kind_of_moment(tmp_path: Path) -> None:
    found = handrail(empty_home(tmp_path), "demo", "--json").value["moments"]["summary"]["by_trigger"]
    assert found.keys() >= {"steer", "denial", "interrupt", "rewind"}


def test_closed_streams_are_no_error(tmp_path: Path) -> None:
    command = f'"{sys.executable}" -m handrail ls --root claude_code="{tmp_path}" >&- 2>&- <&-'
    done = subprocess.run(["/bin/sh", "-c", command], check=False, env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 0
