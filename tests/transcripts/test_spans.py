"""Spans, fragments, crops and tool pairs: every sentence of the interface, and the edges between them."""

from __future__ import annotations

import pytest

from handrail.errors import TranscriptError
from handrail.transcripts.model import Bash, ToolResult, ToolUse
from handrail.transcripts.spans import (
    AnsweredTwice,
    CallReused,
    CropError,
    EmptyCrop,
    InvalidSpan,
    Span,
    SpanPastEnd,
    SplitPair,
)
from tests.transcripts.build import call, mixed, model, result, session, user

ASKED = session(user(), call("a"), result("a"), model(), user("thanks"))


# Span -------------------------------------------------------------------------------------------------------


def test_a_span_is_half_open() -> None:
    span = Span(2, 4)
    assert [index for index in range(6) if index in span] == [2, 3]
    assert len(span) == 2


@pytest.mark.parametrize(("span", "shown"), [(Span(0, 1), "#1"), (Span(4, 12), "#5-12"), (Span(0, 2), "#1-2")])
def test_a_span_is_shown_as_people_write_it(span: Span, shown: str) -> None:
    assert str(span) == shown


def test_spans_are_values() -> None:
    assert Span(1, 3) == Span(1, 3)
    assert hash(Span(1, 3)) == hash(Span(1, 3))
    assert sorted([Span(5, 9), Span(0, 2), Span(0, 1)]) == [Span(0, 1), Span(0, 2), Span(5, 9)]


@pytest.mark.parametrize("span", [Span(4, 0), Span(-1, 2), Span(-3, -1)])
def test_a_span_that_makes_no_sense_fails_when_it_is_used(span: Span) -> None:
    for use in (ASKED.fragment, ASKED.crop):
        with pytest.raises(InvalidSpan) as caught:
            use(span)
        assert caught.value.span == span


# fragment ---------------------------------------------------------------------------------------------------


def test_a_fragment_is_the_messages_of_the_span() -> None:
    assert ASKED.fragment(Span(1, 3)) == ASKED.body[1:3]


def test_a_fragment_borrows_the_messages_themselves() -> None:
    fragment = ASKED.fragment(Span(0, 5))
    assert fragment is not None
    assert all(ours is theirs for ours, theirs in zip(fragment, ASKED.body, strict=True))


@pytest.mark.parametrize("span", [Span(0, 6), Span(5, 6), Span(9, 9), Span(1 << 70, 1 << 71)])
def test_a_fragment_past_the_end_is_none(span: Span) -> None:
    assert ASKED.fragment(span) is None


@pytest.mark.parametrize("at", [0, 3, 5])
def test_an_empty_fragment_inside_is_empty(at: int) -> None:
    assert ASKED.fragment(Span(at, at)) == ()


def test_a_fragment_does_not_look_at_pairs() -> None:
    assert ASKED.fragment(Span(0, 2)) == ASKED.body[:2]
    reused = session(call("a"), call("a"))
    assert reused.fragment(Span(0, 1)) == reused.body[:1]


# crop -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("span", [Span(0, 5), Span(3, 5), Span(1, 3), Span(0, 1), Span(4, 5)])
def test_a_crop_keeps_the_span_and_the_metadata(span: Span) -> None:
    cropped = ASKED.crop(span)
    assert cropped.body == ASKED.body[span.start : span.end]
    assert cropped.meta == ASKED.meta


def test_a_crop_changes_nothing_in_place() -> None:
    before = session(*ASKED.body)
    ASKED.crop(Span(1, 3))
    assert before == ASKED


@pytest.mark.parametrize("at", [0, 2, 5])
def test_a_crop_keeps_at_least_one_message(at: int) -> None:
    with pytest.raises(EmptyCrop):
        ASKED.crop(Span(at, at))


def test_a_crop_of_an_empty_session_has_nothing_to_keep() -> None:
    with pytest.raises(EmptyCrop):
        session().crop(Span(0, 0))
    with pytest.raises(SpanPastEnd):
        session().crop(Span(0, 1))


@pytest.mark.parametrize(("length", "noun"), [(1, "1 message"), (2, "2 messages"), (0, "0 messages")])
def test_a_span_past_the_end_says_how_long_the_session_is(length: int, noun: str) -> None:
    with pytest.raises(SpanPastEnd, match=rf"{noun}\b"):
        session(*[user()] * length).crop(Span(0, 3))


@pytest.mark.parametrize(
    ("span", "suggestion"),
    [(Span(0, 2), Span(0, 3)), (Span(2, 5), Span(1, 5)), (Span(2, 3), Span(1, 3)), (Span(1, 2), Span(1, 3))],
)
def test_a_crop_that_splits_a_pair_suggests_the_smallest_valid_span(span: Span, suggestion: Span) -> None:
    with pytest.raises(SplitPair) as caught:
        ASKED.crop(span)
    assert (caught.value.span, caught.value.suggestion) == (span, suggestion)
    ASKED.crop(suggestion)


def test_the_suggestion_grows_until_it_is_valid_itself() -> None:
    """What comes in with the missing half may be half of another pair."""
    chained = session(call("a"), call("b"), result("a"), call("c"), result("b"), result("c"), model())
    with pytest.raises(SplitPair) as caught:
        chained.crop(Span(0, 1))
    assert caught.value.suggestion == Span(0, 6)


def test_a_pair_around_the_whole_span_is_no_split() -> None:
    wide = session(call("a"), user(), model(), result("a"))
    assert wide.crop(Span(1, 3)).body == wide.body[1:3]


def test_an_unanswered_call_never_blocks_a_crop() -> None:
    hanging = session(user(), call("a"), user("stop"))
    assert hanging.crop(Span(0, 2)).body == hanging.body[:2]
    assert hanging.crop(Span(1, 2)).body == hanging.body[1:2]


def test_a_result_without_a_call_never_blocks_a_crop() -> None:
    orphan = session(result("x"), model())
    assert orphan.crop(Span(0, 1)).body == orphan.body[:1]


# crop_to ----------------------------------------------------------------------------------------------------


def test_crop_to_closes_the_cut() -> None:
    ten = session(*[user(str(number)) for number in range(10)])
    assert ten.crop_to([Span(0, 3), Span(8, 10)]).body == ten.body[0:3] + ten.body[8:10]


def test_crop_to_keeps_the_sessions_order_and_takes_overlaps_once() -> None:
    ten = session(*[user(str(number)) for number in range(10)])
    assert ten.crop_to([Span(8, 10), Span(0, 3), Span(2, 4)]).body == ten.body[0:4] + ten.body[8:10]


def test_crop_to_keeps_a_pair_whose_halves_stand_in_different_spans() -> None:
    wide = session(call("a"), user(), result("a"))
    assert wide.crop_to([Span(2, 3), Span(0, 1)]).body == (wide.body[0], wide.body[2])


def test_crop_to_names_the_span_that_holds_one_half() -> None:
    with pytest.raises(SplitPair) as caught:
        ASKED.crop_to([Span(4, 5), Span(2, 3)])
    assert caught.value.span == Span(2, 3)
    assert caught.value.suggestion == Span(1, 3)


@pytest.mark.parametrize("spans", [[], [Span(1, 1)], [Span(0, 0), Span(5, 5)]])
def test_crop_to_names_at_least_one_message(spans: list[Span]) -> None:
    with pytest.raises(EmptyCrop):
        ASKED.crop_to(spans)


def test_an_empty_span_beside_a_full_one_is_harmless() -> None:
    assert ASKED.crop_to([Span(2, 2), Span(3, 5)]).body == ASKED.body[3:5]


@pytest.mark.parametrize(("bad", "reason"), [(Span(3, 1), InvalidSpan), (Span(2, 99), SpanPastEnd)])
def test_every_span_is_checked(bad: Span, reason: type[CropError]) -> None:
    with pytest.raises(reason) as caught:
        ASKED.crop_to([Span(0, 1), bad])
    assert caught.value.span == bad


# tool_pairs -------------------------------------------------------------------------------------------------


def test_pairs_come_in_the_order_the_results_arrive() -> None:
    parallel = session(call("a", "b"), result("b"), result("a"))
    assert parallel.tool_pairs() == [(0, 1), (0, 2)]


def test_a_call_and_its_result_in_one_message_are_a_pair_that_cannot_be_cut() -> None:
    both = session(user(), mixed("user", ToolUse("a", Bash("ls")), ToolResult("a")), model())
    assert both.tool_pairs() == [(1, 1)]
    assert both.crop(Span(1, 2)).body == both.body[1:2]


@pytest.mark.parametrize("body", [[call("a")], [result("a")], [result("a"), call("a")], []])
def test_what_is_never_answered_or_never_asked_is_no_pair(body: list[object]) -> None:
    assert session(*body).tool_pairs() == []  # type: ignore[arg-type]


def test_an_id_may_be_used_again_once_it_was_answered() -> None:
    assert session(call("a"), result("a"), call("a"), result("a")).tool_pairs() == [(0, 1), (2, 3)]


def test_an_id_used_again_before_its_answer_is_an_error() -> None:
    for body in ([call("a"), call("a"), result("a")], [call("a", "a")]):
        with pytest.raises(CallReused):
            session(*body).tool_pairs()


def test_an_id_answered_twice_is_an_error() -> None:
    for body in ([call("a"), result("a"), result("a")], [call("a"), result("a", "a")]):
        with pytest.raises(AnsweredTwice):
            session(*body).tool_pairs()


def test_a_second_answer_to_a_reused_id_is_an_error_too() -> None:
    with pytest.raises(AnsweredTwice):
        session(call("a"), result("a"), call("a"), result("a"), result("a")).tool_pairs()


def test_a_session_with_ambiguous_pairs_is_not_cropped() -> None:
    with pytest.raises(CallReused) as caught:
        session(user(), call("a"), call("a")).crop(Span(0, 1))
    assert caught.value.span is None


def test_a_stray_result_before_its_call_does_not_answer_it() -> None:
    assert session(result("a"), call("a"), result("a")).tool_pairs() == [(1, 2)]


# errors -----------------------------------------------------------------------------------------------------


def test_every_crop_error_has_its_own_code_and_is_a_value_error() -> None:
    family = (InvalidSpan, SpanPastEnd, EmptyCrop, SplitPair, CallReused, AnsweredTwice)
    assert len({reason.code for reason in family}) == len(family)
    for reason in family:
        assert issubclass(reason, CropError)
        assert issubclass(reason, TranscriptError)
        assert issubclass(reason, ValueError)


def test_the_hint_of_a_split_says_what_would_do() -> None:
    with pytest.raises(SplitPair) as caught:
        ASKED.crop(Span(0, 2))
    assert caught.value.hint is not None
    assert "#1-3" in caught.value.hint
