"""What is wrong with the rules as a whole is told, and nothing is changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.learning.rules.block import Budget
from handrail.learning.rules.lint import STALE_DAYS, Code, RuleFinding, Surroundings, last_evidence, lint
from handrail.learning.rules.model import Life, RuleBook, RuleScope, Source
from handrail.learning.rules.operations import Add, Advance, Retire, apply
from handrail.learning.rules.pairs import Line
from tests.learning.rules.build import AT, HERE, book_of, only, source

TESTS = "Run the tests before committing."


def _around(
    *, own: tuple[str, ...] = (), lines: tuple[Line, ...] = (), now: datetime = AT, gone: bool = False
) -> Surroundings:
    return Surroundings(own=own, lines=lines, present=frozenset() if gone else frozenset({"shop", "bank"}), now=now)


def _codes(findings: tuple[RuleFinding, ...]) -> list[Code]:
    return [finding.code for finding in findings]


def test_rules_without_fault_are_not_complained_of() -> None:
    assert lint(book_of(TESTS, "Answer in one paragraph."), _around()) == ()


@pytest.mark.parametrize("scope", [HERE, RuleScope()], ids=["of a repository", "of all"])
def test_rules_that_have_no_room_in_prompts_are_named(scope: RuleScope) -> None:  # A11 120, J 47
    book = book_of("One thing.", "Another matter.", "Something else.", scope=scope)
    for rule in book:
        book = apply(book, Advance(rule=rule.id, life=Life.TRIAL), by="owner", at=AT)

    found = lint(book, _around(), Budget(max_rules=2))

    assert _codes(found) == [Code.OVER_BUDGET]


def test_pairs_are_told_by_kind() -> None:
    same = lint(book_of("Run the tests before committing.", "Run tests before committing the"), _around())
    against = lint(book_of("Use npm over pnpm.", "Use pnpm over npm."), _around())

    assert _codes(same) == [Code.DUPLICATE]
    assert _codes(against) == [Code.CONTRADICTION]


def test_a_line_of_an_instruction_file_that_says_the_opposite_is_told_with_its_place() -> None:  # A11 120
    line = Line("CLAUDE.md:4", "Never use npm in this folder.")

    (finding,) = lint(book_of("Use npm in this folder."), _around(lines=(line,)))

    assert (finding.code, finding.place, finding.is_problem) == (Code.CONTRADICTION, "CLAUDE.md:4", True)


def test_the_owners_own_sentences_are_held_against_rules() -> None:
    (finding,) = lint(book_of("Use npm in this folder."), _around(own=("Never use npm in this folder.",)))

    assert (finding.code, finding.other) == (Code.CONTRADICTION, "Never use npm in this folder.")


def test_rules_that_no_run_can_match_are_told() -> None:  # I.1 14
    dark = book_of(TESTS, scope=RuleScope(repositories=(), harnesses=("handrail",)))

    assert _codes(lint(dark, _around())) == [Code.DARK]
    assert _codes(lint(book_of(TESTS), _around(gone=True))) == [Code.GONE]


def test_old_evidence_is_a_note_and_the_owners_own_rules_need_none() -> None:
    late = AT + timedelta(days=STALE_DAYS + 1)
    own = apply(RuleBook(), Add(text=TESTS, scope=HERE), by="owner", at=AT)

    (finding,) = lint(book_of(TESTS), _around(now=late))

    assert (finding.code, finding.is_problem) == (Code.STALE, False)
    assert lint(own, _around(now=late)) == ()


def test_the_last_evidence_is_the_time_of_the_newest_moment() -> None:
    first, second = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 2, 3, tzinfo=UTC)
    sources = tuple(
        Source(harness="handrail", session="s", uid=str(at), moment=str(at), at=at) for at in (second, first)
    )
    rule = only(apply(RuleBook(), Add(text=TESTS, sources=sources), by="model", at=AT))

    assert last_evidence(rule) == second
    assert last_evidence(only(book_of(TESTS))) == AT


def test_retired_rules_are_left_alone() -> None:
    book = book_of("Use npm over pnpm.", "Use pnpm over npm.")
    book = apply(book, Retire(rule=book.rules[0].id, reason="x"), by="owner", at=AT)

    assert lint(book, _around()) == ()


@given(st.lists(st.sampled_from(["Use a.", "Never use a.", TESTS, "Say less.", "Say more, not less."]), max_size=5))
def test_problems_come_first_and_every_finding_names_a_rule_there_is(texts: list[str]) -> None:
    book = RuleBook()
    for number, text in enumerate(texts):
        book = apply(book, Add(text=text, sources=(source(f"m{number}"),), scope=HERE), by="model", at=AT)

    found = lint(book, _around(gone=True))

    problems = [finding.is_problem for finding in found]
    assert problems == sorted(problems, reverse=True)
    assert {finding.rule for finding in found} <= {rule.id for rule in book}
