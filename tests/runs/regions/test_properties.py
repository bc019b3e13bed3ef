"""What holds for any sequence of changes: budgets, numbers, atomic refusals, the same bytes for the same contents."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail import jsonio
from handrail.agents.regions import Change
from handrail.blueprints.regions import Admission, Region
from handrail.runs.regions.blocks import render_block, tokens_of
from handrail.runs.regions.contents import taint_of
from handrail.runs.regions.filling import Piece, filled
from handrail.runs.regions.size import Estimate, Size
from handrail.runs.regions.summing import due, summed
from handrail.runs.regions.writing import changed, replaced
from handrail.transcripts.model import Taint

from .build import (
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
)

sizes = st.builds(Size, st.none() | st.integers(10, 500), st.builds(Estimate, st.sampled_from([1.0, 2.5, 4.0, 8.0])))
budgets = st.fixed_dictionaries({"name": st.just("r"), "max_tokens": st.integers(1, 60)})
admissions = st.sampled_from(Admission)


def _regions(declared: dict[str, Any]) -> st.SearchStrategy[Region]:
    counts = st.integers(1, 5)
    strategies = st.sampled_from(["per_item", "bulk", "compact"])
    return st.one_of(
        st.just(Pinned(**declared)),
        st.builds(
            lambda most, strategy: Sliding(**declared, max_items=most, overflow=2, count=2, strategy=strategy),
            counts,
            strategies,
        ),
        st.builds(lambda admission: Compacting(**declared, admission=admission), admissions),
        st.builds(lambda most, admission: Keyed(**declared, max_entries=most, admission=admission), counts, admissions),
        st.just(Checklist(**declared)),
    )


regions: st.SearchStrategy[Region] = budgets.flatmap(_regions)
texts = st.text(max_size=12) | st.sampled_from(["</region>", "<entry key=", "x" * 30, "漢" * 10, "a\nb", "\ud800"])
keys = st.none() | st.sampled_from(["a", "b", "c", "d", "e", "f", "</entry>", "", "a\nb"])
numbers = st.integers(-1, 12)

changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(Write, texts, keys),
    st.builds(Append, texts, keys),
    st.builds(Remove, keys, st.none() | numbers),
    st.builds(AddItems, st.lists(texts, max_size=3).map(tuple)),
    st.builds(MarkItems, st.lists(numbers, max_size=3).map(tuple), st.booleans()),
    st.builds(NoteItem, numbers, texts),
)
origins = st.builds(Origin, st.builds(Taint, private=st.booleans(), untrusted=st.booleans()))


@settings(deadline=None, max_examples=300)
@given(regions, sizes, st.lists(st.tuples(changes, origins), max_size=25))
def test_any_changes_keep_a_region_within_its_budget_or_change_nothing(
    region: Region, size: Size, steps: list[tuple[Change, Origin]]
) -> None:
    entries: tuple[RegionEntry, ...] = ()
    for change, origin in steps:
        before = jsonio.encode(entries)
        try:
            made = changed(region, entries, change, size, origin)
        except RegionRefused:
            assert before == jsonio.encode(entries)
            continue
        entries = made.entries
        assert made.tokens == tokens_of(region, entries, size.estimate)
        assert made.tokens <= made.budget_tokens == region.budget_tokens(size.window)
        if isinstance(region, Keyed):
            names = [entry.key for entry in entries]
            assert len(names) == len(set(names)) <= region.max_entries


@settings(deadline=None, max_examples=200)
@given(sizes, st.integers(5, 60), st.lists(changes, max_size=40))
def test_no_number_of_a_checklist_is_ever_given_twice(size: Size, most: int, steps: list[Change]) -> None:
    region = Checklist(name="r", max_tokens=most)
    given_numbers: list[int] = []
    entries: tuple[RegionEntry, ...] = ()
    for change in steps:
        try:
            made = changed(region, entries, change, size, Origin())
        except RegionRefused:
            continue
        entries = made.entries
        given_numbers += made.numbers
    assert sorted(set(given_numbers)) == given_numbers


@settings(deadline=None, max_examples=100)
@given(regions, sizes, st.lists(st.tuples(changes, origins), max_size=12))
def test_a_region_renders_the_same_always_and_holds_one_block(
    region: Region, size: Size, steps: list[tuple[Change, Origin]]
) -> None:
    entries: tuple[RegionEntry, ...] = ()
    brought = Taint()
    for change, origin in steps:
        brought |= origin.taint
        try:
            entries = changed(region, entries, change, size, origin).entries
        except RegionRefused:
            continue
    block = render_block(region, entries)
    assert block == render_block(region, tuple(entries))
    assert 1 == block.count("<region ")
    assert (block.count("</region>"), block.endswith("/>")) in [(1, False), (0, True)]
    assert brought | taint_of(entries) == brought


@settings(deadline=None, max_examples=200)
@given(regions, sizes, st.lists(texts, max_size=5), texts, origins)
def test_a_document_replaces_all_or_nothing(
    region: Region, size: Size, held: list[str], text: str, origin: Origin
) -> None:
    entries = tuple(RegionEntry(one) for one in held)
    try:
        made = replaced(region, entries, text, size, origin)
    except RegionRefused:
        return
    assert made == (entries if not text.strip() else (RegionEntry(text, taint=origin.taint),))
    assert tokens_of(region, made, size.estimate) <= region.budget_tokens(size.window) or made == entries


@settings(deadline=None, max_examples=200)
@given(
    regions, sizes, st.lists(st.text(max_size=200), max_size=8), st.integers(0, 3), st.lists(st.just("f"), max_size=7)
)
def test_what_a_region_begins_with_is_within_its_budget_or_refused(
    region: Region, size: Size, held: list[str], unread: int, left_out: list[str]
) -> None:
    pieces = [Piece(text=text, name=f"p{at}") for at, text in enumerate(held)]
    try:
        made = filled(region, pieces, size, Origin(), left_out=left_out, unread=unread)
    except RegionRefused:
        return
    assert tokens_of(region, made, size.estimate) <= region.budget_tokens(size.window)
    said = [text for text in held if text.strip()]
    is_whole = [entry.text for entry in made] == said
    assert is_whole or isinstance(region, Checklist) or any("[left out: " in e.text or "[cut: " in e.text for e in made)


@settings(deadline=None, max_examples=150)
@given(
    sizes, st.lists(texts.filter(lambda text: text.strip() != ""), max_size=12), st.text(max_size=30), st.integers(0, 3)
)
def test_a_summary_never_makes_a_region_larger_and_never_empties_it(
    size: Size, held: list[str], summary: str, keeps: int
) -> None:
    region = Compacting(name="r", max_tokens=60, compact_at=20, keeps=keeps)
    entries = tuple(RegionEntry(text) for text in held)
    found = due(region, entries, size)
    if found is None:
        return
    made = summed(region, entries, found, summary, size, Origin())
    assert made
    assert tokens_of(region, made, size.estimate) <= tokens_of(region, entries, size.estimate)
    assert made[len(made) - keeps :] == entries[len(entries) - keeps :]
