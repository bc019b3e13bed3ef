"""What a point declares against itself is found, all at once, and a good point has no fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from handrail import InteractionPoint
from handrail.blueprints.point_faults import point_faults

from .test_points import CONFIRM, POINT, WORDS, points


def found(**declared: Any) -> list[tuple[str, tuple[str | int, ...]]]:
    data = {"name": "p", "prompt": "?", "style": "multiple_choice", "options": ["Go", "Stop"], **declared}
    return [(one.code, one.path) for one in point_faults(InteractionPoint.model_validate(data))]


@pytest.mark.parametrize("point", [POINT, CONFIRM, WORDS])
def test_a_good_point_has_no_fault(point: InteractionPoint) -> None:
    assert () == point_faults(point)


@pytest.mark.parametrize(
    ("declared", "code", "path"),
    [
        ({"name": " "}, "point-unnamed", ("name",)),
        ({"prompt": ""}, "point-asks-nothing", ("prompt",)),
        ({"style": "confirm"}, "options-not-shown", ("options",)),
        ({"style": "free_text"}, "options-not-shown", ("options",)),
        ({"options": []}, "too-few-options", ("options",)),
        ({"options": ["Go"]}, "too-few-options", ("options",)),
        ({"options": ["Go", " "]}, "empty-option", ("options", 1)),
        ({"options": ["Go - x", "Go – x"]}, "option-twice", ("options", 1)),
        ({"options": ["Go", "Go"]}, "option-twice", ("options", 1)),
        ({"abort_options": ["Stopp"]}, "label-unknown", ("abort_options", 0)),
        ({"edit_options": ["Edit"]}, "label-unknown", ("edit_options", 0)),
        ({"directives": {"Revise": "x"}}, "label-unknown", ("directives", "Revise")),
        ({"goto": {"Next": "x"}}, "label-unknown", ("goto", "Next")),
        ({"comments": ["Why"]}, "label-unknown", ("comments", 0)),
        ({"abort_options": ["Stop", "Stop"]}, "label-twice", ("abort_options", 1)),
        ({"abort_options": ["Stop"], "edit_options": ["Stop"]}, "label-in-two-lists", ("abort_options",)),
        ({"abort_options": ["Stop"], "directives": {"Stop": "x"}}, "label-in-two-lists", ("directives",)),
        ({"abort_options": ["Stop"], "goto": {"Stop": "x"}}, "label-in-two-lists", ("abort_options",)),
        ({"abort_options": ["Stop"], "directives": {"Go": "x"}}, "no-way-to-approve", ("options",)),
        ({"directives": {"Go": "x"}, "revisions": 0}, "no-revisions", ("revisions",)),
        ({"options": ["Yes", "No"]}, "no-aborts", ("options", 1)),
        ({"approvers": ["ann"], "quorum": 2}, "quorum-out-of-reach", ("quorum",)),
        ({"style": "free_text", "options": [], "quorum": 2}, "quorum-of-free-text", ("quorum",)),
        ({"style": "free_text", "options": [], "abort_options": ["Stop"]}, "effect-of-free-text", ("abort_options",)),
        ({"on_deadline": "abort"}, "deadline-missing", ("on_deadline",)),
        ({"deadline": "1h", "remind_after": "2h"}, "reminder-too-late", ("remind_after",)),
        ({"unattended": "approve"}, "approves-unattended", ("unattended",)),
    ],
)
def test_each_fault_is_found_where_it_is(declared: dict[str, Any], code: str, path: tuple[str | int, ...]) -> None:
    assert [(code, path)] == found(**declared)


def test_a_label_in_no_option_is_answered_with_the_one_that_was_meant() -> None:
    point = POINT.model_copy(update={"abort_options": ("Abrot",)})
    assert ["Abort"] == [one.suggestion for one in point_faults(point)]


def test_directives_may_lead_elsewhere_and_comments_go_with_everything() -> None:
    assert [] == found(directives={"Stop": "x"}, goto={"Stop": "plan", "Go": "ship"}, comments=["Go", "Stop"])


def test_a_revision_that_leads_on_is_a_way_out() -> None:
    assert [] == found(directives={"Go": "x", "Stop": "y"}, goto={"Go": "next"})


def test_an_optional_point_can_be_left_by_not_answering() -> None:
    assert [] == found(directives={"Go": "x", "Stop": "y"}, required=False)


def test_all_faults_are_reported_at_once() -> None:
    codes = [
        code
        for code, _ in found(name="", prompt="", options=["A", "A"], abort_options=["B"], quorum=2, approvers=["x"])
    ]
    assert ["point-unnamed", "point-asks-nothing", "option-twice", "label-unknown", "quorum-out-of-reach"] == codes


@given(points)
def test_a_point_without_errors_routes_every_option(point: InteractionPoint) -> None:
    if not any(one.level == "error" for one in point_faults(point)):
        assert set(point.labels) == set(point.effects())
