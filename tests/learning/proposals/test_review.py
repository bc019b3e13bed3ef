"""What a proposal would change, whether the rules have moved, and doing it twice."""

from __future__ import annotations

from msgspec.structs import replace

from handrail.learning.proposals.drafting import Known
from handrail.learning.proposals.learner import Drafted
from handrail.learning.proposals.review import carried_out, diff, is_done, moves, touched
from handrail.learning.rules.model import Life, RuleBook, RuleScope
from handrail.learning.rules.operations import Add, Advance, Amend, Restore, Retire, SetCheck, apply
from tests.learning.proposals.build import BANK, LATER, lesson, proposed_from
from tests.learning.rules.build import AT, HERE, book_of, only, source

TESTS = "Run the tests before committing."
ADD = Drafted(do="add", lessons=("L1",), text="Answer in one paragraph.")


def test_a_difference_names_what_comes_and_what_goes() -> None:  # J 52
    book = book_of(TESTS)
    after = apply(book, Amend(rule=only(book).id, text="Test first."), by="model", at=LATER)
    after = apply(after, Add(text="New.", sources=(source("m9"),)), by="model", at=LATER)

    assert [(line.mark, line.text) for line in diff(book, after)] == [("-", TESTS), ("+", "Test first."), ("+", "New.")]


def test_another_order_is_no_difference() -> None:  # J 52
    book = book_of("One.", "Two.")

    assert diff(book, RuleBook(tuple(reversed(book.rules)))) == ()


def test_more_evidence_is_no_difference() -> None:  # J 52
    book = book_of(TESTS)
    after = apply(book, Add(text=TESTS, sources=(source("m9"),), scope=HERE), by="model", at=LATER)

    assert diff(book, after) == ()


def test_retiring_and_restoring_are_shown_though_the_text_is_the_same() -> None:  # J 52
    book = book_of(TESTS)
    gone = apply(book, Retire(rule=only(book).id, reason="it harmed"), by="owner", at=AT)
    back = apply(gone, Restore(rule=only(book).id), by="owner", at=AT)

    assert [(line.mark, line.note) for line in diff(book, gone)] == [("-", "retired: it harmed")]
    assert [(line.mark, line.note) for line in diff(gone, back)] == [("+", "restored")]


def test_a_check_put_into_force_is_shown() -> None:
    book = book_of(TESTS)
    after = apply(book, SetCheck(rule=only(book).id, check={"kind": "x"}, enforced="shadow"), by="owner", at=AT)

    assert [(line.mark, line.note) for line in diff(book, after)] == [("~", "check shadow")]


def test_rules_that_were_reworded_retired_or_came_since_have_moved() -> None:  # J 53
    book = book_of(TESTS)
    proposal = proposed_from(Known(book=book), (lesson("Brief."),), ADD)
    id = only(book).id

    assert moves(proposal, book) == ()
    assert moves(proposal, apply(book, Amend(rule=id, text="Test."), by="owner", at=AT))
    assert moves(proposal, apply(book, Retire(rule=id, reason="x"), by="owner", at=AT))
    assert moves(proposal, apply(book, Advance(rule=id, life=Life.ACTIVE), by="owner", at=AT))
    assert moves(proposal, apply(book, Add(text="New.", scope=HERE), by="owner", at=AT))


def test_more_evidence_and_rules_of_other_places_have_moved_nothing() -> None:  # J 52, I.1 8
    book = book_of(TESTS)
    proposal = proposed_from(Known(book=book), (lesson("Brief."),), ADD)
    elsewhere = Add(text="New.", scope=RuleScope(repositories=("bank",)))

    after = apply(book, Add(text=TESTS, sources=(source("m9"),), scope=HERE), by="model", at=LATER)
    after = apply(after, elsewhere, by="owner", at=LATER)

    assert moves(proposal, after) == ()


def test_two_proposals_of_two_places_can_both_be_accepted() -> None:  # I.1 8
    book = book_of(TESTS)
    here = proposed_from(Known(book=book), (lesson("Brief.", 1),), ADD)
    there = proposed_from(
        Known(book=book), (lesson("Loud.", 2, place=BANK),), replace(ADD, text="Speak up."), topic="bank"
    )

    after = carried_out(here, book, by="owner", at=LATER)

    assert moves(there, after) == ()
    assert len(carried_out(there, after, by="owner", at=LATER)) == 3


def test_doing_it_twice_is_doing_it_once() -> None:
    book = book_of(TESTS, "Run all the tests.")
    first, second = book
    changes = (
        ADD,
        Drafted(do="merge", rules=(first.id, second.id), text="Test first."),
    )
    proposal = proposed_from(Known(book=book), (lesson("Brief."),), *changes)

    once = carried_out(proposal, book, by="owner", at=LATER)

    assert not is_done(proposal, book)
    assert is_done(proposal, once)
    assert carried_out(proposal, once, by="owner", at=LATER) == once


def test_a_new_rule_goes_on_trial_on_a_shorter_leash_unless_it_was_measured() -> None:  # J 55
    proposal = proposed_from(Known(book=RuleBook()), (lesson("Brief."),), ADD)

    unmeasured = only(carried_out(proposal, RuleBook(), by="owner", at=LATER))
    measured = only(carried_out(proposal, RuleBook(), by="code", at=LATER, is_measured=True))

    assert (unmeasured.life, unmeasured.is_guarded) == (Life.TRIAL, True)
    assert (measured.life, measured.is_guarded) == (Life.TRIAL, False)


def test_a_rule_in_force_that_says_something_new_is_on_trial_again_and_others_are_left_alone() -> None:  # J 55
    book = book_of(TESTS, "Ask before deleting.")
    for rule in book:
        book = apply(book, Advance(rule=rule.id, life=Life.ACTIVE), by="owner", at=AT)
    first, second = book
    change = Drafted(do="amend", lessons=("L1",), rules=(first.id,), text="Test first.")

    after = carried_out(proposed_from(Known(book=book), (lesson("Brief."),), change), book, by="owner", at=LATER)

    assert (after.find(first.id).life, after.find(first.id).is_guarded) == (Life.TRIAL, True)
    assert after.find(second.id) == second


def test_a_rule_that_is_reworded_and_retired_by_one_proposal_is_retired() -> None:
    book = book_of(TESTS)
    id = only(book).id
    changes = (
        Drafted(do="amend", lessons=("L1",), rules=(id,), text="Test first."),
        Drafted(do="retire", lessons=("L1",), rules=(id,), why="it is wrong"),
    )
    proposal = proposed_from(Known(book=book), (lesson("Brief."),), *changes)

    assert only(carried_out(proposal, book, by="owner", at=LATER)).life is Life.RETIRED


def test_accepting_a_models_sentence_does_not_make_it_the_owners() -> None:
    proposal = proposed_from(Known(book=RuleBook()), (lesson("Brief."),), ADD)

    assert only(carried_out(proposal, RuleBook(), by="owner", at=LATER)).by == "model"


def test_a_rule_has_the_id_that_was_shown() -> None:
    proposal = proposed_from(Known(book=RuleBook()), (lesson("Brief."),), ADD)

    shown = only(carried_out(proposal, RuleBook(), by="owner", at=LATER)).id
    accepted = carried_out(proposal, RuleBook(), by="owner", at=LATER.replace(year=2027))

    assert [rule.id for rule in touched(proposal, accepted)] == [shown]
