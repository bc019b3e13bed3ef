"""Pairs of rules that want a person's look."""

from __future__ import annotations

import pytest

from handrail.learning.rules.model import RuleScope
from handrail.learning.rules.operations import Retire, apply
from handrail.learning.rules.pairs import Line, PairKind, pairs_of, pairs_with
from tests.learning.rules.build import AT, book_of


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Never delete build caches.", "Always delete build caches.", PairKind.CONTRADICTION),
        ("Prefer pytest over unittest.", "Prefer unittest over pytest.", PairKind.CONTRADICTION),
        ("Run the test suite before committing.", "Before committing, run the test suite!", PairKind.DUPLICATE),
        ("Run the unit tests.", "Run the unit tests before committing anything.", PairKind.SUBSUMED),
    ],
)
def test_pairs_are_found_and_named(one: str, other: str, kind: PairKind) -> None:
    assert [pair.kind for pair in pairs_of(book_of(one, other))] == [kind]


@pytest.mark.parametrize(
    ("one", "other"),
    [("Run the tests first.", "Keep answers short."), ("Never push to main.", "Always lint the docs.")],
)
def test_rules_that_have_nothing_to_do_with_each_other_are_no_pair(one: str, other: str) -> None:
    assert pairs_of(book_of(one, other)) == ()


def test_rules_that_never_meet_are_no_pair() -> None:
    here, there = RuleScope(repositories=("a",)), RuleScope(repositories=("b",))
    one, other = book_of("Always use tabs here.", scope=here), book_of("Never use tabs here.", scope=there)

    assert pairs_of((*one, *other)) == ()


def test_a_retired_rule_is_in_no_pair() -> None:
    book = book_of("Never delete build caches.", "Always delete build caches.")
    book = apply(book, Retire(rule=book.rules[0].id, reason="x"), by="owner", at=AT)

    assert pairs_of(book) == ()
    assert pairs_with(book, [Line("AGENTS.md:3", "Never delete build caches.")])[0].kind is PairKind.CONTRADICTION


def test_a_line_of_an_instruction_file_is_named_by_its_place() -> None:
    (pair,) = pairs_with(book_of("Never commit to main."), [Line("AGENTS.md:12", "Do not commit to main")])

    assert (pair.kind, pair.place) == (PairKind.DUPLICATE, "AGENTS.md:12")
