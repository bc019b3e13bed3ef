"""Sub-agents: their own session, the bounds above them, the people above them, and nothing else of their parent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import (
    Agent,
    Approve,
    Deny,
    EndReason,
    Event,
    Gate,
    Policy,
    Relayed,
    Reply,
    RoundContext,
    RoundDecision,
    RunOptions,
    RunResult,
    ScriptedModel,
    Verdict,
    call,
    tool,
)
from handrail.agents.approval import ApprovalRequest
from handrail.agents.sessions import transcript_of
from handrail.agents.spawn import spawn_tool
from handrail.agents.strategy import StrategyLike
from handrail.agents.taint import CLEAN
from handrail.agents.tools import built_in_tools
from handrail.journal import events as ev
from handrail.models.scripted import Item
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Author, Taint, Text, ToolResult, Usage, Via

from .stage import TOOLS, Watching, go, said

USAGE = Usage(input_tokens=40, output_tokens=10)


def parent_of(child: list[Item], script: list[Item] | None = None, **bounds: Any) -> Agent:
    """An agent that hands "the work" to one that plays ``child``."""
    worker = Agent(model=ScriptedModel(child, name="worker"), tools=TOOLS, name="worker")
    spawn = spawn_tool(worker, bounds=RunOptions(**bounds))
    return Agent(model=ScriptedModel(script or [call("Spawn", prompt="the work"), "done"]), tools=[spawn], name="boss")


def happened(agent: Agent, options: RunOptions) -> tuple[RunResult, list[Any]]:
    async def story() -> tuple[RunResult, list[Any]]:
        run = agent.start("go", options)
        seen = [item async for item in run]
        return await run, seen

    return go(story())


def test_the_parent_gets_one_result_and_the_child_has_a_session_of_its_own() -> None:
    async def story() -> tuple[RunResult, Any]:
        result = await parent_of([call("probe", value="a"), "found it"]).run("go")
        events = await result.session.journal.read(result.session.id)
        spawned = [event.body for event in events if isinstance(event.body, ev.ChildSpawned)]
        assert [one.call for one in spawned] == ["call_1"]
        from handrail import Session

        return result, await transcript_of(Session(spawned[0].child, result.session.journal))

    result, child = go(story())
    assert said(result.transcript.body)[2] == "user: [found it]"
    assert said(child.body) == ["user: the work", "assistant: ", "user: [seen a]", "assistant: found it"]
    assert (child.meta.parent.session, child.meta.parent.kind, child.meta.parent.at) == (
        result.session.id,
        "subagent",
        "call_1",
    )
    assert child.body[0].content == (Text("the work", Author.MODEL, by="boss", via=Via.PROMPT),)


def test_what_happens_in_a_child_is_relayed_with_its_origin() -> None:
    _, seen = happened(parent_of(["found it"]), RunOptions())
    relayed = [one for one in seen if isinstance(one, Relayed) and isinstance(one.item, Event)]
    child = next(one.body.child for one in seen if isinstance(one, Event) and isinstance(one.body, ev.ChildSpawned))
    assert {one.origin for one in relayed} == {(child,)}
    assert [type(one.item.body).__name__ for one in relayed if isinstance(one.item, Event)][-1] == "RunEnded"


def test_row_31_strategies_stay_with_the_parent() -> None:
    watching = Watching()
    happened(parent_of([call("probe", value="a"), "found it"]), RunOptions(strategies=[watching]))
    assert [len(ctx.tool_results) for ctx in watching.asked] == [1, 0]
    assert {ctx.depth for ctx in watching.asked} == {0}


def test_strategies_go_down_when_told_to() -> None:
    depths: list[tuple[int, str | None]] = []

    async def look(ctx: RoundContext) -> RoundDecision:
        depths.append((ctx.depth, ctx.agent))
        return RoundDecision.proceed()

    strategies: list[StrategyLike] = [look]
    happened(parent_of(["found it"]), RunOptions(strategies=strategies, inherits=True))
    assert depths == [(1, "worker"), (0, "boss"), (0, "boss")]


def test_row_128_what_a_child_spends_counts_above_it() -> None:
    child: list[Item] = [Reply(content=("found it",), usage=USAGE)]
    result, seen = happened(parent_of(child), RunOptions(max_tokens=50))
    ended = next(one.body for one in seen if isinstance(one, Event) and isinstance(one.body, ev.ChildEnded))
    assert (ended.tokens, ended.reason) == (50, EndReason.ANSWERED)
    assert (result.end_reason, result.requests) == (EndReason.MAX_TOKENS, 1)


def test_a_child_draws_its_bounds_from_its_parents() -> None:
    child: list[Item] = [Reply(content=(call("probe", value=str(n)),), usage=USAGE) for n in range(9)]
    result, _ = happened(parent_of([*child, "late"], max_rounds=30), RunOptions(max_tokens=120))
    results = [block for block in result.transcript.body[-1].content if isinstance(block, ToolResult)]
    assert "max_tokens" in results[0].content
    assert results[0].is_error


def test_row_130_with_nothing_left_no_child_is_started_and_the_call_says_so() -> None:
    script: list[Item] = [Reply(content=(call("Spawn", prompt="x"),), usage=USAGE), "done"]
    result, seen = happened(parent_of(["never"], script), RunOptions(max_tokens=50))
    assert not any(isinstance(one, Event) and isinstance(one.body, ev.ChildSpawned) for one in seen)
    results = [block for block in result.transcript.body[-1].content if isinstance(block, ToolResult)]
    assert "nothing is left" in results[0].content


def test_row_129_a_child_is_cancelled_with_its_parent() -> None:
    async def story() -> tuple[RunResult, list[ev.Body]]:
        inside = asyncio.Event()

        async def hang(request: Any) -> str:
            inside.set()
            await asyncio.Event().wait()
            raise AssertionError

        run = parent_of([hang]).start("go")
        await inside.wait()
        run.cancel("enough")
        result = await run
        journal = result.session.journal
        child = next(name for name in await journal.sessions() if name != result.session.id)
        return result, [event.body for event in await journal.read(child)]

    result, child = go(story())
    assert result.end_reason is EndReason.CANCELLED
    last = child[-1]
    assert isinstance(last, ev.RunEnded)
    assert last.reason is EndReason.CANCELLED
    assert result.transcript.tool_pairs() == [(1, 2)]


def test_a_child_that_fails_is_a_failed_call() -> None:
    result, _ = happened(parent_of([ValueError("no luck")]), RunOptions())
    results = [block for block in result.transcript.body[2].content if isinstance(block, ToolResult)]
    assert results[0].is_error
    assert "no luck" in results[0].content
    assert result.output == "done"


def test_what_a_child_asks_reaches_the_people_above_with_the_path_of_agents() -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> Approve | Deny:
        asked.append(request)
        return Deny("not in my house") if request.tool == "wipe" else Approve()

    @tool(destructive=True)
    async def wipe() -> str:
        """Wipes."""
        raise AssertionError

    worker = Agent(model=ScriptedModel([call("wipe"), "could not"]), tools=[wipe], name="worker")
    boss = Agent(
        model=ScriptedModel([call("Spawn", prompt="clean up"), "done"]), tools=[spawn_tool(worker)], name="boss"
    )
    result = go(boss.run("go", RunOptions(approver=approve, gate=Gate(policy=Policy(harmless=Verdict.ALLOW)))))
    assert [(one.tool, one.origin) for one in asked] == [("wipe", ("worker",))]
    assert said(result.transcript.body)[2] == "user: [could not]"


def test_row_142_there_is_an_end_to_agents_below_agents() -> None:
    agent = Agent(model=ScriptedModel(["never"], repeats=True), name="agent-3")
    for depth in (2, 1, 0):
        script: list[Item] = [call("Spawn", prompt="go down"), f"answer of {depth}"]
        agent = Agent(model=ScriptedModel(script), tools=[spawn_tool(agent)], name=f"agent-{depth}")
    result, seen = happened(agent, RunOptions())
    assert result.output == "answer of 0"
    finished = [one.item.body for one in seen if isinstance(one, Relayed) and isinstance(one.item, Event)]
    assert any(isinstance(body, ev.ToolFinished) and "stand one under the other" in body.content for body in finished)


@pytest.mark.parametrize("input", [{}, {"prompt": ""}, {"prompt": "x", "agent": "nobody"}, {"prompt": "x", "y": 1}])
def test_the_tool_says_what_is_wrong_with_its_input(input: dict[str, Any]) -> None:
    assert spawn_tool({"one": Agent(model=ScriptedModel([])), "two": Agent(model=ScriptedModel([]))}).problems(input)


def test_one_of_several_agents_is_chosen_by_name() -> None:
    agents = {name: Agent(model=ScriptedModel([f"from {name}"], name=name), name=name) for name in ("one", "two")}
    model = ScriptedModel([call("Spawn", prompt="x", agent="two"), "done"])
    result = go(Agent(model=model, tools=[spawn_tool(agents)]).run("go"))
    assert said(result.transcript.body)[2] == "user: [from two]"


def test_what_a_child_can_bring_in_is_what_its_tools_can() -> None:
    def traits(*tools: Any, taint: Taint = CLEAN) -> ToolTraits:
        return spawn_tool(Agent(model=ScriptedModel([]), tools=tools, taint=taint)).traits

    reads = tool(name="read", private=True)(_nothing)
    looks_out = tool(name="look", untrusted=True, sends=True, destructive=True)(_nothing)
    assert traits() == ToolTraits()
    assert traits(reads) == ToolTraits(private=True)
    assert traits(reads, looks_out) == ToolTraits(private=True, untrusted=True)
    assert traits(taint=Taint(untrusted=True)) == ToolTraits(untrusted=True)


def _nothing() -> None:
    """Nothing."""


def test_a_child_that_met_no_strangers_words_brings_none_in() -> None:
    def taint(*script: Item) -> Taint | None:
        outside = tool(name="outside", untrusted=True)(_nothing)
        worker = Agent(model=ScriptedModel(script, name="worker"), tools=[*TOOLS, outside])
        boss = Agent(model=ScriptedModel([call("Spawn", prompt="x"), "done"]), tools=[spawn_tool(worker)])
        return go(boss.run("go")).transcript.body[-1].taint

    assert taint(call("probe", value="a"), "found it") == CLEAN
    assert taint(call("outside"), "found it") == Taint(untrusted=True)


def test_a_child_keeps_what_it_reads_on_in_apart_from_its_parents() -> None:
    @tool
    def many(word: str) -> str:
        """Says a word many times."""
        return f"{word}\n" * 3000

    read_on = call("ReadToolResult", tool_use_id="call_1", start_line=2999)
    tools = (many, *built_in_tools(["read_tool_result"]))
    worker = Agent(model=ScriptedModel([call("many", word="child"), read_on, "found it"], name="worker"), tools=tools)
    script: list[Item] = [call("many", word="parent"), call("Spawn", prompt="x"), read_on, "done"]
    result = go(Agent(model=ScriptedModel(script), tools=(*tools, spawn_tool(worker))).run("go"))
    last = result.transcript.body[-2].content[0]
    assert isinstance(last, ToolResult)
    assert str(last.content).startswith("parent\nparent\n")


def test_what_agents_further_down_spend_counts_all_the_way_up() -> None:
    bottom = Agent(model=ScriptedModel([Reply(content=("found",), usage=USAGE)], name="bottom"), name="bottom")
    middle_script: list[Item] = [Reply(content=(call("Spawn", prompt="x"),), usage=USAGE), "passed on"]
    middle = Agent(model=ScriptedModel(middle_script, name="middle"), tools=[spawn_tool(bottom)], name="middle")
    top = Agent(model=ScriptedModel([call("Spawn", prompt="x"), "done"]), tools=[spawn_tool(middle)], name="top")
    result = go(top.run("go"))
    assert (result.tokens, result.usage.input_tokens) == (100, 0)
