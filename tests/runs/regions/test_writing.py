"""Changing regions: what is let in, what leaves, and that a refusal changes nothing."""

from __future__ import annotations

import pytest

from handrail.agents.regions import Change
from handrail.blueprints.regions import Admission, Region
from handrail.runs.regions.contents import taint_of
from handrail.runs.regions.writing import changed, replaced
from handrail.transcripts.model import Taint

from .build import (
    MODEL,
    PERSON,
    PRIVATE,
    SIZE,
    UNTRUSTED,
    AddItems,
    Append,
    Checklist,
    Compacting,
    Keyed,
    MarkItems,
    NoteItem,
    Origin,
    Pinned,
    RegionEntry,
    RegionRefused,
    Remove,
    Sliding,
    Write,
    after,
    texts,
)

PLAN = Pinned(name="plan", max_tokens=20)
TEN_TOKENS = "x" * 36


def test_a_document_replaces_all_a_region_holds() -> None:
    assert ["second"] == texts(after(PLAN, Write("first"), Append("more"), Write("second")))


# H 158, H 39
@pytest.mark.parametrize(
    ("region", "before"),
    [
        (PLAN, (Write("old"),)),
        (Sliding(name="log", max_tokens=20), (Append("old"),)),
        (Compacting(name="notes", max_tokens=20, admission=Admission.EVICT), (Append("old"),)),
        (Keyed(name="files", max_tokens=20), (Write("old", "a"),)),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_text_larger_than_its_region_is_refused_and_drives_nothing_out(
    region: Region, before: tuple[Change, ...]
) -> None:
    key = "b" if isinstance(region, Keyed) else None
    held = after(region, *before)
    with pytest.raises(RegionRefused, match=r"room for 20 tokens in all, and this text alone has about 51.*stays"):
        changed(region, held, Write("x" * (200 if key is None else 176), key), SIZE, Origin())
    assert ["old"] == texts(held)


# H 159
@pytest.mark.parametrize(
    ("region", "change"),
    [
        (PLAN, Append(TEN_TOKENS)),
        (Compacting(name="notes", max_tokens=20), Append(TEN_TOKENS)),
        (Keyed(name="files", max_tokens=40, admission=Admission.REJECT), Write(TEN_TOKENS, "c")),
        (Checklist(name="steps", max_tokens=30), AddItems(("x" * 32,))),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_full_region_that_drops_nothing_refuses(region: Region, change: Change) -> None:
    fills: dict[str, tuple[Change, ...]] = {
        "keyed": (Write(TEN_TOKENS, "a"), Write(TEN_TOKENS, "b")),
        "checklist": (AddItems(("x" * 32, "x" * 32, "x" * 32)),),
    }
    held = after(region, *fills.get(region.kind, (Append(TEN_TOKENS), Append(TEN_TOKENS))))
    count = len(held)
    with pytest.raises(RegionRefused, match="would hold about"):
        changed(region, held, change, SIZE, Origin())
    assert count == len(held)


def test_a_log_makes_room_by_its_oldest_entries() -> None:
    log = Sliding(name="log", max_tokens=30)
    made = changed(
        log, after(log, *(Append(f"{at}{TEN_TOKENS[1:]}") for at in range(3))), Append("new"), SIZE, Origin()
    )
    assert ["1", "2", "n"] == [text[0] for text in texts(made.entries)]
    assert ["0"] == [text[0] for text in texts(made.dropped)]
    assert (21, 30) == (made.tokens, made.budget_tokens)


def test_what_was_written_now_stays_wherever_it_stands() -> None:
    notes = Compacting(name="notes", max_tokens=40, admission=Admission.EVICT)
    held = after(notes, Write("old", "a"), Append("one"), Append("two"))
    made = changed(notes, held, Write("x" * 130, "a"), SIZE, Origin())
    assert ["a", None] == [entry.key for entry in made.entries]
    assert ["one"] == texts(made.dropped)


# H 161
@pytest.mark.parametrize(
    ("strategy", "kept"),
    [
        ("per_item", [1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4]),
        ("bulk", [1, 2, 3, 4, 5, 6, 4, 5, 6, 4, 5]),
        ("compact", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    ],
)
def test_a_log_keeps_as_many_entries_as_its_strategy_says(strategy: str, kept: list[int]) -> None:
    log = Sliding.model_validate({"name": "log", "max_items": 4, "overflow": 2, "strategy": strategy})
    entries: tuple[RegionEntry, ...] = ()
    counts = []
    for at in range(11):
        entries = changed(log, entries, Append(str(at)), SIZE, Origin()).entries
        assert entries[-1].text == str(at)
        counts.append(len(entries))
    assert kept == counts


# H 162
def test_beyond_its_entries_a_keyed_region_drops_the_key_written_longest_ago() -> None:
    files = Keyed(name="files", max_entries=3)
    writes = [Write("1", "a"), Write("1", "b"), Write("1", "c"), Write("2", "a"), Write("1", "d")]
    assert ["c", "a", "d"] == [entry.key for entry in after(files, *writes)]


def test_a_keyed_region_that_rejects_says_that_it_is_full() -> None:
    files = Keyed(name="files", max_entries=1, admission=Admission.REJECT)
    with pytest.raises(RegionRefused, match="holds 1 keys at most"):
        changed(files, after(files, Write("1", "a")), Write("1", "b"), SIZE, Origin())
    assert ["2"] == texts(after(files, Write("1", "a"), Write("2", "a")))


def test_adding_under_a_key_keeps_what_is_there() -> None:
    files = Keyed(name="files")
    assert ["1\n2"] == texts(after(files, Write("1", "a"), Append("2", "a")))


def test_sections_of_a_document_keep_their_places() -> None:
    sections = (Write("one", "a"), Write("two", "b"), Write("ONE", "a"), Append("more", "a"))
    assert [("a", "ONE\nmore"), ("b", "two")] == [(entry.key, entry.text) for entry in after(PLAN, *sections)]


@pytest.mark.parametrize("blank", ["", " \n\t"])
@pytest.mark.parametrize("change", [Write, Append])
def test_no_blank_text_empties_a_region_by_accident(blank: str, change: type[Write | Append]) -> None:
    with pytest.raises(RegionRefused, match="would say nothing"):
        changed(PLAN, after(PLAN, Write("old")), change(blank), SIZE, Origin())


@pytest.mark.parametrize("key", ["", " ", "a\nb", "x" * 201, "a\x1b[0m", "a\u2028b"])
def test_a_key_is_a_printable_line(key: str) -> None:
    with pytest.raises(RegionRefused, match="a key is one line"):
        changed(Keyed(name="files"), (), Write("text", key), SIZE, Origin())


def test_entries_are_taken_out_by_key_or_by_the_place_they_are_shown_at() -> None:
    files = Keyed(name="files")
    held = after(files, Write("1", "b"), Write("2", "a"))
    assert ["b"] == [entry.key for entry in changed(files, held, Remove(number=1), SIZE, Origin()).entries]
    assert ["a"] == [entry.key for entry in changed(files, held, Remove(key="b"), SIZE, Origin()).entries]
    with pytest.raises(RegionRefused, match=r"nothing under key 'c'\. Its keys are 'a', 'b'"):
        changed(files, held, Remove(key="c"), SIZE, Origin())
    with pytest.raises(RegionRefused, match="nothing under number 3"):
        changed(files, held, Remove(number=3), SIZE, Origin())


# Checklists


STEPS = Checklist(name="steps", max_tokens=40)


def numbers(entries: tuple[RegionEntry, ...]) -> list[int | None]:
    return [entry.number for entry in entries if entry.text]


# H 163
def test_a_number_is_never_given_again() -> None:
    held = after(STEPS, AddItems(("a", "b", "c")), Remove(number=3), Remove(number=2))
    made = changed(STEPS, held, AddItems(("d", "e")), SIZE, Origin())
    assert (4, 5) == made.numbers
    assert [1, 4, 5] == numbers(made.entries)


def test_a_number_is_not_given_again_after_its_item_made_room() -> None:
    held = after(STEPS, AddItems(tuple("x" * 20 for _ in range(4))), MarkItems((1, 2, 3, 4)))
    made = changed(STEPS, held, AddItems(("y" * 48, "z" * 48)), SIZE, Origin())
    assert (5, 6) == made.numbers
    assert [1, 2, 3] == numbers(made.dropped)
    emptied = after(STEPS, AddItems(("a",)), Remove(number=1))
    assert [2] == numbers(changed(STEPS, emptied, AddItems(("b",)), SIZE, Origin()).entries)


def test_open_items_never_leave_to_make_room() -> None:
    held = after(STEPS, AddItems(tuple("x" * 20 for _ in range(5))), MarkItems((2,)))
    with pytest.raises(RegionRefused, match="Add fewer items, or tick some off"):
        changed(STEPS, held, AddItems(("y" * 60,)), SIZE, Origin())


def test_the_highest_number_never_leaves_to_make_room_for_a_note() -> None:
    tight = Checklist(name="steps", max_tokens=20)
    held = after(tight, AddItems(("a", "b" * 20)), MarkItems((2,)))
    with pytest.raises(RegionRefused, match="would hold about"):
        changed(tight, held, NoteItem(1, "n" * 40), SIZE, Origin())


def test_a_note_brings_its_taint_to_its_item() -> None:
    held = changed(STEPS, after(STEPS, AddItems(("a",))), NoteItem(1, "secret"), SIZE, Origin(PRIVATE)).entries
    assert PRIVATE == taint_of(held)


def test_items_are_ticked_off_opened_again_and_noted_on() -> None:
    held = after(STEPS, AddItems(("a", "b")), MarkItems((1, 2)), MarkItems((2,), is_done=False), NoteItem(2, "why"))
    assert [("a", True), ("b\nwhy", False)] == [(entry.text, entry.is_done) for entry in held]


def test_all_items_of_a_call_are_added_or_none() -> None:
    with pytest.raises(RegionRefused):
        changed(STEPS, (), AddItems(("a", "x" * 400)), SIZE, Origin())
    with pytest.raises(RegionRefused, match="would say nothing"):
        changed(STEPS, (), AddItems(("a", " ")), SIZE, Origin())


@pytest.mark.parametrize("change", [MarkItems((1, 7)), NoteItem(7, "x"), Remove(number=7)], ids=repr)
def test_an_unknown_number_is_refused_with_the_numbers_there_are(change: Change) -> None:
    with pytest.raises(RegionRefused, match=r"7.*Its items are 1\."):
        changed(STEPS, after(STEPS, AddItems(("a",))), change, SIZE, Origin())


@pytest.mark.parametrize(
    ("region", "change", "said"),
    [
        (STEPS, Write("all"), "is a checklist"),
        (STEPS, Append("more"), "is a checklist"),
        (PLAN, AddItems(("a",)), "is no checklist but pinned"),
        (Keyed(name="files"), Write("text"), "name the key"),
        (Sliding(name="conversation"), Append("text"), "is the conversation itself"),
    ],
    ids=repr,
)
def test_a_change_that_does_not_fit_the_kind_is_refused(region: Region, change: Change, said: str) -> None:
    with pytest.raises(RegionRefused, match=said):
        changed(region, (), change, SIZE, Origin())


def test_taking_away_needs_no_room() -> None:
    held = after(STEPS, AddItems(("x" * 40, "y" * 40)))
    tight = Checklist(name="steps", max_tokens=5)
    assert [2] == numbers(changed(tight, held, Remove(number=1), SIZE, Origin()).entries)
    assert [True, False] == [entry.is_done for entry in changed(tight, held, MarkItems((1,)), SIZE, Origin()).entries]


# Documents at points


# H 31, H 32
def test_a_region_holds_exactly_the_document_and_a_blank_one_leaves_it() -> None:
    held = replaced(PLAN, after(PLAN, Append("a"), Append("b")), "  plan\n", SIZE, Origin(by=MODEL))
    assert (RegionEntry("  plan\n", by=MODEL),) == held
    assert held == replaced(PLAN, held, " \n", SIZE, Origin())


# H 170
def test_a_replaced_document_carries_the_taint_of_what_is_in_it() -> None:
    secret = replaced(PLAN, (), "secret", SIZE, Origin(PRIVATE, MODEL))
    edited = replaced(PLAN, secret, "secret, edited", SIZE, Origin(by=PERSON))
    assert PRIVATE == taint_of(edited)
    anew = replaced(PLAN, edited, "from the web", SIZE, Origin(UNTRUSTED, MODEL))
    assert (1, UNTRUSTED) == (len(anew), taint_of(anew))


def test_taint_goes_with_the_entry_that_brought_it() -> None:
    log = Sliding(name="log", max_items=1, strategy="per_item")
    held = after(log, Append("secret"), origin=Origin(PRIVATE))
    assert Taint() == taint_of(changed(log, held, Append("public"), SIZE, Origin()).entries)


def test_adding_to_an_entry_keeps_its_taint() -> None:
    held = after(Keyed(name="k"), Write("secret", "a"), origin=Origin(PRIVATE))
    assert PRIVATE | UNTRUSTED == taint_of(
        changed(Keyed(name="k"), held, Append("web", "a"), SIZE, Origin(UNTRUSTED)).entries
    )
