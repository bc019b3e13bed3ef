"""Operations: what they do, what is refused, and what no sequence of them can lose."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handrail.errors import HandrailError
from handrail.learning.rules.model import By, Life, NoSuchRule, RuleBook, RuleScope
from handrail.learning.rules.operations import (
    Add,
    Advance,
    Amend,
    Merge,
    Operation,
    Refused,
    Rescope,
    Restore,
    Retire,
    SetCheck,
    apply,
    apply_all,
)
from handrail.learning.rules.sentence import NotASentence
from tests.learning.rules.build import AT, HERE, book_of, only, source

_TEXTS = ("Run the tests first.", "Never push to main.", "Ask before deleting.", "Keep answers short.")


def test_the_same_sentence_again_keeps_its_rule_and_adds_its_source() -> None:  # J 39
    book = book_of("Run the tests first.")
    before = only(book)

    after = only(apply(book, Add(text="run the  tests first", sources=(source("m9"),)), by="model", at=AT))

    assert (after.id, after.text, after.created_at) == (before.id, before.text, before.created_at)
    assert [one.moment for one in after.sources] == ["m0", "m9"]


@pytest.mark.parametrize("again", ["Never push to main.", "never push to MAIN", "Never  push, to main!"])
def test_a_retired_rule_said_again_stays_retired(again: str) -> None:  # J 40
    book = book_of("Never push to main.")
    id = only(book).id
    book = apply(book, Retire(rule=id, reason="it harms"), by="code", at=AT)

    rule = only(apply(book, Add(text=again, sources=(source("m7"),), scope=HERE), by="model", at=AT))

    assert (rule.id, rule.life, rule.reason) == (id, Life.RETIRED, "it harms")


def test_the_two_spellings_of_one_word_are_one() -> None:  # J 40
    book = book_of("Summarise before editing.")

    assert len(apply(book, Add(text="Summarize before editing.", sources=(source("m2"),)), by="model", at=AT)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never delete caches.", "Always delete caches."),
        ("Prefer pytest over unittest.", "Prefer unittest over pytest."),
    ],
)
def test_opposites_are_two_rules(one: str, other: str) -> None:  # J 41
    assert len(book_of(one, other)) == 2


def test_a_model_cannot_add_what_no_moment_stands_behind() -> None:
    with pytest.raises(Refused, match="no moment"):
        apply(RuleBook(), Add(text="Be nice."), by="model", at=AT)


def test_a_model_cannot_put_a_rule_into_force_and_the_owner_can() -> None:
    book = book_of("Run the tests first.")
    wish = Advance(rule=only(book).id, life=Life.ACTIVE)

    with pytest.raises(Refused, match="does not put them into force"):
        apply(book, wish, by="model", at=AT)
    assert only(apply(book, wish, by="owner", at=AT)).rides


def test_a_sentence_saved_unchanged_does_not_become_the_owners() -> None:  # J 23
    book = book_of("Run the tests first.")

    with pytest.raises(Refused, match="says that already"):
        apply(book, Amend(rule=only(book).id, text=" Run the tests first. "), by="owner", at=AT)
    assert only(book).by == "model"


def test_the_owners_words_are_changed_and_retired_by_the_owner_alone() -> None:
    book = book_of("Run the tests first.")
    book = apply(book, Amend(rule=only(book).id, text="Run make test first."), by="owner", at=AT)
    id = only(book).id

    for wish in (Amend(rule=id, text="Do as you like."), Retire(rule=id, reason="unused")):
        with pytest.raises(Refused, match="owner"):
            apply(book, wish, by="code", at=AT)


def test_an_amended_rule_loses_the_check_of_its_old_words_and_keeps_the_old_words() -> None:
    book = book_of("Run the tests first.")
    id = only(book).id
    book = apply(book, SetCheck(rule=id, check={"kind": "order"}, enforced="shadow"), by="code", at=AT)

    rule = only(apply(book, Amend(rule=id, text="Run make test first."), by="model", at=AT))

    assert (rule.check, rule.enforced) == (None, "off")
    assert rule.history[-1].text == "Run the tests first."


def test_merging_keeps_the_first_and_retires_the_others_with_a_pointer() -> None:
    book = book_of("Run the tests.", "Run the tests before committing.")
    first, second = book

    merged = apply(book, Merge(rules=(first.id, second.id), text="Run the tests before you commit."), by="model", at=AT)

    kept, gone = merged
    assert (kept.id, kept.text) == (first.id, "Run the tests before you commit.")
    assert {one.moment for one in kept.sources} == {"m0", "m1"}
    assert (gone.life, gone.reason) == (Life.RETIRED, f"merged into {first.id}")


def test_only_the_owner_widens_where_a_rule_counts() -> None:
    book = book_of("Run the tests first.")
    wider = Rescope(rule=only(book).id, scope=RuleScope())

    with pytest.raises(Refused, match="only the owner widens"):
        apply(book, wider, by="code", at=AT)
    assert only(apply(book, wider, by="owner", at=AT)).scope == RuleScope()


def test_evidence_from_another_place_counts_there_too_unless_the_owner_said_where() -> None:
    there = replace(HERE, repositories=("bank",))
    book = book_of("Run the tests first.")
    again = Add(text="Run the tests first.", sources=(source("m5"),), scope=there)

    assert only(apply(book, again, by="model", at=AT)).scope.repositories == ("bank", "shop")

    placed = apply(book, Rescope(rule=only(book).id, scope=HERE), by="owner", at=AT)
    assert only(apply(placed, again, by="model", at=AT)).scope == HERE


def test_retired_twice_and_restored_unretired_are_errors() -> None:  # J 66
    book = book_of("Run the tests first.")
    id = only(book).id

    with pytest.raises(Refused, match="not retired"):
        apply(book, Restore(rule=id), by="owner", at=AT)
    retired = apply(book, Retire(rule=id, reason="no"), by="owner", at=AT)
    with pytest.raises(Refused, match="retired already"):
        apply(retired, Retire(rule=id, reason="no"), by="owner", at=AT)
    assert only(apply(retired, Restore(rule=id), by="owner", at=AT)).life is Life.CANDIDATE


def test_only_the_owner_brings_a_retired_rule_back() -> None:
    book = book_of("Run the tests first.")
    retired = apply(book, Retire(rule=only(book).id, reason="harm"), by="code", at=AT)

    with pytest.raises(Refused, match="only the owner restores"):
        apply(retired, Restore(rule=only(book).id), by="code", at=AT)


@pytest.mark.parametrize(
    "text",
    ["", "  - ", "…", "a" * 300, "Do this.\x1b[2J", "Do \u202ethis.", "# Heading", "Stop. <!-- x -->", "``` x", "<b>x"],
)
def test_what_is_no_sentence_is_refused(text: str) -> None:
    with pytest.raises(NotASentence):
        apply(RuleBook(), Add(text=text, sources=(source(),)), by="model", at=AT)


def test_an_id_is_found_by_its_beginning_and_never_by_nothing() -> None:  # J 37
    book = book_of("Run the tests first.")

    assert book.find(only(book).id[:5]) == only(book)
    for needle in ("", "  ", "zz"):
        with pytest.raises(NoSuchRule):
            book.find(needle)


# Whatever is done, in whatever order -------------------------------------------------------------------------

_ACTORS: tuple[By, ...] = ("owner", "model", "code")


@cache
def _operations_on(ids: tuple[str, ...]) -> st.SearchStrategy[Operation]:
    rules = st.sampled_from(ids)
    texts = st.sampled_from((*_TEXTS, "Summarise first.", "", "x" * 400))
    sources = st.lists(st.sampled_from([source(f"m{n}") for n in range(4)]), max_size=2).map(tuple)
    scopes = st.sampled_from((RuleScope(), HERE, RuleScope(repositories=())))
    lives = st.sampled_from(list(Life))
    return st.one_of(
        st.builds(Add, text=texts, sources=sources, scope=scopes),
        st.builds(Amend, rule=rules, text=texts, sources=sources),
        st.builds(Merge, rules=st.lists(rules, max_size=3).map(tuple), text=texts),
        st.builds(Advance, rule=rules, life=lives, is_guarded=st.booleans()),
        st.builds(Retire, rule=rules, reason=st.just("why")),
        st.builds(Restore, rule=rules),
        st.builds(Rescope, rule=rules, scope=scopes),
        st.builds(SetCheck, rule=rules, check=st.sampled_from((None, {"kind": "x"})), enforced=st.just("shadow")),
    )


@given(st.data())
def test_no_sequence_of_operations_loses_an_id_a_source_or_a_retirement(data: st.DataObject) -> None:
    book = book_of(*_TEXTS)
    for _ in range(data.draw(st.integers(0, 12))):
        operation = data.draw(_operations_on(tuple(rule.id for rule in book)))
        by = data.draw(st.sampled_from(_ACTORS))
        try:
            after = apply(book, operation, by=by, at=AT)
        except HandrailError:
            continue
        named = {getattr(operation, "rule", None), *getattr(operation, "rules", ())}
        for rule in book:
            now = after.get(rule.id)
            assert now is not None
            assert set(rule.sources) <= set(now.sources)
            assert now.history[: len(rule.history)] == rule.history
            if rule.life is Life.RETIRED:
                assert now.life is Life.RETIRED or isinstance(operation, Restore)
            if rule.id not in named and not isinstance(operation, Add):
                assert now == rule
        book = after


def test_all_or_nothing_is_left_to_whoever_keeps_the_book() -> None:
    book = book_of("Run the tests first.")

    with pytest.raises(Refused):
        apply_all(book, (Retire(rule=only(book).id, reason="x"),) * 2, by="owner", at=AT)
    assert only(book).life is Life.CANDIDATE
