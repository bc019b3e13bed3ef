"""Replies: which option a word means, what each kind of question takes, and that nothing is ever guessed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handrail.blueprints.labels import AnswerRefused
from handrail.journal.events import AskClosed, AskOpened
from handrail.journal.vocabulary import AskKind, AskOutcome
from handrail.runs.asks.offers import find_offer, offers_of
from handrail.runs.asks.replies import Reply, answer_to
from tests.runs.waiting import ALL, APPROVAL, CHOICE, CONFIRM, EDIT, POINT, REVIEW, WORDS, optional

REVISE = "Revise - I'll describe changes"


def refusal(opened: AskOpened, **reply: Any) -> AnswerRefused:
    with pytest.raises(AnswerRefused) as caught:
        answer_to(opened, Reply(**reply))
    return caught.value


def chosen(opened: AskOpened, **reply: Any) -> str | None:
    return answer_to(opened, Reply(**reply)).choice


# Words, numbers, labels -----------------------------------------------------------------------------------------


def test_every_option_has_a_word_and_a_number() -> None:
    assert [(1, "approve"), (2, "revise"), (3, "edit"), (4, "abort")] == [
        (one.number, one.word) for one in offers_of(POINT)
    ]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (("Yes", "No"), ["yes", "no"]),
        (("Ship to staging", "Ship to production"), ["ship-to-staging", "ship-to-production"]),
        (("Retry - now", "Retry - later", "Stop"), ["retry-now", "retry-later", "stop"]),
        (("!!!", "???"), ["option-1", "option-2"]),
        (("Größe", "Maß"), ["größe", "maß"]),
        (("A", "a"), ["option-1", "option-2"]),
        (("1", "2"), ["1", "2"]),
    ],
)
def test_words_are_made_of_labels_and_tell_them_apart(labels: tuple[str, ...], words: list[str]) -> None:
    assert words == [one.word for one in offers_of(replace(CHOICE, options=labels))]


@pytest.mark.parametrize(
    ("option", "label"),
    [
        ("approve", "Approve"),
        ("Approve", "Approve"),
        ("APPROVE", "Approve"),
        ("appr", "Approve"),
        ("revise", REVISE),
        ("Revise – I'll describe changes", REVISE),
        ("rev", REVISE),
        ("2", REVISE),
        (" edit ", "Edit"),
        ("ab", "Abort"),
    ],
)
def test_row_99_an_option_is_chosen_by_word_number_label_or_a_clear_beginning(option: str, label: str) -> None:
    assert label == chosen(POINT, option=option)


def test_row_10_an_option_is_chosen_by_its_number() -> None:
    assert [one.label for one in offers_of(POINT)] == [chosen(POINT, number=number) for number in (1, 2, 3, 4)]


@pytest.mark.parametrize("option", ["größe", "GRÖSSE", "grösse", "gr"])
def test_words_are_found_in_any_case(option: str) -> None:
    assert "Größe" == chosen(replace(CHOICE, options=("Größe", "Maß")), option=option)


def test_a_label_that_is_a_number_is_itself_before_it_counts() -> None:
    assert "1" == chosen(replace(CHOICE, options=("2", "1")), option="1")


@pytest.mark.parametrize("option", ["", " ", "a", "yes please", "0", "5", "-1", "approve it", "aprove", "approve edit"])
def test_row_14_what_means_no_option_or_several_is_refused_with_the_options(option: str) -> None:
    problem = refusal(POINT, option=option)
    assert ("approve", f"revise ({REVISE})", "edit", "abort") == problem.options


def test_an_ambiguous_beginning_names_the_candidates() -> None:
    assert "'a' could be 'approve', 'abort'" == str(refusal(POINT, option="a").problems[0])


@pytest.mark.parametrize("number", [0, 5, -1, 99])
def test_row_11_a_number_out_of_range_is_refused(number: int) -> None:
    assert f"there is no option {number}" in refusal(POINT, number=number).problems


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({"number": 1, "option": "approve"}, "option and number"),
        ({"number": 1, "words": "go"}, "number and words"),
        ({"is_yes": True, "option": "yes"}, "option and is_yes"),
    ],
)
@pytest.mark.parametrize("opened", ALL)
def test_row_12_an_answer_that_says_two_things_says_none(opened: AskOpened, reply: dict[str, Any], told: str) -> None:
    assert any(told in problem for problem in refusal(opened, **reply).problems)


# Approvals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "outcome", "is_allowed", "grant"),
    [
        ({"option": "approve"}, AskOutcome.ANSWERED, True, "once"),
        ({"option": "allow"}, AskOutcome.ANSWERED, True, "once"),
        ({"is_yes": True}, AskOutcome.ANSWERED, True, "once"),
        ({"option": "approve-stage"}, AskOutcome.ANSWERED, True, "stage"),
        ({"option": "approve-run"}, AskOutcome.ANSWERED, True, "run"),
        ({"number": 3}, AskOutcome.ANSWERED, True, "run"),
        ({"option": "deny"}, AskOutcome.DENIED, False, "once"),
        ({"is_yes": False}, AskOutcome.DENIED, False, "once"),
    ],
)
def test_row_109_an_approval_is_given_for_as_long_as_it_says(
    reply: dict[str, Any], outcome: AskOutcome, is_allowed: bool, grant: str
) -> None:
    closed = answer_to(APPROVAL, Reply(**reply, comment="why"))
    assert (outcome, is_allowed, grant, "why") == (closed.outcome, closed.is_allowed, closed.grant, closed.comment)


def test_where_there_is_no_stage_nothing_is_approved_for_one() -> None:
    assert ["approve", "approve-run", "deny"] == [one.word for one in offers_of(replace(APPROVAL, stage=None))]


@pytest.mark.parametrize("option", ["a", "appr", "approve-", "d", "den", "y", "ok", "go ahead"])
def test_an_approval_takes_whole_words_only(option: str) -> None:
    refusal(APPROVAL, option=option)


@pytest.mark.parametrize("words", ["approve", "yes", "deny", "do NOT run that", "go ahead"])
def test_rows_53_and_63_words_never_approve_and_never_deny(words: str) -> None:
    assert "words decide nothing" in str(refusal(APPROVAL, words=words))


def test_row_121_nothing_at_all_decides_nothing() -> None:
    refusal(APPROVAL)
    refusal(APPROVAL, comment="hm")
    refusal(optional(APPROVAL))


def test_row_156_a_call_may_be_approved_with_changed_arguments() -> None:
    closed = answer_to(APPROVAL, Reply(edited='{ "place": "cache" }'))
    assert (True, '{"place":"disk"}', '{"place":"cache"}') == (closed.is_allowed, closed.before, closed.after)


@pytest.mark.parametrize(
    "edited", ["", "cache", "[1]", '"x"', "{", "null", "{" * 10_000, '{"a":' * 600 + "1" + "}" * 600]
)
def test_changed_arguments_that_are_no_object_are_refused(edited: str) -> None:
    assert "the changed arguments are" in str(refusal(APPROVAL, edited=edited))


@pytest.mark.parametrize("option", ["deny", "approve-run", "approve-stage"])
def test_changed_arguments_go_with_a_yes_for_once_and_nothing_else(option: str) -> None:
    refusal(APPROVAL, option=option, edited='{"place":"cache"}')


# Yes, no, words, documents ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "label"), [({"is_yes": True}, "Yes"), ({"is_yes": False}, "No"), ({"option": "no"}, "No")]
)
def test_row_100_a_confirmation_is_a_yes_or_a_no(reply: dict[str, Any], label: str) -> None:
    assert label == chosen(CONFIRM, **reply)


@pytest.mark.parametrize("option", ["y", "n", "ye", "yes please", "sure"])
def test_a_confirmation_takes_whole_words_only(option: str) -> None:
    refusal(CONFIRM, option=option)


@pytest.mark.parametrize("opened", [POINT, CHOICE, WORDS, REVIEW, EDIT])
def test_yes_is_no_answer_where_it_was_not_offered(opened: AskOpened) -> None:
    refusal(opened, is_yes=True)


@pytest.mark.parametrize("words", ["", "  ", "\n\t"])
def test_row_16_blank_words_are_no_answer_to_a_required_question(words: str) -> None:
    assert "needs an answer" in str(refusal(WORDS, words=words))


@pytest.mark.parametrize("opened", [POINT, CHOICE, WORDS])
def test_row_13_nothing_is_no_answer_to_a_required_question_and_skips_an_optional_one(opened: AskOpened) -> None:
    refusal(opened)
    closed = answer_to(optional(opened), Reply())
    assert (AskOutcome.ANSWERED, None, None, False) == (closed.outcome, closed.choice, closed.words, closed.is_allowed)


@pytest.mark.parametrize("words", ["Abort", "approve", "Edit"])
def test_row_15_words_never_choose_an_option(words: str) -> None:
    refusal(POINT, words=words)
    assert words == answer_to(replace(POINT, options=(), may_type=True), Reply(words=words)).words


def test_words_are_an_answer_beside_options_only_where_that_was_said() -> None:
    refusal(CHOICE, words="straight on")
    assert "straight on" == answer_to(replace(CHOICE, may_type=True), Reply(words="straight on")).words
    assert "too long" == answer_to(REVIEW, Reply(words="too long")).words
    assert "Acknowledge" == chosen(REVIEW, option="acknowledge")


def test_a_question_for_words_has_no_options() -> None:
    assert "answered in words" in str(refusal(WORDS, option="because"))
    assert "answered in words" in str(refusal(WORDS, number=1))


def test_row_102_an_edit_is_the_whole_changed_text() -> None:
    closed = answer_to(EDIT, Reply(edited="two\n", comment="shorter"))
    assert ("one\n", "two\n", "shorter") == (closed.before, closed.after, closed.comment)


@pytest.mark.parametrize("reply", [{"option": "Approve"}, {"number": 1}, {"is_yes": True}, {"words": "two"}, {}])
def test_row_60_an_edit_is_not_answered_by_a_choice(reply: dict[str, Any]) -> None:
    refusal(EDIT, **reply)


@pytest.mark.parametrize("opened", [EDIT, POINT])
@pytest.mark.parametrize("edited", ["", " \n"])
def test_rows_31_and_50_an_edit_never_empties_a_document(opened: AskOpened, edited: str) -> None:
    more = {"option": "edit"} if opened is POINT else {}
    assert "never empties" in str(refusal(opened, edited=edited, **more))


def test_row_48_an_edit_option_may_bring_the_text_along_and_the_text_alone_chooses_it() -> None:
    for reply in (Reply(option="edit", edited="# New\n"), Reply(edited="# New\n")):
        closed = answer_to(POINT, reply)
        assert ("Edit", "# The plan\n", "# New\n") == (closed.choice, closed.before, closed.after)
    assert None is answer_to(POINT, Reply(option="edit")).after


@pytest.mark.parametrize("option", ["approve", "abort", "revise"])
def test_a_changed_text_goes_with_no_other_option(option: str) -> None:
    assert "edits nothing" in str(refusal(POINT, option=option, edited="# New\n"))


@pytest.mark.parametrize("opened", [CHOICE, WORDS, CONFIRM, REVIEW])
def test_where_there_is_nothing_to_edit_a_changed_text_is_refused(opened: AskOpened) -> None:
    refusal(opened, edited="x")


# Comments and digests ---------------------------------------------------------------------------------------------


def test_row_66_a_comment_that_is_required_is_required_and_goes_with_the_answer() -> None:
    opened = replace(POINT, comments=("Revise – I'll describe changes",))
    assert "revise needs a comment" in refusal(opened, option="revise").problems
    assert "revise needs a comment" in refusal(opened, option="revise", comment="  ").problems
    assert "too long" == answer_to(opened, Reply(option="revise", comment="too long")).comment
    assert None is answer_to(opened, Reply(option="approve")).comment


@pytest.mark.parametrize("opened", ALL)
def test_row_84_a_reply_to_something_else_than_what_is_asked_is_refused(opened: AskOpened) -> None:
    assert any("has changed" in problem for problem in refusal(opened, digest="another", option="x").problems)


def test_a_reply_to_what_was_shown_is_taken() -> None:
    assert "Approve" == chosen(POINT, option="approve", digest="d1")


def test_all_problems_are_told_at_once() -> None:
    opened = replace(POINT, comments=(REVISE,))
    problems = refusal(opened, option="revise", words="x", edited="y", digest="z").problems
    assert 4 == len(problems)


@pytest.mark.parametrize("field", ["option", "words", "edited", "comment"])
def test_a_reply_has_an_end(field: str) -> None:
    assert any("longer than 1,000,000" in problem for problem in refusal(POINT, **{field: "x" * 1_000_001}).problems)


# Whatever is replied ----------------------------------------------------------------------------------------------

texts = (
    st.none()
    | st.sampled_from(["approve", "deny", "yes", "no", "Abort", "edit", "", " ", "left"])
    | st.text(max_size=8)
)
replies = st.builds(
    Reply,
    option=texts,
    number=st.none() | st.integers(-1, 6),
    is_yes=st.none() | st.booleans(),
    words=texts,
    edited=texts | st.just('{"place":"x"}'),
    comment=texts,
    digest=st.none() | st.sampled_from(["d1", "a1", "zz"]),
)


def is_yes(closed: AskClosed, opened: AskOpened) -> bool:
    return closed.is_allowed or opened.effects.get(closed.choice or "") == "approve"


@given(st.sampled_from(ALL), replies)
def test_nothing_invalid_ever_approves(opened: AskOpened, reply: Reply) -> None:
    try:
        closed = answer_to(opened, reply)
    except AnswerRefused as refused:
        assert refused.problems
        return
    assert closed.ask == opened.ask
    assert closed.choice is None or closed.choice in opened.options
    said = [one for one in (reply.option, reply.number, reply.is_yes, reply.words) if one is not None]
    assert len(said) <= 1
    if is_yes(closed, opened):
        assert reply.words is None
        assert reply.is_yes is not False
        if reply.edited is None:
            assert said
            assert find_offer("approve", opened).effect == "approve"
    if opened.kind is AskKind.APPROVAL:
        assert closed.is_allowed is (closed.outcome is AskOutcome.ANSWERED)
    else:
        assert not closed.is_allowed
