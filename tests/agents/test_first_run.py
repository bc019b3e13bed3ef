"""The shortest way in, as the README shows it, and what one run leaves behind."""

from __future__ import annotations

import asyncio
from typing import Any

from handrail import (
    Agent,
    EndReason,
    Event,
    RoundBoundary,
    RoundDecision,
    RunOptions,
    RunResult,
    ScriptedModel,
    call,
    tool,
)
from handrail.models.scripted import Item
from handrail.transcripts.model import Author, Text, Via

from .stage import go, said


@tool(parallel=True)
def probe(value: str) -> str:
    """Look at one thing. value: what to look at."""
    return f"seen {value}"


class OnceMore:
    async def on_round(self, ctx: Any) -> RoundDecision:
        if ctx.boundary is RoundBoundary.ASSISTANT_MESSAGE_COMMITTED and ctx.injections == 0:
            return RoundDecision.inject("Check it once more.")
        return RoundDecision.proceed()


def _first() -> tuple[RunResult, ScriptedModel, Agent]:
    script: list[Item] = [
        call("probe", value="a"),
        "first answer",
        "second answer",
        call("probe", value="b"),
        "third answer",
    ]
    model = ScriptedModel(script)
    agent = Agent(model=model, tools=[probe])
    return go(agent.run("go", RunOptions(strategies=[OnceMore()]))), model, agent


def test_a_strategy_that_injects_once_gets_a_second_answer() -> None:
    result, model, _ = _first()
    assert (result.output, result.end_reason) == ("second answer", EndReason.ANSWERED)
    assert said(result.transcript.body) == [
        "user: go",
        "assistant: ",
        "user: [seen a]",
        "assistant: first answer",
        "user: Check it once more.",
        "assistant: second answer",
    ]
    assert [len(request.messages) for request in model.requests] == [1, 3, 5]
    assert result.rounds == 3


def test_what_was_injected_is_the_hosts_and_names_the_strategy() -> None:
    result, _, _ = _first()
    assert result.transcript.body[4].content == (Text("Check it once more.", Author.HOST, by="OnceMore"),)
    assert result.transcript.body[0].content == (Text("go", Author.PERSON, via=Via.PROMPT),)


def test_a_started_run_is_steered_iterated_and_awaited() -> None:
    _, model, agent = _first()

    async def story() -> tuple[list[str], Any, RunResult]:
        run = agent.start("go", RunOptions())
        receipt = run.steer("use the other file")
        kinds = [type(event.body).__name__ async for event in run if isinstance(event, Event)]
        return kinds, receipt, await run

    kinds, receipt, result = go(story())
    assert (result.output, receipt.status, receipt.round) == ("third answer", "delivered", 2)
    assert kinds[0] == "SessionOpened"
    assert kinds[-1] == "RunEnded"
    assert "InputDelivered" in kinds
    assert said(model.requests[-1].messages)[-1] == "user: [seen b] use the other file"


def test_a_run_goes_on_with_the_session_of_another() -> None:
    model = ScriptedModel(["one", "two"])
    agent = Agent(model=model)

    async def story() -> RunResult:
        first = await agent.run("first")
        return await agent.run("second", session=first.session)

    result = go(story())
    assert said(result.transcript.body) == ["user: first", "assistant: one", "user: second", "assistant: two"]
    assert result.rounds == 1


def test_run_sync_is_the_same_run_and_is_refused_in_a_loop() -> None:
    agent = Agent(model=ScriptedModel(["yes", "no"]))
    assert agent.run_sync("go").output == "yes"

    async def story() -> str:
        try:
            agent.run_sync("go")
        except RuntimeError as problem:
            return str(problem)
        return "ran"

    assert "loop" in asyncio.run(story())
