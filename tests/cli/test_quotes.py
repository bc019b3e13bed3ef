"""Long quotes in ``handrail moments``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.homes import CLAUDE_ID, DENIED_WORDS, make_home
from tests.cli.shell import handrail

LONG = "keep the table and every row of it, " * 30 + "please"


def _home_with(root: Path, words: str) -> dict[str, str]:
    home = make_home(root)
    for path in root.rglob(f"{CLAUDE_ID}.jsonl"):
        path.write_bytes(path.read_bytes().replace(DENIED_WORDS.encode(), json.dumps(words)[1:-1].encode()))
    return home


def test_a_long_quote_is_cut_on_a_word_and_the_command_that_shows_it_whole_stands_under_it(tmp_path: Path) -> None:
    home = _home_with(tmp_path, LONG)
    lines = handrail(home, "moments", CLAUDE_ID).text.splitlines()
    said = next(line for line in lines if line.startswith("  said")).removeprefix("  said").strip()
    shown, _, rest = said.rpartition(" ")
    assert (rest, len(shown) <= 600, LONG.startswith(f"{shown} ")) == ("…", True, True)
    (whole,) = [line.removeprefix("  whole").strip() for line in lines if line.startswith("  whole")]
    assert LONG in handrail(home, *whole.split()[1:]).text


@pytest.mark.parametrize("words", ["keep it", "x" * 600])
def test_a_quote_that_is_not_long_is_whole(tmp_path: Path, words: str) -> None:
    text = handrail(_home_with(tmp_path, words), "moments", CLAUDE_ID).text
    assert f"  said    {words}\n" in text
    assert "  whole" not in text


def test_one_endless_word_is_cut_too(tmp_path: Path) -> None:
    assert f"  said    {'x' * 600} …\n" in handrail(_home_with(tmp_path, "x" * 601), "moments", CLAUDE_ID).text


def test_json_holds_a_long_quote_whole(tmp_path: Path) -> None:
    (row,) = handrail(_home_with(tmp_path, LONG), "moments", CLAUDE_ID, "--json").value["moments"]
    assert row["words"] == LONG
