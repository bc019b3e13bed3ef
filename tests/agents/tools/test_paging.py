"""Results that are too long: cut on whole lines, kept whole, read on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.paging import FolderShelf, MemoryShelf, limited, page
from handrail.agents.tool import ResultLimits, ResultShelf, ToolOutput
from handrail.agents.tools import built_in
from handrail.errors import StoreError
from handrail.transcripts.model import Refusal, RefusalKind
from tests.agents.tools.running import called, context, run

SMALL = ResultLimits(max_bytes=40, max_lines=3)


class FullShelf:
    """A shelf on a full disk."""

    def keep(self, call_id: str, text: str) -> None:
        raise StoreError("disk full")

    def find(self, call_id: str) -> str | None:
        return None


@given(st.text(max_size=200), st.integers(1, 30), st.integers(1, 5))
def test_pages_read_one_after_the_other_are_the_text(text: str, max_bytes: int, max_lines: int) -> None:
    limits = ResultLimits(max_bytes=max_bytes, max_lines=max_lines)
    line, column = 1, 1
    read = ""
    while True:
        shown = page(text, limits, line, column)
        assert shown.text.count("\n") < max_lines
        read += shown.text
        if shown.next_line is None:
            break
        assert (shown.next_line, shown.next_column) > (line, column)
        line, column = shown.next_line, shown.next_column
        read += "\n" if column == 1 else ""
    assert read == text


@given(st.text(min_size=1), st.integers(4, 50))
def test_no_page_is_longer_than_its_limit(text: str, max_bytes: int) -> None:
    shown = page(text, ResultLimits(max_bytes=max_bytes, max_lines=3))
    assert len(shown.text.encode("utf-8", "surrogatepass")) <= max_bytes


def test_a_giant_line_is_cut_between_two_characters() -> None:
    assert page("é" * 30, ResultLimits(max_bytes=9)).text == "é" * 4


def test_a_giant_line_is_cut_where_it_stands_and_not_put_off_to_the_next_page() -> None:
    assert page("short\n" + "x" * 100, ResultLimits(max_bytes=20)).text == "short\n" + "x" * 14


@pytest.mark.parametrize("content", ["short", {"a": [1]}, [{"type": "text", "text": "t"}], "", None])
def test_what_fits_is_left_as_it_is(content: object) -> None:
    output = ToolOutput(content, details={"kept": True})
    assert limited(output, "c", None, SMALL) == output


def test_text_is_cut_on_a_whole_line_and_says_how_to_read_on() -> None:
    shelf = MemoryShelf()
    text = "\n".join(f"line {number}" for number in range(10))
    output = limited(ToolOutput(text, details={"d": 1}, is_error=True), "c", shelf, SMALL)
    assert output.content == (
        "line 0\nline 1\nline 2\n"
        '[cut here, before line 4 of 10. Read on with ReadToolResult(tool_use_id="c", start_line=4).]'
    )
    assert (output.details, output.is_error, shelf.find("c")) == ({"d": 1}, True, text)


def test_structured_content_is_never_cut_in_the_middle() -> None:
    shelf = MemoryShelf()
    refusal = Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")
    output = limited(ToolOutput({"k": list(range(50))}, details=1, refusal=refusal), "c", shelf, SMALL)
    assert isinstance(output.content, str)
    assert "of JSON" in output.content
    assert (output.details, output.refusal) == (1, refusal)
    assert (shelf.find("c") or "").startswith("{")


def test_parts_are_cut_one_by_one_and_pictures_left_alone() -> None:
    shelf = MemoryShelf()
    picture = {"type": "image", "media_type": "image/png", "data": "A" * 100}
    output = limited(ToolOutput([picture, {"type": "text", "text": "a\nb\nc\nd"}]), "c", shelf, SMALL)
    assert output.content[0] == picture
    assert output.content[1]["text"].startswith("a\nb\nc\n[cut here")
    assert shelf.find("c.1") == "a\nb\nc\nd"


@pytest.mark.parametrize("shelf", [None, FullShelf()])
def test_content_is_limited_even_when_it_cannot_be_kept(shelf: ResultShelf | None) -> None:
    output = limited(ToolOutput("a\nb\nc\nd", details=1), "c", shelf, SMALL)
    assert output.content == "a\nb\nc\n[cut here, before line 4 of 4. The full text could not be kept.]"
    assert output.details == 1


def test_a_kept_file_is_its_owners_alone_and_its_name_is_not_the_callers_to_choose(tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path / "results")
    shelf.keep("../../escape", "text \ud800")
    assert shelf.find("../../escape") == "text \ud800"
    assert shelf.find("other") is None
    (kept,) = tmp_path.rglob("*.txt")
    assert kept.parent == tmp_path / "results"
    assert kept.stat().st_mode & 0o777 == 0o600


def _read(shelf: ResultShelf | None, **input: object) -> ToolOutput:
    return run(called(built_in("read_tool_result"), input, context(shelf=shelf, limits=SMALL)))


def test_the_readers_windows_tile_the_text_and_the_last_says_end() -> None:
    shelf = MemoryShelf()
    text = "\n".join(f"line {number}" for number in range(7))
    shelf.keep("long", text)
    shown: list[str] = []
    start = 1
    for _ in range(10):
        content = str(_read(shelf, tool_use_id="long", start_line=start).content)
        body, _, note = content.rpartition("\n")
        shown.append(body)
        if note.startswith("[end"):
            break
        found = re.search(r"start_line=(\d+)", note)
        assert found
        start = int(found[1])
    assert "\n".join(shown) == text
    assert len(shown) == 3


def test_the_readers_own_output_is_not_paged_again() -> None:
    shelf = MemoryShelf()
    shelf.keep("long", "x" * 1000)
    got = _read(shelf, tool_use_id="long", start_column=5)
    assert str(got.content).startswith("x" * 40 + "\n[cut here, before line 1, column 45 of 1.")


@pytest.mark.parametrize(("shelf", "line"), [(None, 1), (MemoryShelf(), 1)])
def test_an_unknown_id_is_a_tool_error(shelf: ResultShelf | None, line: int) -> None:
    assert _read(shelf, tool_use_id="nope", start_line=line).is_error


def test_a_start_past_the_end_is_a_tool_error() -> None:
    shelf = MemoryShelf()
    shelf.keep("c", "one")
    assert _read(shelf, tool_use_id="c", start_line=2).content == "that result has only 1 lines"
