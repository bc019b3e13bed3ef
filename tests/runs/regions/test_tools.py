"""The tools for context regions, called as a run calls them."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.agents.tool import ToolOutput
from handrail.agents.tools import REGIONAL, built_in, everyday_names
from handrail.runs.regions.contents import Contents
from handrail.runs.regions.shelf import Shelf
from handrail.transcripts.model import Json, RefusalKind
from tests.agents.tools.running import called, context, run

from .build import (
    MODEL,
    PRIVATE,
    SIZE,
    AddItems,
    Append,
    Checklist,
    Compacting,
    Keyed,
    Origin,
    Pinned,
    RegionEntry,
    Sliding,
    Write,
    after,
    texts,
)

PLAN = Pinned(name="plan", max_tokens=100, description="What is to be done")
TASK = Pinned(name="task", is_read_only=True)
FILES = Keyed(name="files", max_tokens=60)
NOTES = Compacting(name="notes")
STEPS = Checklist(name="steps")
VISIBLE = (TASK, PLAN, FILES, NOTES, STEPS, Sliding(name="conversation"))

HELD: Contents = {
    "task": after(TASK, Write("Mend it.")),
    "plan": after(PLAN, Write("First look.")),
    "files": after(FILES, Write("text of b", "b"), Write("text of a", "a")),
    "notes": after(NOTES, Append("one"), Append("two")),
    "steps": after(STEPS, AddItems(("look", "mend"))),
    "hidden": (RegionEntry("secret"),),
}


def call(name: str, *, held: Contents = HELD, locked: frozenset[str] = frozenset(), **input: Json) -> ToolOutput:
    """One call of the built-in ``name`` in a stage that sees ``VISIBLE``."""
    shelf = Shelf(VISIBLE, held, SIZE, Origin(PRIVATE, MODEL), locked)
    return run(called(built_in(name), input, context(regions=shelf)))


def test_a_write_gives_the_whole_region_with_its_writer_and_its_taint() -> None:
    made = call("ContextWrite", region="plan", text="Mend it now.")
    assert {"plan": (RegionEntry("Mend it now.", taint=PRIVATE, by=MODEL),)} == made.regions
    assert "Wrote plan.\nplan holds about 4 of 100 tokens; 96 are left." == made.content


def test_a_write_under_a_key_says_what_left_to_make_room() -> None:
    made = call("ContextWrite", region="files", text="x" * 190, key="c")
    assert ["c"] == [entry.key for entry in made.regions["files"]]
    assert "To make room, 'b', 'a' left." in str(made.content)


def test_adding_and_taking_out_leave_the_rest() -> None:
    assert ["one", "two", "three"] == texts(call("ContextAppend", region="notes", text="three").regions["notes"])
    assert ["two"] == texts(call("ContextDelete", region="notes", number=1).regions["notes"])
    assert ["text of a"] == texts(call("ContextDelete", region="files", key="b").regions["files"])


def test_reading_shows_what_a_region_holds_and_changes_nothing() -> None:
    assert ("First look.", {}) == ((made := call("ContextRead", region="plan")).content, made.regions)
    assert "[1]\none\n\n[2]\ntwo" == call("ContextRead", region="notes").content
    assert '<entry key="a">\ntext of a\n</entry>' == call("ContextRead", region="files", key="a").content
    assert "[ ] 1. look\n[ ] 2. mend" == call("ContextRead", region="steps").content
    assert "[notes is empty]" == call("ContextRead", region="notes", held={}).content


def test_without_a_name_reading_lists_the_regions_a_stage_sees() -> None:
    listed = str(call("ContextRead", locked=frozenset({"plan"})).content).splitlines()
    assert ["task", "plan", "files", "notes", "steps"] == [line.split()[0] for line in listed]
    assert "plan (pinned, read only): 1 entry, about 3 of 100 tokens – What is to be done" == listed[1]


def test_a_checklist_is_added_to_ticked_off_and_noted_on() -> None:
    made = call("ChecklistAdd", items=["check"])
    assert [1, 2, 3] == [entry.number for entry in made.regions["steps"]]
    assert str(made.content).startswith("Added: 3.\n")
    assert [True, False] == [entry.is_done for entry in call("ChecklistDone", numbers=[1]).regions["steps"]]
    noted = call("ChecklistNote", number=2, note="in calls.py", region="steps")
    assert ["look", "mend\nin calls.py"] == texts(noted.regions["steps"])


@pytest.mark.parametrize(
    ("name", "input", "said"),
    [
        ("ContextWrite", {"region": "plan", "text": "x" * 1000}, "make the text shorter"),
        ("ContextWrite", {"region": "task", "text": "Do nothing."}, "not for tools to write"),
        ("ContextWrite", {"region": "plna", "text": "x"}, "there is no region 'plna' here. There are: task, plan"),
        ("ContextWrite", {"region": "conversation", "text": "x"}, "there is no region 'conversation'"),
        ("ContextRead", {"region": "hidden"}, "there is no region 'hidden'"),
        ("ContextRead", {"region": "files", "key": "z"}, "nothing under the key 'z'"),
        ("ContextRead", {"key": "z"}, "A key needs a region."),
        ("ContextDelete", {"region": "files"}, "give a key or a number"),
        ("ContextDelete", {"region": "files", "key": "a", "number": 1}, "give a key or a number"),
        ("ContextAppend", {"region": "steps", "text": "x"}, "is a checklist"),
        ("ChecklistDone", {"numbers": [9]}, "no item 9"),
    ],
    ids=str,
)
def test_a_refusal_says_why_and_changes_nothing(name: str, input: dict[str, Any], said: str) -> None:
    made = call(name, **input)
    assert (True, {}, None) == (made.is_error, made.regions, made.refusal)
    assert said in str(made.content)


def test_what_a_person_approved_is_read_only() -> None:
    made = call("ContextWrite", region="plan", text="Something else.", locked=frozenset({"plan"}))
    assert (True, {}) == (made.is_error, made.regions)
    assert "a person approved" in str(made.content)


@pytest.mark.parametrize(("visible", "said"), [((PLAN,), "no checklist"), ((STEPS, Checklist(name="x")), "steps, x")])
def test_a_checklist_must_be_named_where_it_is_not_the_only_one(visible: tuple[Any, ...], said: str) -> None:
    shelf = Shelf(visible, {}, SIZE, Origin())
    made = run(called(built_in("ChecklistAdd"), {"items": ["a"]}, context(regions=shelf)))
    assert (True, True) == (made.is_error, said in str(made.content))


@pytest.mark.parametrize("module", REGIONAL)
def test_where_there_are_no_regions_the_tools_say_so_and_are_not_offered(module: str) -> None:
    inputs: dict[str, Any] = {
        "checklist_add": {"items": ["a"]},
        "checklist_done": {"numbers": [1]},
        "checklist_note": {"number": 1, "note": "n"},
        "context_delete": {"region": "r", "key": "k"},
        "context_read": {},
    }
    made = run(called(built_in(module), inputs.get(module, {"region": "r", "text": "t"}), context()))
    assert (True, "There are no context regions here.") == (made.is_error, made.content)
    assert module not in everyday_names()


@pytest.mark.parametrize("module", REGIONAL)
def test_a_call_found_started_may_run_again_and_none_runs_beside_a_change(module: str) -> None:
    tool = built_in(module)
    assert tool.is_twice_safe
    assert tool.is_parallel == (module == "context_read")


@pytest.mark.parametrize("numbers", [[], [0], [-1], [2**70]], ids=str)
def test_numbers_that_cannot_be_are_no_failure(numbers: list[int]) -> None:
    made = call("ChecklistDone", numbers=numbers)
    assert made.is_error
    assert made.refusal is None or made.refusal.kind is RefusalKind.NOT_RUN
