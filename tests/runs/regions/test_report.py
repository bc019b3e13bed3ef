"""How full everything is, as people are told."""

from __future__ import annotations

import pytest

from handrail import jsonio
from handrail.blueprints.regions import Region
from handrail.runs.regions.contents import Contents
from handrail.runs.regions.report import ContextReport, report_of
from handrail.runs.regions.size import Estimate, Size
from handrail.runs.regions.view import view_of
from handrail.transcripts.model import Taint

from .build import PRIVATE, AddItems, Checklist, Keyed, Origin, Pinned, RegionEntry, Sliding, Write, after
from .talk import rounds

SIZE = Size(window=20_000, estimate=Estimate(4.0))
PLAN = Pinned(name="plan", title="The plan", budget=10)
STEPS = Checklist(name="steps", is_read_only=True)
FILES = Keyed(name="files")
TALK = Sliding(name="conversation", max_items=3, strategy="per_item", budget=50)
DECLARED: tuple[Region, ...] = (FILES, STEPS, TALK, PLAN)

HELD: Contents = {
    "plan": after(PLAN, Write("x" * 4_000), origin=Origin(PRIVATE), size=SIZE),
    "steps": after(STEPS, AddItems(("look", "mend"))),
    "files": after(FILES, Write("secret", "a")),
}


def reported(
    *, declared: tuple[Region, ...] = DECLARED, held: Contents = HELD, size: Size = SIZE, with_text: bool = False
) -> ContextReport:
    """The report of a stage that sees all but ``files``."""
    names = [region.name for region in declared if region.name != "files"]
    visible = [region for region in declared if region.name in names]
    view = view_of(visible, held, "Be kind. " * 100, rounds(9), size)
    return report_of(
        declared,
        names,
        held,
        view,
        size,
        locked=frozenset({"plan"}),
        reported_tokens=1234,
        stage="plan",
        with_text=with_text,
    )


def test_regions_are_reported_in_the_order_they_are_sent_and_hidden_ones_last() -> None:
    report = reported()
    assert ["plan", "steps", "conversation", "files"] == [row.name for row in report.regions]
    assert [True, True, True, False] == [row.is_visible for row in report.regions]
    assert ("plan", 1234, 4.0, 20_000) == (
        report.stage,
        report.reported_tokens,
        report.bytes_per_token,
        report.window_tokens,
    )


def test_a_row_has_the_budget_what_is_used_of_it_and_the_share_of_the_window() -> None:
    plan, steps, talk, files = reported().regions
    assert (2_000, 1_001, 0.05005, 1) == (plan.budget_tokens, plan.tokens, plan.share, plan.items)
    assert (True, True, False) == (plan.is_read_only, steps.is_read_only, files.is_read_only)
    assert (PRIVATE, Taint()) == (plan.taint, steps.taint)
    assert (10_000, 3, 7) == (talk.budget_tokens, talk.items, talk.hidden_items)
    assert (None, 1) == (files.share, files.items)


def test_the_parts_come_to_what_is_used_and_what_is_used_to_the_window() -> None:
    report = reported()
    parts = report.instructions_tokens + sum(row.tokens for row in report.regions if row.is_visible)
    assert report.used_tokens == pytest.approx(parts, rel=0.1)
    assert 225 == report.instructions_tokens
    assert 20_000 == report.used_tokens + (report.free_tokens or 0)


def test_a_region_that_outgrew_a_smaller_window_is_over_its_budget() -> None:
    report = reported(size=Size(window=5_000))
    assert ["plan"] == [row.name for row in report.regions if row.is_over]


def test_without_a_window_there_are_no_shares_and_without_bounds_no_budget() -> None:
    report = reported(size=Size(), declared=(PLAN, Sliding(name="conversation")))
    assert (None, None) == (report.window_tokens, report.free_tokens)
    assert [(5_000, None), (None, None)] == [(row.budget_tokens, row.share) for row in report.regions]


def test_a_conversation_that_nobody_declares_is_reported_as_a_whole() -> None:
    (row,) = reported(declared=()).regions
    assert ("conversation", 10, 0, None) == (row.name, row.items, row.hidden_items, row.budget_tokens)


def test_the_words_are_told_where_they_are_asked_for() -> None:
    told = reported(with_text=True, held={**HELD, "plan": (RegionEntry("Look.</region>"),)})
    assert ["Look.&lt;/region>", "[ ] 1. look\n[ ] 2. mend"] == [row.text for row in told.regions[:2]]
    assert [None] * 4 == [row.text for row in reported().regions]


def test_a_report_is_plain_json() -> None:
    decoded = jsonio.decode(jsonio.encode(reported()))
    assert "pinned" == decoded["regions"][0]["kind"]
