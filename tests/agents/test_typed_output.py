"""Typed output: one terminal tool whose input is the answer, checked, asked for, and tried again within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pydantic
import pytest

from handrail import (
    EndReason,
    Event,
    MemoryJournal,
    RoundDecision,
    RunFailed,
    RunOptions,
    RunResult,
    ScriptedModel,
    Session,
    call,
)
from handrail.models.scripted import Item

from .stage import Watching, agent_of, go, said


class Place(pydantic.BaseModel):
    name: str
    floor: int


class Room(msgspec.Struct):
    name: str
    floor: int


@dataclass
class Shelf:
    name: str
    floor: int


def typed(kind: Any, script: list[Item], **more: Any) -> tuple[RunResult, ScriptedModel]:
    agent, model = agent_of(script)
    options = RunOptions(**{key: value for key, value in more.items() if key != "is_output_only"})
    only = bool(more.get("is_output_only"))
    return go(agent.run("go", options, output=kind, is_output_only=only)), model


@pytest.mark.parametrize("kind", [Place, Shelf])
def test_the_answer_is_a_value_of_the_type(kind: Any) -> None:
    result, _ = typed(kind, [call("Answer", name="cellar", floor=-1)])
    assert result.output == kind(name="cellar", floor=-1)
    assert result.end_reason is EndReason.TOOL_FINISHED


@pytest.mark.parametrize(("kind", "value"), [(int, 3), (list[str], ["a"]), (dict[str, int], {"a": 1})])
def test_types_that_are_no_objects_are_answers_too(kind: Any, value: Any) -> None:
    given = value if kind == dict[str, int] else {"value": value}
    assert typed(kind, [call("Answer", **given)])[0].output == value


def test_an_answer_that_does_not_fit_is_told_every_fault_and_tried_again() -> None:
    result, model = typed(Place, [call("Answer", name=3), call("Answer", name="cellar", floor=-1)])
    assert result.output == Place(name="cellar", floor=-1)
    told = said(model.requests[1].messages)[-1]
    assert "name" in told
    assert "floor" in told


def test_row_32_an_answer_in_prose_is_asked_for_the_tool() -> None:
    result, model = typed(Place, ["It is the cellar.", call("Answer", name="cellar", floor=-1)])
    assert result.output == Place(name="cellar", floor=-1)
    assert said(model.requests[1].messages)[-1] == "user: Call the tool Answer before you end."


def test_row_83_a_model_that_never_calls_it_ends_without_an_output() -> None:
    result, model = typed(Place, [f"prose {n}" for n in range(9)])
    assert (result.output, result.end_reason, len(model.requests)) == (None, EndReason.ANSWERED, 4)


def test_row_84_a_typed_run_that_reaches_a_bound_says_which() -> None:
    result, _ = typed(Place, [call("probe", value="a"), "never"], max_rounds=1)
    assert (result.output, result.end_reason) == (None, EndReason.MAX_ROUNDS)


def test_row_82_with_nothing_but_the_answer_only_that_tool_is_offered_and_must_be_called() -> None:
    result, model = typed(Place, [call("Answer", name="cellar", floor=-1)], is_output_only=True)
    assert result.output == Place(name="cellar", floor=-1)
    assert [tool.name for tool in model.requests[0].tools] == ["Answer"]
    assert model.requests[0].tool_choice == "Answer"


def test_row_85_the_next_run_of_the_session_is_as_before() -> None:
    agent, model = agent_of([call("Answer", value=3), "prose"])

    async def story() -> RunResult:
        first = await agent.run("go", output=int)
        return await agent.run("more", session=first.session)

    assert go(story()).output == "prose"
    assert [tool.name for tool in model.requests[1].tools] == [tool.name for tool in agent.toolbox]


def test_what_a_strategy_finishes_with_is_of_the_type() -> None:
    value = Place(name="attic", floor=3)
    result, _ = typed(Place, ["never"], strategies=[Watching(RoundDecision.finish(value))])
    assert (result.output, result.end_reason) == (value, EndReason.STRATEGY_FINISH)


def test_what_is_not_of_the_type_is_an_error_of_the_strategy() -> None:
    with pytest.raises(RunFailed, match="no value of the run's output type"):
        typed(Place, ["never"], strategies=[Watching(RoundDecision.finish({"name": 3}))])


def test_a_type_no_schema_can_be_made_of_is_refused_at_the_start() -> None:
    class Odd:
        pass

    with pytest.raises(TypeError, match="cannot be an output"):
        typed(Odd, ["never"])


def test_a_struct_of_ours_is_a_type_too() -> None:
    result, _ = typed(Room, [call("Answer", name="cellar", floor=-1)])
    assert result.output == Room("cellar", -1)


@pytest.mark.parametrize("only", [False, True])
def test_prose_in_the_place_of_the_answer_is_asked_for_again(only: bool) -> None:
    result, model = typed(Place, ["the cellar", call("Answer", name="cellar", floor=-1)], is_output_only=only)
    assert (result.output, len(model.requests)) == (Place(name="cellar", floor=-1), 2)


@pytest.mark.parametrize("only", [False, True])
def test_a_typed_run_whose_driver_died_anywhere_comes_to_the_same_answer(only: bool) -> None:
    script: list[Item] = ["the cellar", call("Answer", name=3), call("Answer", name="cellar", floor=-1)]

    async def resumed(events: Sequence[Event]) -> tuple[Any, Sequence[str]]:
        kept = Session("s1", MemoryJournal())
        await kept.journal.append(kept.id, 0, await kept.journal.take_over(kept.id), events)
        agent, model = agent_of(script)
        result = await agent.resume(kept, output=Place, is_output_only=only)
        return result.output, sorted({tool.name for request in model.requests for tool in request.tools})

    async def story() -> list[tuple[Any, Sequence[str]]]:
        whole = (await agent_of(script)[0].run("go", output=Place, is_output_only=only)).session
        events = await whole.journal.read(whole.id)
        return [await resumed(events[:cut]) for cut in range(3, len(events) - 1)]

    outcomes = go(story())
    assert len(outcomes) > 9
    assert [output for output, _ in outcomes] == [Place(name="cellar", floor=-1)] * len(outcomes)
    assert all(offered in ([], ["Answer"]) for _, offered in outcomes) is only


def test_a_typed_run_that_waits_goes_on_to_an_answer_of_its_type() -> None:
    watching = Watching(RoundDecision.pause("Which house?"))

    async def story() -> Any:
        agent, _ = agent_of(["I ask", call("Answer", name="cellar", floor=-1)])
        options = RunOptions(strategies=[watching])
        waits = await agent.run("go", options, output=Place)
        return (await agent.resume(waits.session, options, answer="ours", output=Place)).output

    assert go(story()) == Place(name="cellar", floor=-1)
