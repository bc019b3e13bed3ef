"""Regions in runs of a blueprint: seen, written by tools, summed up, and as they were after a crash."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from handrail import Agent, EndReason, MemoryJournal, RunFailed, RunOptions, ScriptedModel, Session, call
from handrail.agents.tools import REGIONAL, built_in_tools
from handrail.blueprints.model import Blueprint, Stage
from handrail.blueprints.regions import FilesSeed, LiteralSeed, Region
from handrail.journal import events as ev
from handrail.journal.fold import fold
from handrail.models.errors import ModelError
from handrail.models.port import ModelInfo, ModelRequest
from handrail.models.scripted import Item, Reply, Said
from handrail.runs.stages import progress_of, run_blueprint, start_blueprint
from handrail.transcripts.model import Taint, Usage
from tests.agents.stage import go

from .build import Checklist, Compacting, Keyed, Pinned, RegionEntry, Sliding, texts

PLAN = Pinned(name="plan", max_tokens=100)


class Ran:
    """A run of ``script`` in stages that see ``regions``, and what it left behind."""

    def __init__(self, script: list[Item], *regions: Region, stages: tuple[Stage, ...] = (), **options: Any) -> None:
        self.model = ScriptedModel(script)
        stage = Stage(name="work", instructions="Be kind.", tools=("Context*", "Checklist*"))
        self.blueprint = Blueprint(name="b", regions=regions, stages=stages or (stage,))
        agent = Agent(model=self.model, tools=built_in_tools(REGIONAL))
        journal = MemoryJournal()
        session = Session(id="s", journal=journal)
        self.result = go(run_blueprint(self.blueprint, "Mend it.", agent, RunOptions(**options), session=session))
        self.events = go(journal.read("s"))
        self.regions = progress_of(self.events).regions

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of that kind."""
        return [event.body for event in self.events if isinstance(event.body, kind)]

    def instructions(self) -> list[str]:
        """What stood before the conversation in each request."""
        return [request.instructions for request in self.model.requests]


def test_what_a_tool_writes_is_recorded_with_its_result_and_seen_in_the_next_request() -> None:
    ran = Ran([call("ContextWrite", region="plan", text="Look first."), "done"], PLAN)
    assert EndReason.ANSWERED == ran.result.end_reason
    assert ["Look first."] == texts(ran.regions["plan"])
    assert [False, True] == ["Look first." in told for told in ran.instructions()]
    (at,) = [place for place, event in enumerate(ran.events) if isinstance(event.body, ev.RegionWritten)]
    assert isinstance(ran.events[at - 1].body, ev.ToolFinished)
    assert ran.events[at - 1].at == ran.events[at].at


def test_a_write_that_is_refused_is_told_to_the_model_and_changes_nothing() -> None:
    ran = Ran([call("ContextWrite", region="plan", text="x" * 1000), "done"], PLAN)
    assert [] == ran.of(ev.RegionWritten)
    (finished,) = ran.of(ev.ToolFinished)
    assert (True, True) == (finished.is_error, "make the text shorter" in finished.content)


def test_two_changes_of_one_response_both_count() -> None:
    script: list[Item] = [
        [call("ChecklistAdd", items=["a"]), call("ChecklistAdd", items=["b"]), call("ChecklistDone", numbers=[1])],
        "done",
    ]
    ran = Ran(script, Checklist(name="steps"))
    assert [("a", 1, True), ("b", 2, False)] == [(one.text, one.number, one.is_done) for one in ran.regions["steps"]]


def test_what_turns_out_to_be_over_its_budget_takes_no_more_and_can_be_made_less() -> None:
    log = Compacting(name="log", max_tokens=100, compact_at=100)
    writes = [call("ContextAppend", region="log", text=f"{at}" * 150) for at in (1, 2)]
    then = [call("ContextAppend", region="log", text="3"), call("ContextDelete", region="log", number=1)]
    script: list[Item] = [writes, spending(10_000, *then), "done"]
    told = "Be kind. " * 1_000
    stage = Stage(name="work", instructions=told, tools=("Context*",))
    ran = Ran(script, log, stages=(stage,))
    assert [False, False, True, False] == [one.is_error for one in ran.of(ev.ToolFinished)]
    assert ["2" * 150] == texts(ran.regions["log"])


# H 165
def test_a_region_that_a_stage_does_not_see_keeps_what_it_holds() -> None:
    tools = ("Context*",)
    stages = (
        Stage(name="one", tools=tools),
        Stage(name="two", tools=tools, regions=()),
        Stage(name="three", tools=tools, regions=("plan",)),
    )
    script: list[Item] = [
        call("ContextWrite", region="plan", text="Look first."),
        "one is done",
        call("ContextWrite", region="plan", text="Forget it."),
        "two is done",
        "three is done",
    ]
    ran = Ran(script, PLAN, stages=stages)
    assert [False, True, False, False, True] == ["Look first." in told for told in ran.instructions()]
    assert ["Look first."] == texts(ran.regions["plan"])


def test_a_stage_that_begins_anew_is_not_shown_what_was_said_before_it() -> None:
    stages = (Stage(name="one"), Stage(name="two"))
    ran = Ran(["the first word", "done"], Sliding(name="conversation", since="stage"), stages=stages)
    first, second = ran.model.requests
    assert "Mend it." in str(first.messages)
    assert ("Mend it." in str(second.messages), "the first word" in str(second.messages)) == (False, False)


def test_seeds_are_there_from_the_first_request_and_taint_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("Read me.")
    files = Keyed(name="files", seed=FilesSeed(files=("README",)))
    ran = Ran(["done"], Pinned(name="task", seed="task"), files, workspace=tmp_path)
    (told,) = ran.instructions()
    assert ('<region name="task">\nMend it.\n</region>' in told, "Read me." in told) == (True, True)
    assert Taint(private=True) == fold(ran.events).taint


def test_a_seed_that_cannot_be_had_ends_the_run_and_says_why(tmp_path: Path) -> None:
    files = Keyed(name="files", seed=FilesSeed(files=("none",)))
    with pytest.raises(RunFailed, match="stage work cannot begin: none: No such file"):
        Ran(["done"], files, workspace=tmp_path)


# H 166
def test_a_stage_whose_regions_leave_its_model_no_room_is_not_begun() -> None:
    big = Pinned(name="big", max_tokens=100_000, seed=LiteralSeed(literal="x" * 40_000))
    model = ScriptedModel(["never"])
    model.info = ModelInfo(id="small", provider="scripted", context_tokens=8_000)
    blueprint = Blueprint(name="b", regions=(big,), stages=(Stage(name="work"),))
    with pytest.raises(RunFailed, match=r"stage work cannot begin.*window leaves 7200.*big 10001"):
        go(run_blueprint(blueprint, "Mend it.", Agent(model=model)))
    assert [] == model.requests


# Summaries in a run


NOTES = Compacting(name="notes", max_tokens=100, compact_at=50, keeps=1)


def written(count: int) -> list[Item]:
    """A response that writes so many notes of ten tokens each."""
    return [[call("ContextAppend", region="notes", text=f"note {at} {'x' * 29}") for at in range(count)]]


def test_notes_above_their_mark_are_summed_up_before_the_model_is_asked_again() -> None:
    ran = Ran([*written(6), "in short", "done"], NOTES)
    assert ["in short", "note 5 x"] == [text[:8] for text in texts(ran.regions["notes"])]
    asked, goes_on = ran.model.requests[1:]
    assert (True, True) == ("note 4" in str(asked.messages), "in short" in goes_on.instructions)
    assert "note 4" not in goes_on.instructions
    assert [("notes", True, None)] == [(one.region, one.is_kept, one.error) for one in ran.of(ev.RegionSummed)]
    assert "in short" not in str(ran.result.transcript)


@pytest.mark.parametrize("reply", ["", " ", "y" * 500], ids=len)
def test_a_summary_of_no_use_is_not_asked_for_again_until_something_is_written(reply: str) -> None:
    script: list[Item] = [*written(6), reply, *written(1), "in short", "done"]
    ran = Ran(script, NOTES)
    assert [False, True] == [one.is_kept for one in ran.of(ev.RegionSummed)]
    assert 5 == len(ran.model.requests)
    assert 2 == len(ran.regions["notes"])


def test_a_model_that_fails_to_sum_up_leaves_the_notes_as_they_are() -> None:
    ran = Ran([*written(6), ModelError("no luck"), "done"], NOTES)
    assert (6, EndReason.ANSWERED) == (len(ran.regions["notes"]), ran.result.end_reason)
    (summed,) = ran.of(ev.RegionSummed)
    assert (False, True) == (summed.is_kept, "no luck" in summed.error)


def test_a_conversation_that_compacts_is_summed_up_and_the_whole_of_it_stays_in_the_journal() -> None:
    talk = Sliding(name="conversation", strategy="compact", max_items=4, count=3)
    reads: list[Item] = [call("ContextRead") for _ in range(4)]
    ran = Ran([*reads, "they looked around", call("ContextRead"), "done"], talk, PLAN)
    assert ["Mend it.", "they looked around"] == texts(ran.regions["conversation"])
    assert "they looked around" in str(ran.model.requests[-1].messages[0])
    assert 5 == str(ran.result.transcript).count("ToolResult(")


def spending(tokens: int, *said: Said) -> Reply:
    """A reply that cost so many tokens."""
    return Reply(content=said, usage=Usage(input_tokens=tokens, output_tokens=0), cost=0.0)


def test_what_a_summary_takes_counts_against_the_run() -> None:
    calls = [call("ContextAppend", region="notes", text=f"note {at} {'x' * 29}") for at in range(6)]
    script: list[Item] = [spending(10, *calls), spending(1_000, "in short"), spending(1, "never asked")]
    ran = Ran(script, NOTES, max_tokens=500)
    assert (EndReason.MAX_TOKENS, 1_000) == (ran.result.end_reason, ran.of(ev.RegionSummed)[0].tokens)
    assert "never asked" not in str(ran.result.transcript)
    assert ["in short", "note 5 x"] == [text[:8] for text in texts(ran.regions["notes"])]


def test_a_run_that_is_cancelled_while_it_sums_up_ends_and_loses_nothing() -> None:
    asked = asyncio.Event()

    async def never(request: ModelRequest) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "never"

    async def story() -> tuple[Any, list[ev.Event]]:
        journal = MemoryJournal()
        agent = Agent(model=ScriptedModel([*written(6), never]), tools=built_in_tools(REGIONAL))
        blueprint = Blueprint(name="b", regions=(NOTES,), stages=(Stage(name="work", tools=("Context*",)),))
        run = start_blueprint(blueprint, "Mend it.", agent, session=Session(id="s", journal=journal))
        await asked.wait()
        run.cancel()
        return await run, list(await journal.read("s"))

    result, events = go(story())
    assert EndReason.CANCELLED == result.end_reason
    assert 6 == len(progress_of(events).regions["notes"])
    assert not [event for event in events if isinstance(event.body, ev.RegionSummed)]


def test_regions_are_what_their_events_say() -> None:
    ran = Ran([*written(6), "in short", call("ContextWrite", region="plan", text="Go."), "done"], NOTES, PLAN)
    told = {one.region: one.entries for one in ran.of(ev.RegionWritten)}
    assert told == ran.regions
    assert isinstance(told["plan"][0], RegionEntry)
