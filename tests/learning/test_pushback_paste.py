"""Telling what a person typed from what they pasted."""

from __future__ import annotations

import pytest

from handrail.learning.pushback_paste import MAX_LINES, split


def test_speech_is_typed_whole() -> None:
    words = "no, not like that\n\n- keep the old name\n- and drop the flag\n1. then run it again"
    assert split(words) == (words, "")


@pytest.mark.parametrize(
    "line",
    [
        "2026-05-04T10:11:12Z INFO started",
        "[10:11:12] connected",
        "error: cannot find module",
        "npm ERR! code 1",
        "Traceback (most recent call last):",
        '  File "a.py", line 3, in run',
        "ValueError: bad literal",
        "src/app.ts:12:5 - unused",
        '{"level":"warn"}',
        "level=info msg=ready port=80",
        "├── src",
        "--- FAIL: TestSync (0.02s)",
        "diff --git a/x b/x",
        "        return None",
        "[lint:go] internal/refs.go",
    ],
)
def test_lines_of_machines_are_pasted(line: str) -> None:
    assert split(f"look at this\n\n{line}") == ("look at this", line)


def test_what_follows_a_prompt_is_its_output_up_to_a_blank_line() -> None:
    parts = split("❯ make\nall good here\nnothing to do\n\nwhy is that?")
    assert parts.typed == "why is that?"
    assert parts.pasted == "❯ make\nall good here\nnothing to do"


def test_fenced_text_is_pasted_without_its_fences() -> None:
    assert split("like so:\n```\nplain words\n```\nplease") == ("like so:\nplease", "plain words")


@pytest.mark.parametrize(
    "output", ["$ make\nexit status 2", "$ curl x\nhttp 503", "$ t\n1 failed", "$ t\nNo such file"]
)
def test_output_of_what_failed_is_a_failure(output: str) -> None:
    assert split(output).is_failure


@pytest.mark.parametrize(
    "output", ["$ make\nexit status 0", "$ t\n12 passed, 0 failed", "$ t\nno errors", "$ t\nerr=nil"]
)
def test_output_of_what_went_well_is_no_failure(output: str) -> None:
    assert not split(output).is_failure


def test_typed_words_of_failure_are_no_pasted_failure() -> None:
    assert not split("it failed again with an error").is_failure


def test_a_huge_paste_is_read_to_a_bound() -> None:
    parts = split("\n".join(["error: x"] * (MAX_LINES * 3)))
    assert parts.pasted.count("\n") == MAX_LINES - 1
