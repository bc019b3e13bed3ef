"""What holds for spans over every session, not only those somebody thought of."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.testing.strategies import any_spans, bodies, spans_within
from handrail.transcripts.model import Common, Message, Meta, Transcript
from handrail.transcripts.spans import CropError, Span, SplitPair, smallest_valid
from tests.transcripts.build import call, result, user
from tests.transcripts.build import session as session_of

Session = Transcript[Common]


@st.composite
def paired(draw: st.DrawFn) -> Session:
    """Words, calls, and answers to the oldest or the newest open call: nested, crossed and chained pairs."""
    body: list[Message] = []
    waiting: list[str] = []
    for index, kind in enumerate(
        draw(st.lists(st.sampled_from(["words", "call", "call", "oldest", "newest"]), max_size=12))
    ):
        if kind == "call":
            waiting.append(f"c{index}")
            body.append(call(f"c{index}"))
        elif kind == "words" or not waiting:
            body.append(user(f"{index}"))
        else:
            body.append(result(waiting.pop(0 if kind == "oldest" else -1)))
    return session_of(*body)


@st.composite
def cropped(draw: st.DrawFn) -> tuple[Session, list[Span]]:
    drawn = draw(paired())
    return drawn, draw(st.lists(spans_within(len(drawn.body)), min_size=1, max_size=4))


def _kept(spans: list[Span]) -> set[int]:
    return {index for span in spans for index in range(span.start, span.end)}


def _is_valid(pairs: list[tuple[int, int]], span: Span) -> bool:
    return all((call in span) == (result in span) for call, result in pairs)


@given(cropped())
def test_a_crop_is_the_union_of_its_spans(case: tuple[Session, list[Span]]) -> None:
    session, spans = case
    try:
        body = session.crop_to(spans).body
    except CropError:
        return
    assert body == tuple(message for index, message in enumerate(session.body) if index in _kept(spans))


@given(cropped())
def test_a_crop_never_splits_a_pair_and_refuses_only_what_would(case: tuple[Session, list[Span]]) -> None:
    session, spans = case
    kept = _kept(spans)
    splits = any((call in kept) != (result in kept) for call, result in session.tool_pairs())
    if not kept:
        return
    if splits:
        with pytest.raises(SplitPair):
            session.crop_to(spans)
    else:
        assert len(session.crop_to(spans).tool_pairs()) == sum(call in kept for call, _ in session.tool_pairs())


@given(cropped())
def test_the_order_of_spans_does_not_matter(case: tuple[Session, list[Span]]) -> None:
    session, spans = case

    def outcome(given_spans: list[Span]) -> object:
        try:
            return session.crop_to(given_spans)
        except CropError as problem:
            return type(problem)

    assert outcome(spans) == outcome(spans[::-1]) == outcome(sorted(spans))


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)).map(sorted).map(tuple), max_size=6), spans_within(12))
def test_the_suggestion_is_the_smallest_valid_span_there_is(pairs: list[tuple[int, int]], span: Span) -> None:
    wider = [Span(start, end) for start in range(span.start + 1) for end in range(span.end, 13)]
    smallest = min((other for other in wider if _is_valid(pairs, other)), key=len)
    assert smallest_valid(pairs, span) == smallest


@given(cropped())
def test_a_split_names_a_given_span_and_a_suggestion_that_can_be_cropped(case: tuple[Session, list[Span]]) -> None:
    session, spans = case
    try:
        session.crop_to(spans)
    except SplitPair as problem:
        assert problem.span in spans
        assert problem.suggestion is not None
        assert problem.span.start >= problem.suggestion.start
        assert problem.span.end <= problem.suggestion.end
        session.crop(problem.suggestion)
    except CropError:
        assert not _kept(spans)


@given(cropped())
def test_crop_is_crop_to_of_one_span(case: tuple[Session, list[Span]]) -> None:
    session, (span, *_) = case
    try:
        expected = session.crop_to([span])
    except CropError as problem:
        with pytest.raises(type(problem)):
            session.crop(span)
    else:
        assert session.crop(span) == expected


@settings(max_examples=40)
@given(bodies(), st.lists(any_spans, max_size=3))
def test_nothing_but_a_crop_error_comes_out_of_any_session(body: Common, spans: list[Span]) -> None:
    session = Transcript(Meta(id="s"), body)
    before = copy.deepcopy(session)
    uses: tuple[Callable[[], object], ...] = (
        session.tool_pairs,
        lambda: session.crop_to(spans),
        lambda: [session.crop(span) for span in spans],
    )
    for use in uses:
        try:
            use()
        except CropError as problem:
            assert problem.code.startswith("crop")
    assert session == before


@settings(max_examples=40)
@given(bodies(), any_spans)
def test_a_fragment_is_a_slice_or_none_or_an_error(body: Common, span: Span) -> None:
    session = Transcript(Meta(id="s"), body)
    if span.start < 0 or span.end < span.start:
        with pytest.raises(CropError):
            session.fragment(span)
    elif span.end > len(body):
        assert session.fragment(span) is None
    else:
        assert session.fragment(span) == body[span.start : span.end]


@given(paired())
def test_a_whole_session_crops_to_itself(session: Session) -> None:
    if session.body:
        assert session.crop(Span(0, len(session.body))) == session


def test_a_long_chain_of_pairs_is_followed_in_one_pass() -> None:
    """Each pair drags in the next: a rescan per step would need ten thousand million looks."""
    pairs = [(2 * step, 2 * step + 3) for step in range(100_000)]
    assert smallest_valid(pairs, Span(0, 1)).start == 0
