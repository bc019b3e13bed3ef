"""The block of a prompt: few rules, the owner's first, the same bytes for the same rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.learning.rules.block import HEADING, Budget, block_of, rules_for, without_block
from handrail.learning.rules.model import Life, RuleBook, RuleScope
from handrail.learning.rules.operations import Add, Advance, Amend, Retire, apply
from handrail.learning.rules.scope import Place
from tests.learning.rules.build import AT, book_of, only, source

RUN = Place(repository="shop", harness="handrail", tools=("Bash",))


def _active(*texts: str, life: Life = Life.ACTIVE) -> RuleBook:
    book = book_of(*texts)
    for rule in book:
        book = apply(book, Advance(rule=rule.id, life=life), by="owner", at=AT)
    return book


def test_nothing_gives_no_block_and_says_so_by_its_digest() -> None:
    nothing = block_of((), ())

    assert nothing.text == ""
    assert nothing.digest == block_of((), ()).digest != block_of(("x",), ()).digest


def test_the_owners_stand_first_and_candidates_and_retired_ones_not_at_all() -> None:  # J 43
    book = _active("Run the tests first.", "Never push to main.")
    kept, gone = book
    book = apply(book, Retire(rule=gone.id, reason="x"), by="owner", at=AT)
    book = apply(book, Add(text="Maybe.", sources=(source("m9"),), scope=kept.scope), by="model", at=AT)

    block = block_of(("Speak German.",), rules_for(book, RUN))

    assert [line for line in block.text.split("\n") if line.startswith("- ")] == [
        "- Speak German.",
        "- Run the tests first.",
    ]
    assert block.rules == (kept.id,)


def test_a_rule_of_another_repository_does_not_ride() -> None:
    book = _active("Run the tests first.")

    assert rules_for(book, Place(repository="bank", harness="handrail")) == ()
    assert rules_for(book, Place()) == ()


def test_no_more_than_the_budget_rides_and_what_is_left_out_is_named() -> None:  # J 47
    book = _active("One thing.", "Two things.", "Three things.")

    block = block_of((), rules_for(book, RUN), Budget(max_rules=2))

    assert len(block.rules) == 2
    assert set(block.rules) | set(block.left_out) == {rule.id for rule in book}


def test_characters_are_counted_too() -> None:
    book = _active("A short one.", "A much, much longer one that says a great deal more.")

    block = block_of((), rules_for(book, RUN), Budget(max_chars=20))

    assert "A short one." in block.text
    assert len(block.left_out) == 1


def test_what_the_owner_said_counts_against_no_budget() -> None:
    book = book_of("Run the tests.", scope=RuleScope())
    book = apply(book, Amend(rule=only(book).id, text="Run make test."), by="owner", at=AT)
    book = apply(book, Advance(rule=only(book).id, life=Life.ACTIVE), by="owner", at=AT)

    block = block_of(("Mine.",) * 3, rules_for(book, RUN), Budget(max_rules=0, max_chars=0))

    assert block.text.count("\n- ") == 4


@pytest.mark.parametrize("rest", ["", "\n\n## After\ntext"])
def test_a_block_is_taken_out_of_a_prompt_again(rest: str) -> None:  # J 45
    block = block_of(("Mine.",), ())

    assert without_block(f"You are an agent.\n\n{block.text}{rest}").startswith("You are an agent.")
    assert "Mine." not in without_block(f"You are an agent.\n\n{block.text}{rest}")


@given(st.text())
def test_a_prompt_without_a_block_stays(prompt: str) -> None:  # J 45
    assert HEADING in prompt or without_block(prompt) == prompt
