"""A person's word on a moment, as lines and as what it does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from handrail.learning.corrections import (
    MARKED_NO,
    MARKED_YES,
    Correction,
    corrected,
    parse_corrections,
    render_correction,
)
from handrail.learning.interventions import Intervention, find_interventions
from tests.learning.build import agent, session, user

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def said(moment: str, *, is_stepin: bool) -> Correction:
    return Correction(moment=moment, is_stepin=is_stepin, at=NOON)


def two_followups() -> tuple[Intervention, Intervention]:
    talk = session(user("go"), agent("x"), user("no, wrong file"), agent("y"), user("thanks"), agent("z"))
    first, second = find_interventions(talk)
    return first, second


def test_a_correction_survives_its_line() -> None:
    correction = said("a1", is_stepin=True)
    assert parse_corrections(render_correction(correction)) == {"a1": correction}


def test_the_last_word_on_a_moment_counts() -> None:
    lines = render_correction(said("a1", is_stepin=True)) + render_correction(said("a1", is_stepin=False))
    assert parse_corrections(lines)["a1"].is_stepin is False


@pytest.mark.parametrize(
    "damage",
    [
        b'{"moment":"b2","is_ste',
        b"\xff\xfe",
        b"{}",
        b"[]",
        b'{"moment":1,"is_stepin":true,"at":"2026-05-04T12:00:00Z"}',
        b'{"moment":"b2","is_stepin":"yes","at":"2026-05-04T12:00:00Z"}',
        b'{"moment":"b2","is_stepin":true,"at":"2026-05-04T12:00:00"}',
    ],
)
def test_a_line_that_is_none_costs_itself_only(damage: bytes) -> None:
    kept = render_correction(said("a1", is_stepin=True))
    assert list(parse_corrections(damage + b"\n" + kept + damage)) == ["a1"]


def test_a_person_overrules_the_scorer_either_way() -> None:
    pushed, thanked = two_followups()
    words = {pushed.id: said(pushed.id, is_stepin=False), thanked.id: said(thanked.id, is_stepin=True)}
    now_pushed, now_thanked = corrected((pushed, thanked), words)
    assert (now_pushed.is_stepin, now_thanked.is_stepin) == (False, True)
    assert (now_pushed.reasons[0], now_thanked.reasons[0]) == (MARKED_NO, MARKED_YES)


def test_moments_nobody_spoke_of_are_as_they_were() -> None:
    moments = two_followups()
    assert corrected(moments, {"another": said("another", is_stepin=True)}) == moments
