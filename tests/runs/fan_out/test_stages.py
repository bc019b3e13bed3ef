"""Stages that hand their work out: to stages, blueprints and agents, with a report, and a way out where it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from handrail import Agent, EndReason, RunResult, ScriptedModel, call, tool
from handrail.blueprints.model import Blueprint
from handrail.errors import UnknownName
from handrail.journal import events as ev
from handrail.journal.vocabulary import AskOutcome
from handrail.models.port import ModelRequest
from handrail.runs.asks.replies import Reply
from handrail.runs.stages import Workers, progress_of, resume_blueprint, start_blueprint
from tests.runs.stages.playing import ABORT, POINT, Play, blueprint, go, stage

REGIONS = [{"kind": "pinned", "name": "evidence"}]


def words(request: ModelRequest) -> str:
    """Everything a model is shown, as one text."""
    blocks = [block for message in request.messages for block in message.content]
    texts = [str(getattr(block, "text", None) or getattr(block, "content", "")) for block in blocks]
    return "\n".join((request.instructions or "", *texts))


def plays(request: ModelRequest) -> Any:
    """One model for all stages, told apart by their instructions."""
    shown = request.instructions or ""
    if "This is split." in shown:
        return call("FanOut", items=[{"id": "a", "context": "look at a"}, {"id": "b", "context": "look at b"}])
    if "This is dig." in shown:
        item = next(line for line in words(request).splitlines() if line.startswith("Item "))
        return f"dug {item}"
    return f"wrote: {'evidence' if 'dug Item a' in words(request) else 'nothing'}"


def split(*, then: Mapping[str, Any] | None = None, merge: str | None = "write", **fan_out: Any) -> Blueprint:
    """A stage that splits, a worker that digs, and a stage that writes."""
    declared = {"stage": "dig", **({} if merge is None else {"merge": merge}), **fan_out}
    return blueprint(
        stage("split", fan_out={name: value for name, value in declared.items() if value is not None}, **(then or {})),
        stage("dig", is_worker=True),
        stage("write"),
        regions=REGIONS,
    )


def play(made: Blueprint, model: Any = plays, **more: Any) -> Play:
    return Play(made, [model] * 30, **more)


async def report_of(played: Play) -> str:
    (finished,) = await played.events(ev.ToolFinished)
    return str(finished.content)


def test_a_stage_hands_its_items_to_a_worker_stage_and_the_next_one_goes_on_with_the_report() -> None:
    async def story() -> tuple[RunResult, list[str], str, int]:
        played = play(split())
        result = await played.start()
        return result, await played.path(), await report_of(played), len(await played.journal.sessions())

    result, path, report, sessions = go(story())
    assert (result.end_reason, result.output) == (EndReason.ANSWERED, "wrote: evidence")
    assert path == ["split", "write"]
    assert report == "2 done, 0 failed\n\n## a (done)\ndug Item a:\n\n## b (done)\ndug Item b:"
    assert sessions == 3


def test_the_report_goes_into_the_region_that_the_stage_names() -> None:
    async def story() -> tuple[RunResult, str, str]:
        played = play(split(region="evidence"))
        result = await played.start()
        held = (await played.progress()).regions["evidence"]
        return result, await report_of(played), held[0].text

    result, told, held = go(story())
    assert told == "2 done, 0 failed. The report stands in evidence."
    assert held.startswith("2 done, 0 failed\n\n## a (done)\ndug Item a:")
    assert result.output == "wrote: evidence"


def test_a_report_larger_than_its_region_is_cut_and_names_every_item() -> None:
    # H 176
    def verbose(request: ModelRequest) -> Any:
        given = plays(request)
        return given + " at length" * 5000 if isinstance(given, str) and given.startswith("dug") else given

    async def story() -> str:
        small = {"kind": "pinned", "name": "evidence", "max_tokens": 600}
        made = split(region="evidence").model_dump(mode="json", exclude_unset=True)
        played = play(Blueprint.model_validate({**made, "regions": [small]}), verbose)
        await played.start()
        return (await played.progress()).regions["evidence"][0].text

    held = go(story())
    assert [part.split(" ")[0] for part in held.split("## ")[1:]] == ["a", "b"]
    assert held.count("[cut: ") == 2
    assert all(len(part) >= 200 for part in held.split("## ")[1:])


def failing(request: ModelRequest) -> Any:
    given = plays(request)
    if isinstance(given, str) and given.startswith("dug Item b"):
        raise ValueError("no b")
    return given


RESCUE = {"edges": [{"when": "error", "to": "write"}, {"when": "always", "to": "end"}]}


@pytest.mark.parametrize(
    ("on_failure", "edge"),
    [pytest.param("fail", "error", id="H 174: the error path"), pytest.param("continue", "always", id="the report")],
)
def test_one_failed_worker_fails_the_stage_only_where_that_was_said(on_failure: str, edge: str) -> None:
    async def story() -> list[str]:
        played = play(split(merge=None, then=RESCUE, on_failure=on_failure), failing)
        await played.start()
        return [body.edge for body in await played.events(ev.StageLeft)]

    assert go(story())[0] == edge


def test_without_a_way_for_errors_the_run_fails_and_says_which_items() -> None:
    async def story() -> list[ev.RunEnded]:
        played = play(split(merge=None, on_failure="fail", max_workers=1), failing)
        with pytest.raises(Exception, match="items were not done: b"):
            await played.start()
        return await played.events(ev.RunEnded)

    (ended,) = go(story())
    assert ended.reason is EndReason.FAILED


def test_a_worker_that_owes_an_output_and_gives_none_has_failed() -> None:
    # H 175
    async def story() -> str:
        made = split().model_dump(mode="json", exclude_unset=True, by_alias=True)
        dig = made["stages"][1]
        dig["output"] = {"schema": {"type": "object", "properties": {"found": {"type": "string"}}}}
        played = play(Blueprint.model_validate(made))
        await played.start()
        return await report_of(played)

    report = go(story())
    assert report.startswith("0 done, 2 failed")
    assert "without its output" in report


def test_a_stage_that_never_splits_is_asked_so_often_and_then_fails() -> None:
    async def story() -> tuple[int, list[ev.StageLeft]]:
        played = play(split(merge=None, then=RESCUE, max_attempts=2), lambda request: "I would rather not")
        await played.start()
        asked = [body for body in await played.events(ev.Injected) if "FanOut" in str(body.content)]
        return len(asked), await played.events(ev.StageLeft)

    asked, left = go(story())
    assert asked == 2
    assert (left[0].edge, "without handing its work out" in (left[0].reason or "")) == ("error", True)


def test_a_split_into_nothing_is_one() -> None:
    # H 172
    def nothing(request: ModelRequest) -> Any:
        return call("FanOut", items=[]) if "This is split." in (request.instructions or "") else plays(request)

    async def story() -> tuple[list[str], EndReason]:
        played = play(split(), nothing)
        result = await played.start()
        return await played.path(), result.end_reason

    assert go(story()) == (["split", "write"], EndReason.ANSWERED)


def test_a_stage_that_owes_an_output_makes_it_of_the_report() -> None:
    def answers(request: ModelRequest) -> Any:
        is_told = "dug Item a" in str(request.messages[-1].content)
        is_split = "This is split." in str(request.instructions)
        return call("Answer", found="both") if is_told and is_split else plays(request)

    async def story() -> Any:
        output = {"schema": {"type": "object", "properties": {"found": {"type": "string"}}, "required": ["found"]}}
        played = play(split(then={"output": output, "edges": [{"when": "always", "to": "end"}]}, merge=None), answers)
        return (await played.start()).output

    assert go(story()) == {"found": "both"}


# People -----------------------------------------------------------------------------------------------------


def with_point() -> Blueprint:
    made = split().model_dump(mode="json", exclude_unset=True)
    made["stages"][1]["points"] = [{**POINT, "document_region": None}]
    return Blueprint.model_validate(made)


def test_a_point_of_a_worker_stands_under_the_root_and_aborting_it_fails_its_item_alone() -> None:
    # H 53
    async def story() -> tuple[list[tuple[str, ...]], str, list[AskOutcome], RunResult]:
        played = play(with_point())
        await played.start()
        asks = await played.journal.asks(root="s1")
        for ask in asks:
            option = ABORT if ask.opened.origin[-1].endswith(" a") else "Approve"
            await played.desk.answer(ask.ask, Reply(option=option))
        result = await played.resume()
        outcomes = [row.closed.outcome for row in await played.journal.asks(is_open=False) if row.closed]
        return [ask.opened.origin for ask in asks], await report_of(played), outcomes, result

    origins, report, outcomes, result = go(story())
    assert sorted(origins) == [("dig: a",), ("dig: b",)]
    assert report.startswith("1 done, 1 failed\n\n## a (failed)")
    assert "cancelled" in report
    assert outcomes == [AskOutcome.ANSWERED, AskOutcome.ANSWERED]
    assert result.end_reason is EndReason.ANSWERED


def test_what_the_splitting_stage_may_do_is_not_what_its_workers_may() -> None:
    @tool(destructive=True)
    async def burn() -> str:
        """Burn it."""
        return "burnt"

    def burns(request: ModelRequest) -> Any:
        is_worker = "This is dig." in (request.instructions or "")
        return call("burn") if is_worker and len(request.messages) == 1 else plays(request)

    async def story() -> int:
        made = split(then={"permissions": {"allow": ["burn"]}, "tools": ["burn"]}).model_dump(
            mode="json", exclude_unset=True
        )
        made["stages"][1]["tools"] = ["burn"]
        played = play(Blueprint.model_validate(made), burns, tools=[burn])
        await played.start()
        return len(await played.journal.asks(root="s1"))

    assert go(story()) == 2


# Other workers ----------------------------------------------------------------------------------------------


def test_items_go_to_an_agent_of_the_host() -> None:
    async def story() -> str:
        played = play(split(stage=None, agent="miner"))
        miner = Agent(model=ScriptedModel(["mined"], repeats=True), name="miner")
        workers = Workers(agents={"miner": miner})
        await start_blueprint(
            played.blueprint, "go", played.agent, played.options, session=played.session, workers=workers
        )
        return await report_of(played)

    assert go(story()) == "2 done, 0 failed\n\n## a (done)\nmined\n\n## b (done)\nmined"


def test_items_go_to_another_blueprint_and_go_on_by_what_it_said_when_they_began() -> None:
    async def story() -> tuple[str, list[str]]:
        first = blueprint(stage("dig", points=[{**POINT, "document_region": None}]), name="mine")
        second = blueprint(stage("other"), name="mine")
        played = play(split(stage=None, blueprint="mine"))
        common = (played.agent, played.options)
        await start_blueprint(
            played.blueprint, "go", *common, session=played.session, workers=Workers(blueprint=lambda name: first)
        )
        asks = await played.journal.asks(root="s1")
        for ask in asks:
            await played.desk.answer(ask.ask, Reply(option="Approve"))
        await (await resume_blueprint(played.session, *common, workers=Workers(blueprint=lambda name: second)))
        child = progress_of(await played.journal.read(asks[0].session))
        return await report_of(played), [str(child.visits)]

    report, visits = go(story())
    assert report.startswith("2 done, 0 failed")
    assert visits == ["Counter({'dig': 1})"]


@pytest.mark.parametrize("hand", ["agent", "blueprint"])
def test_a_worker_that_nobody_offers_is_missed_before_anything_begins(hand: str) -> None:
    async def story() -> int:
        hands: dict[str, Any] = {"stage": None, hand: "nobody"}
        played = play(split(**hands))
        with pytest.raises(UnknownName, match="'nobody', which is not there"):
            await played.start()
        return len(await played.journal.sessions())

    assert go(story()) == 0
