"""Commands and harnesses of other distributions: found by name, and no harm when they are broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.homes import empty_home, make_home
from tests.cli.shell import handrail


def _install(folder: Path, entry_points: str, **modules: str) -> str:
    """A distribution in ``folder`` with these entry points and modules; what PYTHONPATH must name."""
    info = folder / "other-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source)
    return str(folder)


def test_a_command_of_another_distribution_joins_by_its_entry_point(tmp_path: Path) -> None:
    source = "import click\n\n@click.command()\ndef COMMAND():\n    'Greet.'\n    click.echo('hello')\n"
    path = _install(tmp_path / "site", "[handrail.cli.commands]\nhello_there = other_hello\n", other_hello=source)
    home = empty_home(tmp_path) | {"PYTHONPATH": path}
    assert handrail(home, "hello-there").text == "hello\n"
    assert "hello-there  Greet." in handrail(home, "--help").text


def test_a_harness_that_cannot_be_imported_is_reported_and_the_others_are_listed(tmp_path: Path) -> None:
    path = _install(tmp_path / "site", "[handrail.harnesses]\nbroken = other_broken\n", other_broken="def (\n")
    ended = handrail(make_home(tmp_path) | {"PYTHONPATH": path}, "ls")
    assert ended.code == 4
    assert len(ended.text.splitlines()) == 4
    assert "could not read the broken store" in ended.err


BROKEN = ["def (\n", "raise KeyError('gone')\n", "raise SystemExit(3)\n", "import nonesuch_module\n", "COMMAND = 7\n"]


@pytest.mark.parametrize("source", BROKEN)
def test_a_command_that_is_broken_is_left_out_of_the_help_and_said_on_stderr(tmp_path: Path, source: str) -> None:
    path = _install(tmp_path / "site", "[handrail.cli.commands]\nbad_one = other_bad\n", other_bad=source)
    ended = handrail(empty_home(tmp_path) | {"PYTHONPATH": path}, "--help")
    assert ended.code == 0
    assert "moments" in ended.text
    assert "bad-one" not in ended.text
    assert "a command is left out" in ended.err
    assert "bad" in ended.err


def test_asking_for_a_broken_command_is_a_usage_error(tmp_path: Path) -> None:
    path = _install(tmp_path / "site", "[handrail.cli.commands]\nbad_one = other_bad\n", other_bad="1 / 0\n")
    ended = handrail(empty_home(tmp_path) | {"PYTHONPATH": path}, "bad-one")
    assert (ended.code, ended.out) == (2, b"")
    assert "ZeroDivisionError" in ended.err


def test_completion_says_nothing_of_a_broken_command(tmp_path: Path) -> None:
    path = _install(tmp_path / "site", "[handrail.cli.commands]\nbad_one = other_bad\n", other_bad="1 / 0\n")
    asked = {"_HANDRAIL_COMPLETE": "bash_complete", "COMP_CWORD": "1", "COMP_WORDS": "handrail mom"}
    ended = handrail(empty_home(tmp_path) | asked | {"PYTHONPATH": path})
    assert ("plain,moments" in ended.text, ended.err) == (True, "")
