"""The union of all stores and the search for the one session that was meant."""

from __future__ import annotations

import pytest

from handrail.errors import AmbiguousSession, StoreError
from handrail.library import Catalog, discover
from handrail.library.catalog import not_found
from handrail.transcripts.model import Parent
from tests.library.shelf import ListedStore, ref


def ids(catalog: Catalog) -> list[str]:
    return [item.id for item in catalog.sessions]


def test_sessions_of_all_stores_come_newest_first() -> None:
    found = discover({"a": ListedStore([ref("x", day=1), ref("y", day=3)]), "b": ListedStore([ref("z", day=2)])})
    assert ids(found) == ["y", "z", "x"]


def test_sessions_of_unknown_time_come_last_in_the_order_they_were_found() -> None:
    found = discover({"a": ListedStore([ref("p"), ref("q", day=1), ref("r")])})
    assert ids(found) == ["q", "p", "r"]


def test_sessions_of_one_time_keep_the_order_they_were_found_in() -> None:
    found = discover({"a": ListedStore([ref("p", day=1), ref("q", day=1)]), "b": ListedStore([ref("r", day=1)])})
    assert ids(found) == ["p", "q", "r"]


@pytest.mark.parametrize("failure", [StoreError("locked"), PermissionError("no"), ValueError("odd")])
def test_a_store_that_fails_contributes_what_it_gave_before_and_is_reported(failure: Exception) -> None:
    found = discover({"bad": ListedStore([ref("x", day=1)], failure), "good": ListedStore([ref("y", day=2)])})
    assert ids(found) == ["y", "x"]
    assert [(item.harness, item.message) for item in found.unread] == [("bad", str(failure))]


def test_subagents_are_not_top_level_and_are_found_by_their_parent() -> None:
    child = ref("kid", day=2, parent=Parent(session="mum", kind="subagent"))
    fork = ref("fork", day=3, parent=Parent(session="mum", kind="fork"))
    catalog = discover({"toy": ListedStore([ref("mum", day=1), child, fork])})
    assert [item.id for item in catalog.top_level()] == ["fork", "mum"]
    assert catalog.subagents() == {("toy", "mum"): [child]}


def test_an_exact_id_wins_over_a_title_and_over_longer_ids() -> None:
    exact = ref("abc", day=1)
    catalog = Catalog((ref("abcd", day=3), ref("zzz", day=2, title="abc"), exact))
    assert catalog.find_exact("abc") == exact


def test_an_exact_title_finds_its_session() -> None:
    titled = ref("abc", day=1, title="Fix the parser #2")
    assert Catalog((titled, ref("def"))).find_exact("Fix the parser #2") == titled


def test_a_title_of_several_sessions_is_ambiguous() -> None:
    catalog = Catalog((ref("one", title="same"), ref("two", title="same")))
    with pytest.raises(AmbiguousSession, match=r"2 sessions answer to the title 'same'.*one.*two"):
        catalog.find_exact("same")


def test_a_unique_prefix_finds_its_session_and_a_shared_one_does_not() -> None:
    catalog = Catalog((ref("abc-1"), ref("abd-2")))
    assert catalog.find_prefix("abc") == ref("abc-1")
    assert catalog.find_prefix("x") is None
    with pytest.raises(AmbiguousSession, match="2 sessions answer to ids that start with 'ab'"):
        catalog.find_prefix("ab")


def test_copies_of_one_id_count_once_and_the_newest_stands_for_them() -> None:
    newest = ref("abc", day=2, locator="/new")
    catalog = Catalog((newest, ref("abc", day=1, locator="/old")))
    assert catalog.find_exact("abc") == newest
    assert catalog.find_prefix("a") == newest


def test_the_empty_reference_finds_nothing() -> None:
    catalog = Catalog((ref("abc", title=""),))
    assert catalog.find_exact("") is None
    assert catalog.find_prefix("") is None


def test_an_ambiguous_prefix_names_ten_candidates_and_counts_the_rest() -> None:
    catalog = Catalog(tuple(ref(f"a{number:02}") for number in range(13)))
    with pytest.raises(AmbiguousSession, match=r"a09; and 3 more"):
        catalog.find_prefix("a")


def test_short_ids_are_unique_prefixes_of_at_least_eight_characters() -> None:
    names = ["0123456789abc", "0123456789abd", "fedcba9876", "01"]
    short = Catalog(tuple(ref(name) for name in names)).short_ids()
    assert short == {
        "0123456789abc": "0123456789abc",
        "0123456789abd": "0123456789abd",
        "fedcba9876": "fedcba98",
        "01": "01",
    }


def test_only_the_sessions_of_one_harness_are_left_when_one_is_named() -> None:
    catalog = Catalog((ref("a", harness="x"), ref("b", harness="y")))
    assert ids(catalog.of_harness("y")) == ["b"]
    assert ids(catalog.of_harness(None)) == ["a", "b"]


def test_not_found_says_where_it_looked_and_that_there_is_no_such_file() -> None:
    assert "no session of codex answers to 'x'" in str(not_found("x", "codex"))
    assert "there is no such file" in str(not_found("./x", None))
    assert "file" not in str(not_found("x", None))
