"""Where rules count: never wider than the evidence, and an unknown place is no place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.learning.rules.model import RuleScope
from handrail.learning.rules.scope import Place, covers, is_within, matches, merged, overlap, scope_of

_names = st.sampled_from(("a", "b", "c"))
_places = st.builds(
    Place,
    repository=st.none() | _names,
    harness=st.none() | _names,
    tools=st.lists(_names, max_size=2, unique=True).map(tuple),
    files=st.lists(st.sampled_from(("src/x.py", "src/deep/y.py", "docs/z.md")), max_size=2).map(tuple),
)


@given(st.lists(_places, min_size=1, max_size=4), _places)
def test_a_rule_rides_only_where_some_of_its_evidence_was(evidence: list[Place], run: Place) -> None:
    if matches(scope_of(evidence), run):
        assert run.repository in {place.repository for place in evidence}
        assert run.harness in {place.harness for place in evidence}


@given(st.lists(_places, min_size=1, max_size=4), _places)
def test_more_evidence_of_one_kind_never_forgets_where_the_rest_was(evidence: list[Place], more: Place) -> None:
    one, other = scope_of(evidence), scope_of([more])

    both = merged([one, other])

    assert is_within(one, both)
    assert is_within(other, both)


@given(_places)
def test_no_evidence_matches_nothing(run: Place) -> None:
    assert not matches(scope_of([]), run)


def test_evidence_of_an_unknown_place_is_dark() -> None:
    assert scope_of([Place(harness="codex")]).is_dark


def test_anywhere_matches_everywhere() -> None:
    assert matches(RuleScope(), Place())


def test_paths_narrow_to_the_deepest_folder_that_holds_all() -> None:
    places = [Place(repository="r", harness="h", files=(f"src/deep/{name}",)) for name in ("x.py", "more/y.py")]

    scope = scope_of(places)

    assert scope.paths == ("src/deep/**",)
    assert covers(scope, "src/deep/more/z.py")
    assert not covers(scope, "src/deeper.py")


@pytest.mark.parametrize("files", [("../x.py",), ("/etc/passwd",), ("x.py",), ()])
def test_paths_that_share_no_folder_narrow_nothing(files: tuple[str, ...]) -> None:
    assert scope_of([Place(repository="r", harness="h", files=files)]).paths is None


def test_a_rule_about_tools_rides_where_one_of_them_is() -> None:
    scope = scope_of([Place(repository="r", harness="h", tools=("Bash",))])

    assert matches(scope, Place(repository="r", harness="h", tools=("Read", "Bash")))
    assert not matches(scope, Place(repository="r", harness="h", tools=("Read",)))


def test_rules_of_two_repositories_never_meet() -> None:
    assert not overlap(RuleScope(repositories=("a",)), RuleScope(repositories=("b",)))
    assert overlap(RuleScope(repositories=("a",)), RuleScope(paths=("src/**",)))
    assert overlap(RuleScope(paths=("src/**",)), RuleScope(paths=("src/deep/**",)))
    assert not overlap(RuleScope(), RuleScope(harnesses=()))
