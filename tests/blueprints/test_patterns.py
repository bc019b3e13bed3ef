"""Regular expressions of schemas: those that a text could make run for ever are refused, ordinary ones are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.blueprints.checks.patterns import why_refused


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "(a*)*",
        "([a-z]+)*$",
        "(x+x+)+y",
        r"^(\w+\s?)*$",
        "(a|a)*b",
        "(a|ab)+c",
        "(?:a|b|ab)*c",
        "((a+))+",
        "(a{1,})+",
        "(a{2,500})*",
        "(a?){200}",
        r"(\.\d+)+",
        "a*a*a*a*a*b",
        r".*.*.*=.*",
        r"^\s*\w+\s*$",
        "(?P<x>a+)+",
        "(?=a+)+",
        "[a]*[b]*",
        "(a**",
        "(a{2,50}){2,50}",
        "((a{1,9}){1,9}){1,9}",
        "(a|b){1,50}c",
        "a" * 501,
    ],
)
def test_a_pattern_that_may_run_for_ever_is_refused(pattern: str) -> None:
    assert why_refused(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "^[A-Z]{2,5}-[0-9]+$",
        r"^\d{4}-\d{2}-\d{2}$",
        "^(pass|fail)$",
        r"^v?\d+\.\d{1,3}(-rc\d)?$",
        "https://.*",
        r"^#[0-9a-f]{6}$",
        r"\(a\+\)\+",
        "[(a+)+]",
        "^{}$",
        "^a.*b.*$",
        r"^(\d{1,3}\.){3}\d{1,3}$",
        "^(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$",
        "^(ab?c){2}$",
    ],
)
def test_an_ordinary_pattern_is_taken(pattern: str) -> None:
    assert why_refused(pattern) is None


@given(st.text("ab()[]{}*+?|\\^$,019.", max_size=60))
def test_any_text_is_judged(pattern: str) -> None:
    assert isinstance(why_refused(pattern), str | None)
