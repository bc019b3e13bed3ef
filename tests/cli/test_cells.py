"""Text in terminal cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.cli.cells import cut, one_line, pad, scrub, width, wrap
from handrail.cli.table import Column, render_table


@pytest.mark.parametrize(
    ("text", "cells"),
    [("abc", 3), ("日本", 4), ("é", 1), ("e\u0301", 1), ("🙂", 2), ("❤\ufe0f", 2), ("\u200b", 0), ("", 0)],
)
def test_width_counts_terminal_cells(text: str, cells: int) -> None:
    assert width(text) == cells


@pytest.mark.parametrize(
    ("text", "cells", "expected"),
    [("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("日本語", 4, "日…"), ("日本語", 5, "日本…"), ("abc", 0, "")],
)
def test_cut_text_fits_and_says_that_it_was_cut(text: str, cells: int, expected: str) -> None:
    assert cut(text, cells) == expected


@pytest.mark.parametrize("unsafe", ["\x1b", "\x07", "\x9b", "\r", "\u202e", "\u2028", "\x7f", "\x00"])
def test_nothing_that_moves_the_cursor_or_turns_the_text_round_is_left(unsafe: str) -> None:
    assert scrub(f"a{unsafe}b") == "a b"
    assert scrub(f"a{unsafe}b\n", keep_lines=True) == "a b\n"


def test_one_line_folds_white_space() -> None:
    assert one_line(" a\n\tb \x1b[2J ") == "a b [2J"


def test_wrapped_text_breaks_at_spaces_and_ends_with_an_ellipsis_when_it_is_too_long() -> None:
    assert wrap("one two three four", 9, 2) == ["one two", "three fo…"]
    assert wrap("one two three", 9, 3) == ["one two", "three"]


@given(st.text(max_size=60), st.integers(2, 30), st.integers(1, 4))
def test_wrapped_lines_never_exceed_their_cells_or_their_number(text: str, cells: int, lines: int) -> None:
    rows = wrap(one_line(text), cells, lines)
    assert len(rows) <= lines
    assert all(width(row) <= cells for row in rows)


@given(st.text(max_size=30), st.integers(0, 20))
def test_padded_text_is_never_narrower_than_asked(text: str, cells: int) -> None:
    assert width(pad(text, cells)) >= cells
    assert width(cut(text, cells)) <= cells


COLUMNS = (Column("ID"), Column("SIZE", right=True), Column("TITLE", flexible=True), Column("STATE"))


def test_a_table_aligns_and_leaves_out_empty_columns() -> None:
    lines = render_table(COLUMNS, [["a", "5", "日本", ""], ["bbb", "12", "x", ""]], None)
    assert lines == ["ID   SIZE  TITLE", "a       5  日本", "bbb    12  x"]


def test_a_table_is_cut_to_the_terminal_where_it_can_give_way() -> None:
    lines = render_table(COLUMNS, [["abc", "5", "t" * 50, "damaged"]], 40)
    assert all(width(line) <= 40 for line in lines)
    assert lines[1].startswith("abc     5  ttt") and lines[1].endswith("…  damaged")


def test_a_cell_with_control_characters_stays_on_its_line() -> None:
    lines = render_table(COLUMNS, [["a\nb", "1", "\x1b[31mred", "x"]], None)
    assert len(lines) == 2
    assert "\x1b" not in lines[1]
