"""Interaction points: what is declared, how labels match, and where each answer sends the run."""

from __future__ import annotations

import copy
import itertools
import tomllib
from datetime import timedelta

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from handrail import Aborted, Approved, Directed, Edited, InteractionPoint, InteractionStyle, Skipped
from handrail.blueprints.labels import AnswerRefused, find_label, normalised
from handrail.blueprints.points import AtCap, OnChange, OnDeadline, Unattended

POINT = InteractionPoint(
    name="plan_approval",
    prompt="Approve the plan?",
    required=True,
    style=InteractionStyle.MULTIPLE_CHOICE,
    options=["Approve", "Revise - I'll describe changes", "Edit", "Abort"],
    directives={"Revise – I'll describe changes": "Ask what to change, then plan again."},
    edit_options=["Edit"],
    abort_options=["Abort"],
    document_region="plan",
)
CONFIRM = InteractionPoint(name="ship", prompt="Ship it?", style=InteractionStyle.CONFIRM)
WORDS = InteractionPoint(name="wishes", prompt="Anything else?")


def refusal(point: InteractionPoint, answer: str | bool | None) -> AnswerRefused:
    with pytest.raises(AnswerRefused) as caught:
        point.route(answer)
    return caught.value


# The seed's point ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "routed"),
    [
        ("Approve", Approved()),
        ("Revise - I'll describe changes", Directed("Ask what to change, then plan again.")),
        ("Edit", Edited()),
        ("Abort", Aborted()),
    ],
)
def test_each_option_goes_where_it_is_declared_to_go(answer: str, routed: object) -> None:
    assert routed == POINT.route(answer)


def test_an_answer_that_fits_no_option_is_refused_with_the_options() -> None:  # H 14
    problem = refusal(POINT, "yes please")
    assert ("Approve", "Revise - I'll describe changes", "Edit", "Abort") == problem.options
    assert all(repr(option) in str(problem) for option in problem.options)
    assert isinstance(problem, ValueError)


def test_a_point_without_anything_optional_has_the_seeds_defaults() -> None:
    point = InteractionPoint(name="p", prompt="?")
    assert (True, InteractionStyle.FREE_TEXT, (), {}, (), (), None) == (
        point.required,
        point.style,
        point.options,
        point.directives,
        point.abort_options,
        point.edit_options,
        point.document_region,
    )


def test_what_is_beyond_the_seed_keeps_a_person_in_charge_by_default() -> None:
    assert (3, AtCap.HOLD, OnDeadline.WAIT, Unattended.HOLD, OnChange.REASK) == (
        POINT.revisions,
        POINT.at_cap,
        POINT.on_deadline,
        POINT.unattended,
        POINT.on_change,
    )


# Matching -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dash", "-‐‑‒–—―−﹘﹣－")
def test_rows_1_and_2_dashes_are_one(dash: str) -> None:
    assert "Revise - x" == normalised(f"Revise {dash} x")
    assert Directed("Ask what to change, then plan again.") == POINT.route(f"Revise {dash} I'll describe changes")


@pytest.mark.parametrize("space", [" ", "\t", "\n", "   ", "\u00a0", " \t\n "])
def test_row_3_white_space_collapses(space: str) -> None:
    assert "a b" == normalised(f"{space}a{space}b{space}")
    assert Approved() == POINT.route(f"{space}Approve{space}")


def test_row_4_an_exact_label_wins_over_its_folded_twin() -> None:
    assert "Go – now" == find_label("Go – now", ("Go - now", "Go – now"))


def test_row_4_an_answer_that_could_be_two_labels_is_none_of_them() -> None:
    assert find_label("Go — now", ("Go - now", "Go – now")) is None


@pytest.mark.parametrize("answer", ["approve", "APPROVE", "Appr", "Approve!", "Approve Edit", "1", "Approve\u200b"])
def test_row_5_case_prefixes_and_likeness_are_no_match_for_a_label(answer: str) -> None:
    refusal(POINT, answer)


def test_row_6_an_option_in_no_list_approves() -> None:
    assert "approve" == POINT.effects()["Approve"]


@pytest.mark.parametrize("lists", [*itertools.combinations(("abort_options", "edit_options", "directives"), 2)])
def test_rows_7_and_8_an_option_with_two_effects_is_refused_not_resolved(lists: tuple[str, str]) -> None:
    declared = {name: {"Go": "again"} if name == "directives" else ["Go"] for name in lists}
    point = InteractionPoint.model_validate(
        {"name": "p", "prompt": "?", "style": "multiple_choice", "options": ["Go", "Stop"], **declared}
    )
    assert "several effects" in str(refusal(point, "Go"))
    assert Approved() == point.route("Stop")


@pytest.mark.parametrize("listed", ["Wait – now", "Wait - now", "Wait\u2003— now"])
def test_row_9_effects_are_looked_up_by_the_folded_label(listed: str) -> None:
    point = POINT.model_copy(update={"options": ("Go", "Wait - now"), "abort_options": (listed,)})
    assert Aborted() == point.route("Wait - now")


def test_two_directives_for_one_option_leave_it_in_doubt_and_never_approve() -> None:
    point = POINT.model_copy(
        update={"directives": {"Approve – x": "a", "Approve — x": "b"}, "options": ("Approve - x",)}
    )
    assert "several effects" in str(refusal(point, "Approve - x"))


def test_the_same_abort_twice_still_aborts() -> None:
    point = POINT.model_copy(update={"abort_options": ("Abort – x", "Abort — x"), "options": ("Abort - x", "Approve")})
    assert Aborted() == point.route("Abort - x")


# Empty and free answers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", [POINT, CONFIRM, WORDS])
@pytest.mark.parametrize("answer", [None, "", " ", "\n\t"])
def test_rows_13_and_16_a_required_point_takes_no_empty_answer(point: InteractionPoint, answer: str | None) -> None:
    assert "needs an answer" in str(refusal(point, answer))


@pytest.mark.parametrize("point", [POINT, CONFIRM, WORDS])
@pytest.mark.parametrize("answer", [None, "", " "])
def test_an_optional_point_records_a_skip_which_is_no_approval(point: InteractionPoint, answer: str | None) -> None:
    assert Skipped() == point.model_copy(update={"required": False}).route(answer)


@pytest.mark.parametrize("answer", ["Stop", "Edit", "No", "Revise"])
def test_row_15_words_typed_freely_never_match_an_effect(answer: str) -> None:
    point = WORDS.model_copy(
        update={"abort_options": ("Stop", "No"), "edit_options": ("Edit",), "directives": {"Revise": "again"}}
    )
    assert Approved() == point.route(answer)


# Yes and no ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "routed"), [(True, Approved()), ("Yes", Approved()), (False, Aborted()), ("No", Aborted())]
)
def test_row_64_yes_approves_and_no_aborts_where_nothing_else_is_said(answer: str | bool, routed: object) -> None:
    assert routed == CONFIRM.route(answer)


@pytest.mark.parametrize(
    ("declared", "routed"),
    [
        ({"directives": {"No": "Do it again."}}, Directed("Do it again.")),
        ({"edit_options": ["No"]}, Edited()),
        ({"abort_options": ["No"]}, Aborted()),
        ({"goto": {"No": "plan"}}, Directed(goto="plan")),
        ({"directives": {"No": "Again."}, "goto": {"No": "plan"}}, Directed("Again.", "plan")),
    ],
)
def test_a_list_may_name_the_no_and_none_makes_it_approve(declared: dict[str, object], routed: object) -> None:
    point = InteractionPoint.model_validate({"name": "p", "prompt": "?", "style": "confirm", **declared})
    assert routed == point.route(False)


@pytest.mark.parametrize("no", ["No", "no", "NO", " No "])
def test_row_64_a_no_among_options_never_approves_either(no: str) -> None:
    point = InteractionPoint(name="p", prompt="?", style=InteractionStyle.MULTIPLE_CHOICE, options=["Yes", no])
    assert Aborted() == point.route(no)


@pytest.mark.parametrize("answer", ["yes", "Yes please", "y", "maybe"])
def test_a_confirmation_takes_only_its_two_words(answer: str) -> None:
    assert ("Yes", "No") == refusal(CONFIRM, answer).options


def test_a_choice_is_not_answered_by_true_or_false() -> None:
    refusal(POINT, True)


# Edges -----------------------------------------------------------------------------------------------------------


def test_row_65_an_option_may_name_the_stage_it_leads_to() -> None:
    point = POINT.model_copy(update={"goto": {"Approve": "ship", "Revise - I'll describe changes": "plan"}})
    assert Approved("ship") == point.route("Approve")
    assert Directed("Ask what to change, then plan again.", "plan") == point.route("Revise - I'll describe changes")


def test_an_abort_or_an_edit_that_leads_somewhere_is_in_doubt() -> None:
    point = POINT.model_copy(update={"goto": {"Abort": "ship"}})
    refusal(point, "Abort")


# A value ---------------------------------------------------------------------------------------------------------

labels = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(str.strip)
points = st.builds(
    InteractionPoint,
    name=labels,
    prompt=labels,
    required=st.booleans(),
    style=st.sampled_from(InteractionStyle),
    options=st.lists(labels, max_size=5),
    directives=st.dictionaries(labels, labels, max_size=3),
    abort_options=st.lists(labels, max_size=2),
    edit_options=st.lists(labels, max_size=2),
    document_region=st.none() | labels,
    goto=st.dictionaries(labels, labels, max_size=2),
    revisions=st.integers(0, 9),
    deadline=st.none() | st.integers(1, 10**8).map(lambda seconds: timedelta(seconds=seconds)),
    remind_after=st.none() | st.sampled_from(["3d", "1h30m", 45, 0.5]),
    comments=st.lists(labels, max_size=2),
    approvers=st.lists(labels, max_size=2),
    quorum=st.integers(1, 3),
    creator_may_answer=st.booleans(),
)


@given(points)
def test_a_point_goes_through_json_and_toml_unchanged(point: InteractionPoint) -> None:
    assert point == InteractionPoint.model_validate_json(point.model_dump_json())
    data = point.model_dump(mode="json", exclude_defaults=True)
    assert point == InteractionPoint.model_validate(tomllib.loads(tomli_w.dumps(data)))


@given(points)
def test_copies_are_equal_and_their_own(point: InteractionPoint) -> None:
    twins = (copy.copy(point), copy.deepcopy(point), point.model_copy())
    assert [point] * 3 == list(twins)
    assert all(one is not point for one in twins)


@given(points, labels | st.booleans() | st.none())
def test_what_fits_no_option_never_approves(point: InteractionPoint, answer: str | bool | None) -> None:
    try:
        routed = point.route(answer)
    except AnswerRefused:
        return
    is_blank = answer is None or (isinstance(answer, str) and not answer.strip())
    if isinstance(routed, Approved):
        assert not is_blank
        if point.style is not InteractionStyle.FREE_TEXT:
            assert point.option(answer if answer is not None else "") in point.labels
    if isinstance(routed, Skipped):
        assert is_blank and not point.required


def test_a_point_cannot_be_changed_and_does_not_share_what_it_was_made_of() -> None:
    directives, options = {"Again": "again"}, ["Go", "Again"]
    point = InteractionPoint(
        name="p", prompt="?", style=InteractionStyle.MULTIPLE_CHOICE, options=options, directives=directives
    )
    directives["Go"] = "never"
    options.append("Stop")
    assert (("Go", "Again"), Approved()) == (point.options, point.route("Go"))
    with pytest.raises(ValidationError, match="frozen"):
        point.name = "q"


@pytest.mark.parametrize(
    "data",
    [
        {"name": "p"},
        {"name": "p", "prompt": "?", "style": "essay"},
        {"name": "p", "prompt": "?", "option": ["a"]},
        {"name": "p", "prompt": "?", "options": "abc"},
        {"name": "p", "prompt": "?", "options": [1]},
        {"name": "p", "prompt": "?", "revisions": -1},
        {"name": "p", "prompt": "?", "quorum": 0},
        {"name": "p", "prompt": "?", "deadline": "soon"},
        {"name": "p", "prompt": "?", "deadline": 0},
        {"name": "p", "prompt": "?", "deadline": True},
    ],
)
def test_what_is_no_point_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        InteractionPoint.model_validate(data)


def test_every_fault_is_reported_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        InteractionPoint.model_validate({"nam": "p", "quorum": 0, "deadline": "soon"})
    assert {("name",), ("prompt",), ("nam",), ("quorum",), ("deadline",)} == {
        one["loc"] for one in caught.value.errors()
    }
