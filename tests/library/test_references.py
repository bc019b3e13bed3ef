"""References with ranges, as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.library import RangeRequest, Reference, parse_reference, resolve_ranges
from handrail.transcripts.spans import CropError, InvalidSpan, Span, SpanPastEnd


@pytest.mark.parametrize(
    ("typed", "source", "ranges"),
    [
        ("abc", "abc", ()),
        ("abc#5", "abc", (RangeRequest(5, 5),)),
        ("abc#5-12", "abc", (RangeRequest(5, 12),)),
        ("abc#5-", "abc", (RangeRequest(5, None),)),
        ("abc#-12", "abc", (RangeRequest(None, 12),)),
        ("abc#2-4,9", "abc", (RangeRequest(2, 4), RangeRequest(9, 9))),
        ("Fix the parser #2#3-9", "Fix the parser #2", (RangeRequest(3, 9),)),
        ("-#1-3", "-", (RangeRequest(1, 3),)),
        ("run.json#1-2", "run.json", (RangeRequest(1, 2),)),
    ],
)
def test_a_suffix_that_reads_as_ranges_is_one(typed: str, source: str, ranges: tuple[RangeRequest, ...]) -> None:
    assert parse_reference(typed) == Reference(typed, source, ranges)


@pytest.mark.parametrize(
    "typed",
    ["abc#anchor", "abc#", "abc#-", "abc#1x", "abc#1-2-3", "#5", "abc#1,,2", "abc#1,", "abc#٣", "abc#" + "9" * 19],
)
def test_a_suffix_that_does_not_read_as_ranges_belongs_to_the_source(typed: str) -> None:
    assert parse_reference(typed) == Reference(typed, typed, ())


@pytest.mark.parametrize(
    ("typed", "length", "expected"),
    [
        ("s#5", 9, Span(4, 5)),
        ("s#5-7", 9, Span(4, 7)),
        ("s#5-", 9, Span(4, 9)),
        ("s#-7", 9, Span(0, 7)),
        ("s#9-9", 9, Span(8, 9)),
    ],
)
def test_ranges_count_from_one_and_include_both_ends(typed: str, length: int, expected: Span) -> None:
    assert resolve_ranges(parse_reference(typed).ranges, length) == (expected,)


def test_no_range_means_the_whole_session() -> None:
    assert resolve_ranges((), 4) == (Span(0, 4),)


@pytest.mark.parametrize(
    ("typed", "length", "error", "words"),
    [
        ("s#0", 9, InvalidSpan, "range #0 has a 0: messages are counted from 1"),
        ("s#0-3", 9, InvalidSpan, "range #0-3 has a 0"),
        ("s#7-5", 9, InvalidSpan, "range #7-5 is inverted"),
        ("s#8-12", 9, SpanPastEnd, "range #8-12 is out of bounds: the session has 9 messages"),
        ("s#2", 1, SpanPastEnd, "range #2 is out of bounds: the session has 1 message$"),
        ("s#5-", 3, SpanPastEnd, "range #5- is out of bounds: the session has 3 messages"),
        ("s#1-", 0, SpanPastEnd, "range #1- is out of bounds: the session has 0 messages"),
        ("s#1", 0, SpanPastEnd, "range #1 is out of bounds"),
        ("s#1-2,20", 9, SpanPastEnd, "range #20 is out of bounds"),
    ],
)
def test_a_range_that_does_not_fit_is_named_as_it_was_typed(
    typed: str, length: int, error: type[CropError], words: str
) -> None:
    with pytest.raises(error, match=words):
        resolve_ranges(parse_reference(typed).ranges, length)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 50))
def test_a_range_resolves_to_a_span_inside_the_session_or_is_refused(first: int, last: int, length: int) -> None:
    request = parse_reference(f"s#{first}-{last}").ranges
    if first <= last <= length:
        assert resolve_ranges(request, length) == (Span(first - 1, last),)
    else:
        with pytest.raises(CropError):
            resolve_ranges(request, length)


@given(st.text())
def test_any_text_is_a_reference_and_nothing_of_it_is_lost(typed: str) -> None:
    reference = parse_reference(typed)
    assert reference.whole == typed
    assert typed.startswith(reference.source)
    assert bool(reference.ranges) == (reference.source != typed)
