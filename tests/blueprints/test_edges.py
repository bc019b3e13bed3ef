"""Edges and the tests of values in them: decided by code, from what the visit came to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from handrail.blueprints.edges import Edge, EdgeBase, SeenRegion, SeenResult, Visit, edge_kinds
from handrail.blueprints.edges.output import part_of
from handrail.blueprints.edges.stuck import OnStuck
from handrail.blueprints.predicates import Predicate
from handrail.journal.vocabulary import Bound

_EDGES: TypeAdapter[EdgeBase] = TypeAdapter(Edge)


def _edge(**said: Any) -> EdgeBase:
    return _EDGES.validate_python({"to": "next", **said})


def _result(tool: str, text: str, *, is_error: bool = False) -> SeenResult:
    return SeenResult(tool=tool, text=text, is_error=is_error)


def test_each_kind_says_its_own_name() -> None:
    assert {name: kind.model_fields["when"].default for name, kind in edge_kinds().items()} == {
        name: name for name in ("always", "error", "limit", "model", "output", "region", "stuck", "tool")
    }


def test_kinds_stand_for_the_ends_they_are_about() -> None:
    ends = {name: kind.ends for name, kind in edge_kinds().items() if kind.ends != ("done",)}
    assert ends == {"error": ("error",), "limit": ("limit",), "stuck": ("stuck",)}


_TESTS_RAN = Visit(
    results=(_result("Bash", "2 failed", is_error=True), _result("Bash", "all passed"), _result("Read", "x"))
)


@pytest.mark.parametrize(
    ("said", "is_taken"),
    [
        ({"tool": "Bash", "contains": "passed"}, True),
        ({"tool": "Bash", "contains": "failed"}, False),  # the last result counts
        ({"tool": "Bash", "is_error": False}, True),
        ({"tool": "Bash", "is_error": True}, False),
        ({"tool": "Bash"}, True),
        ({"tool": "Write"}, False),
        ({"tool": "B*", "matches": "all*"}, True),
        ({"tool": "Bash", "matches": "all"}, False),  # a pattern fits all of a text
        ({"tool": "bash"}, False),
    ],
)
def test_a_tool_edge_looks_at_the_last_result_of_its_tool(said: dict[str, Any], is_taken: bool) -> None:
    assert _edge(when="tool", **said).fits(_TESTS_RAN) is is_taken


_REGIONS = {"todo": SeenRegion(texts=("a", "b"), open_items=1), "blank": SeenRegion(texts=(" ",))}


@pytest.mark.parametrize(
    ("said", "is_taken"),
    [
        ({"region": "todo", "has_open_items": True}, True),
        ({"region": "todo", "has_open_items": False}, False),
        ({"region": "nowhere", "has_open_items": False}, True),
        ({"region": "todo", "at_least": 2}, True),
        ({"region": "todo", "at_least": 3}, False),
        ({"region": "todo", "at_most": 1}, False),
        ({"region": "todo", "contains": "a\nb"}, True),
        ({"region": "blank", "is_empty": True}, True),
        ({"region": "nowhere", "is_empty": True}, True),
        ({"region": "todo", "is_empty": True}, False),
    ],
)
def test_a_region_edge_looks_at_what_the_region_holds(said: dict[str, Any], is_taken: bool) -> None:
    assert _edge(when="region", **said).fits(Visit(regions=_REGIONS)) is is_taken


_OUTPUT = {"verdict": "fail", "tests": {"failed": 3}, "is_done": True, "findings": []}


@pytest.mark.parametrize(
    ("said", "is_taken"),
    [
        ({"field": "verdict", "equals": "fail"}, True),
        ({"field": "verdict", "one_of": ["pass", "fail"]}, True),
        ({"field": "verdict", "one_of": ["pass"]}, False),
        ({"field": "tests.failed", "at_least": 1}, True),
        ({"field": "tests.failed", "at_most": 2}, False),
        ({"field": "tests.failed", "equals": 3.0}, True),
        ({"field": "is_done", "equals": True}, True),
        ({"field": "is_done", "equals": 1}, False),
        ({"field": "is_done", "at_least": 1}, False),
        ({"field": "findings", "is_empty": True}, True),
        ({"field": "findings", "at_most": 0}, True),
        ({"field": "nothing", "is_empty": True}, True),
        ({"field": "nothing", "at_least": 0}, False),
        ({"field": "verdict.deeper", "is_empty": True}, True),
        ({"contains": '"verdict":"fail"'}, True),
    ],
)
def test_an_output_edge_looks_at_the_named_part(said: dict[str, Any], is_taken: bool) -> None:
    assert _edge(when="output", **said).fits(Visit(output=_OUTPUT)) is is_taken


def test_an_output_edge_reads_the_text_of_an_answer() -> None:
    assert _edge(when="output", contains="done").fits(Visit(output="All done."))


def test_a_part_of_what_is_no_object_is_nothing() -> None:
    assert part_of("text", "a") is None
    assert part_of({"a": 1}, None) == {"a": 1}


@pytest.mark.parametrize(
    ("visit", "why"),
    [
        (Visit(rounds=3), None),
        (Visit(rounds=4), "4 rounds (stuck at 4)"),
        (Visit(tool_calls=9), "9 tool calls (stuck at 9)"),
        (Visit(same_file_edits=2), "2 edits of one file (stuck at 2)"),
        (Visit(seconds=60), "60 s of work (stuck at 60)"),
        (Visit(seconds=59.9), None),
        (Visit(rounds=9, same_file_edits=9), "9 edits of one file (stuck at 2)"),
    ],
)
def test_stuck_is_measured_and_the_first_threshold_is_named(visit: Visit, why: str | None) -> None:
    edge = _edge(when="stuck", rounds=4, tool_calls=9, same_file_edits=2, time="1m")
    assert isinstance(edge, OnStuck)
    assert edge.reached(visit) == why
    assert edge.fits(visit) is (why is not None)


def test_a_limit_edge_is_for_the_bounds_it_names_or_for_all() -> None:
    visit = Visit(ended="limit", bound=Bound.MAX_ROUNDS)
    assert _edge(when="limit").fits(visit)
    assert _edge(when="limit", bounds=["max_rounds", "max_cost"]).fits(visit)
    assert not _edge(when="limit", bounds=["max_cost"]).fits(visit)


def test_code_never_takes_an_edge_that_is_the_models_to_choose() -> None:
    assert not _edge(when="model", is_default=True).fits(_TESTS_RAN)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(value=_JSON)
def test_a_value_is_equal_to_itself_and_any_test_answers(value: Any) -> None:
    if value is not None:
        assert Predicate(equals=value).holds(value)
    tests = [Predicate(at_least=0), Predicate(at_most=0), Predicate(contains="a"), Predicate(matches="*a*")]
    assert all(isinstance(test.holds(value), bool) for test in tests)
    assert Predicate(is_empty=True).holds(value) is not Predicate(is_empty=False).holds(value)
