"""Every end is one reason and one result with everything committed (K.2, K.6); failures carry it too."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import (
    Agent,
    Bound,
    CancellationToken,
    EndReason,
    Event,
    Pool,
    Raw,
    Reply,
    RoundBoundary,
    RunFailed,
    RunOptions,
    RunResult,
    ScriptedModel,
    call,
    tool,
)
from handrail.journal import events as ev
from handrail.models.errors import BadKey, Overloaded
from handrail.models.retry import RetryPolicy
from handrail.models.scripted import Item
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Refusal, RefusalKind, ToolResult, ToolUse, Usage

from .stage import TOOLS, Watching, agent_of, go, played, said

USAGE = Usage(input_tokens=40, output_tokens=10)
AT_ONCE = RetryPolicy(base_s=0.0)


def _paid(*said: Any, cost: float | None = None) -> Reply:
    return Reply(content=said, usage=USAGE, cost=cost)


def _refusals(result: RunResult, at: int = -1) -> list[Refusal | None]:
    return [block.refusal for block in result.transcript.body[at].content if isinstance(block, ToolResult)]


# Answers of several kinds


def test_row_41_a_plain_answer() -> None:
    result, _ = played(["yes"])
    assert (result.output, result.end_reason, len(result.transcript.body)) == ("yes", EndReason.ANSWERED, 2)


def test_row_58_an_empty_answer_is_an_answer_and_what_came_before_is_kept() -> None:
    result, model = played([call("probe", value="a"), Reply(content=())])
    assert (result.output, result.end_reason) == ("", EndReason.ANSWERED)
    assert said(result.transcript.body)[2] == "user: [seen a]"
    assert len(model.requests) == 2


def test_a_response_without_anything_in_it_is_never_sent_back() -> None:
    async def story() -> ScriptedModel:
        agent, model = agent_of([Reply(content=()), "second"])
        first = await agent.run("go")
        await agent.run("more", session=first.session)
        return model

    assert said(go(story()).requests[1].messages) == ["user: go", "user: more"]


@pytest.mark.parametrize(("reason", "end"), [("max_tokens", EndReason.LENGTH), ("refusal", EndReason.REFUSAL)])
def test_row_67_a_length_cut_and_a_refusal_are_ends_of_their_own(reason: str, end: EndReason) -> None:
    result, _ = played([Reply(content=("as far as it",), stop_reason=reason)])
    assert (result.output, result.end_reason) == ("as far as it", end)


def test_row_68_a_call_cut_off_by_length_is_told_apart_from_bad_arguments() -> None:
    cut = Reply(content=(ToolUse("call_1", Raw("probe", '{"value": "a')),), stop_reason="max_tokens")
    bad = Reply(content=(ToolUse("call_1", Raw("probe", '{"value": a}')),))
    texts = []
    for reply in (cut, bad):
        result, _ = played([reply, "done"])
        texts += [block.content for block in result.transcript.body[2].content if isinstance(block, ToolResult)]
    assert "length limit" in texts[0]
    assert "length limit" not in texts[1]


def test_row_81_the_first_terminal_call_answers_and_row_78_later_ones_are_not_run() -> None:
    result, model = played([[call("done", answer="one"), call("probe", value="a"), call("done", answer="two")]])
    assert (result.output, result.end_reason, len(model.requests)) == ("one", EndReason.TOOL_FINISHED, 1)
    kinds = [None if one is None else one.kind for one in _refusals(result)]
    assert kinds == [None, RefusalKind.NOT_RUN, RefusalKind.NOT_RUN]


def test_row_79_a_terminal_tool_runs_alone_even_if_it_says_it_is_parallel() -> None:
    @tool(parallel=True, is_terminal=True)
    async def end(answer: str) -> str:
        """End. answer: it."""
        return answer

    model = ScriptedModel([[call("end", answer="one"), call("end", answer="two")]])
    result = go(Agent(model=model, tools=[end]).run("go"))
    assert result.output == "one"
    assert [one is None for one in _refusals(result)] == [True, False]


def test_a_terminal_tool_that_fails_ends_nothing() -> None:
    @tool(is_terminal=True)
    async def end(answer: str) -> str:
        """End. answer: it."""
        if answer == "bad":
            raise ValueError("not that")
        return answer

    model = ScriptedModel([call("end", answer="bad"), call("end", answer="good")])
    assert go(Agent(model=model, tools=[end]).run("go")).output == "good"


# Bounds


def test_row_70_max_rounds_keeps_the_work() -> None:
    result, _ = played([call("probe", value="a"), call("probe", value="b"), "never"], max_rounds=2)
    assert (result.end_reason, result.output) == (EndReason.MAX_ROUNDS, None)
    assert said(result.transcript.body)[-1] == "user: [seen b]"


def test_row_57_max_requests_counts_retries() -> None:
    result, _ = played([Overloaded("busy"), call("probe", value="a"), "never"], max_requests=2, retry=AT_ONCE)
    assert (result.end_reason, result.requests, result.rounds) == (EndReason.MAX_REQUESTS, 2, 1)


def test_row_56_a_call_past_the_bound_is_never_run_and_says_so() -> None:
    calls: Item = [call("change", value="a"), call("change", value="b")]
    result, _ = played([calls, "never"], max_tool_calls=1)
    assert (result.end_reason, result.tool_calls) == (EndReason.MAX_TOOL_CALLS, 1)
    assert [one and (one.kind, one.by) for one in _refusals(result)] == [None, (RefusalKind.BLOCKED, "limit")]


def test_row_125_a_round_that_crosses_the_token_bound_is_kept_and_no_other_follows() -> None:
    result, model = played([_paid(call("probe", value="a")), "never"], max_tokens=50)
    assert (result.end_reason, len(model.requests)) == (EndReason.MAX_TOKENS, 1)
    assert said(result.transcript.body)[-1] == "user: [seen a]"


def test_row_126_an_answer_that_crosses_it_is_an_answer() -> None:
    assert played([_paid("yes")], max_tokens=50)[0].end_reason is EndReason.ANSWERED


def test_max_cost_is_counted_as_the_model_tells_it() -> None:
    result, _ = played(
        [_paid(call("probe", value="a"), cost=0.6), _paid(call("probe", value="b"), cost=0.6), "never"], max_cost=1.0
    )
    assert result.end_reason is EndReason.MAX_COST
    assert result.cost == pytest.approx(1.2)


def test_a_cost_that_nobody_knows_is_not_run_past_in_silence() -> None:
    result, _ = played([call("probe", value="a"), "never"], max_cost=1.0)
    assert (result.end_reason, result.cost, result.requests) == (EndReason.MAX_COST, None, 1)


def test_tokens_that_nobody_reports_are_not_run_past_in_silence() -> None:
    result, _ = played([call("probe", value="a"), "never"], max_tokens=1_000)
    assert (result.end_reason, result.requests) == (EndReason.MAX_TOKENS, 1)


def test_row_73_max_seconds_counts_work_on_a_clock_that_never_goes_back() -> None:
    clock = ManualClock()

    @tool
    async def work() -> str:
        """Works for a minute, while somebody sets the wall clock back."""
        clock.advance(60.0)
        clock.set(clock.now().replace(year=2020))
        return "worked"

    model = ScriptedModel([call("work"), call("work"), "never"])
    result = go(Agent(model=model, tools=[work], clock=clock).run("go", RunOptions(max_seconds=100.0)))
    assert (result.end_reason, result.elapsed_s, result.rounds) == (EndReason.MAX_SECONDS, 120.0, 2)


def test_max_seconds_cuts_off_a_tool_that_hangs() -> None:
    @tool
    async def hang() -> str:
        """Hangs."""
        await asyncio.Event().wait()
        raise AssertionError

    model = ScriptedModel([call("hang"), "never"])
    result = go(Agent(model=model, tools=[hang]).run("go", RunOptions(max_seconds=0.02)))
    assert result.end_reason is EndReason.MAX_SECONDS
    assert [one and one.kind for one in _refusals(result)] == [RefusalKind.INTERRUPTED]


def test_row_131_a_pool_is_one_purse_for_many_runs() -> None:
    pool = Pool(max_tokens=120)

    async def story() -> list[RunResult]:
        agents = [agent_of([_paid(call("probe", value="a")), _paid("yes")])[0] for _ in range(3)]
        return [await agent.run("go", RunOptions(pools=(pool,))) for agent in agents]

    results = go(story())
    assert [one.end_reason for one in results] == [EndReason.ANSWERED, EndReason.POOL, EndReason.POOL]
    assert [one.requests for one in results] == [2, 1, 0]
    assert pool.tokens == 150


def test_row_132_of_a_pool_and_a_bound_the_tighter_one_binds() -> None:
    script: list[Item] = [_paid(call("probe", value=str(n))) for n in range(9)]
    assert played(script, pools=(Pool(max_tokens=60),), max_tokens=500)[0].end_reason is EndReason.POOL
    assert played(script, pools=(Pool(max_tokens=600),), max_tokens=50)[0].end_reason is EndReason.MAX_TOKENS


def test_a_pool_that_is_spent_is_a_limit_boundary_too() -> None:
    watching = Watching()
    played([_paid(call("probe", value="a")), "never"], watching, pools=(Pool(max_tokens=10),))
    assert [(ctx.boundary, ctx.bound) for ctx in watching.asked][-1] == (RoundBoundary.LIMIT_REACHED, Bound.POOL)


@pytest.mark.parametrize("bound", ["max_rounds", "max_tokens", "max_seconds", "max_injections"])
def test_a_bound_below_zero_is_refused_at_the_start(bound: str) -> None:
    with pytest.raises(ValueError, match=f"{bound} is -1"):
        played(["never"], **{bound: -1})


# Stopping


def test_row_54_a_token_cancelled_before_the_start_sends_no_request() -> None:
    token = CancellationToken()
    token.cancel("not today")
    result, model = played(["never"], cancellation=token)
    assert (result.end_reason, result.detail, model.requests) == (EndReason.CANCELLED, "not today", [])


def test_row_55_a_stop_after_the_tools_keeps_them() -> None:
    stop = CancellationToken()

    @tool
    async def last() -> str:
        """The last."""
        stop.cancel("enough")
        return "seen"

    model = ScriptedModel([call("last"), "never"])
    result = go(Agent(model=model, tools=[last]).run("go", RunOptions(stop=stop)))
    assert (result.end_reason, result.detail, len(model.requests)) == (EndReason.STOP_REQUESTED, "enough", 1)
    assert said(result.transcript.body)[-1] == "user: [seen]"


def test_row_127_a_stop_and_a_bound_together_are_a_stop() -> None:
    stop = CancellationToken()
    stop.cancel("enough")
    assert played(["never"], stop=stop, max_rounds=0)[0].end_reason is EndReason.STOP_REQUESTED


def test_row_53_a_cancel_ends_a_parallel_batch_and_every_call_has_a_result() -> None:
    async def story() -> RunResult:
        inside = [asyncio.Event(), asyncio.Event()]

        @tool(parallel=True)
        async def hang(number: int) -> str:
            """number: which."""
            inside[number].set()
            await asyncio.Event().wait()
            raise AssertionError

        model = ScriptedModel([[call("hang", number=0), call("hang", number=1)], "never"])
        run = Agent(model=model, tools=[hang]).start("go")
        for one in inside:
            await one.wait()
        run.cancel()
        return await run

    result = go(story())
    assert result.end_reason is EndReason.CANCELLED
    assert [one and one.kind for one in _refusals(result)] == [RefusalKind.INTERRUPTED] * 2


def test_row_69_a_cancel_ends_a_back_off_at_once() -> None:
    async def story() -> RunResult:
        agent, _ = agent_of([Overloaded("busy"), "never"])
        run = agent.start("go", RunOptions(retry=RetryPolicy(base_s=3600.0, cap_s=3600.0)))
        async for item in run:
            if isinstance(item, Event) and isinstance(item.body, ev.ModelFailed):
                run.cancel("no more")
        return await run

    assert go(story()).end_reason is EndReason.CANCELLED


# Models that fail


def test_row_43_a_transient_failure_is_tried_again_in_the_same_round() -> None:
    result, model = played([Overloaded("busy"), "yes"], retry=AT_ONCE)
    assert (result.output, result.rounds, result.requests, len(model.requests)) == ("yes", 1, 2, 2)


def test_row_42_a_dead_provider_raises_with_the_work_done_so_far() -> None:
    with pytest.raises(RunFailed, match="no key") as caught:
        played([call("probe", value="a"), BadKey("no key"), "never"])
    assert isinstance(caught.value.__cause__, BadKey)
    result = caught.value.result
    assert (result.end_reason, result.detail) == (EndReason.FAILED, "no key")
    assert said(result.transcript.body)[-1] == "user: [seen a]"


def test_retries_end_and_the_last_failure_is_the_cause() -> None:
    script: list[Item] = [*(Overloaded(f"busy {n}") for n in range(4)), "late"]
    with pytest.raises(RunFailed, match="busy 2"):
        played(script, retry=RetryPolicy(retries=2, base_s=0.0))


def test_a_model_that_raises_anything_else_is_a_failure_too() -> None:
    with pytest.raises(RunFailed, match="broken") as caught:
        played([KeyError("broken"), "never"])
    assert isinstance(caught.value.__cause__, KeyError)


def test_row_133_a_failed_run_still_closes_its_stream_with_its_end() -> None:
    async def story() -> list[ev.Body]:
        agent, _ = agent_of([BadKey("no key"), "never"])
        run = agent.start("go")
        bodies = [item.body async for item in run if isinstance(item, Event)]
        with pytest.raises(RunFailed):
            await run
        return bodies

    last = go(story())[-1]
    assert isinstance(last, ev.RunEnded)
    assert last.reason is EndReason.FAILED


def test_row_59_a_failed_run_is_tried_again_by_a_new_one_in_its_session() -> None:
    async def story() -> RunResult:
        agent, _ = agent_of([BadKey("no key"), "yes"])
        with pytest.raises(RunFailed) as caught:
            await agent.run("go")
        return await agent.run("try again", session=caught.value.result.session)

    assert said(go(story()).transcript.body) == ["user: go", "user: try again", "assistant: yes"]


# Tools in the loop


def test_row_51_parallel_calls_run_at_once() -> None:
    meet = asyncio.Barrier(2)

    @tool(parallel=True)
    async def wait() -> str:
        """Waits for the other."""
        await meet.wait()
        return "met"

    model = ScriptedModel([[call("wait"), call("wait")], "done"])
    assert go(Agent(model=model, tools=[wait]).run("go")).output == "done"


def test_row_52_an_exclusive_call_is_a_wall_between_parallel_ones() -> None:
    order: list[str] = []

    @tool(parallel=True)
    async def look(name: str) -> str:
        """name: which."""
        order.append(f"{name} in")
        await asyncio.sleep(0)
        order.append(f"{name} out")
        return name

    @tool
    async def alter(name: str) -> str:
        """name: which."""
        order.append(f"{name} in")
        await asyncio.sleep(0)
        order.append(f"{name} out")
        return name

    calls: Item = [call("look", name="a"), call("alter", name="b"), call("look", name="c")]
    go(Agent(model=ScriptedModel([calls, "done"]), tools=[look, alter]).run("go"))
    assert order == ["a in", "a out", "b in", "b out", "c in", "c out"]


def test_row_66_one_good_and_one_bad_call_both_have_a_result() -> None:
    bad = ToolUse("bad", Raw("probe", "{"))
    result, _ = played([Reply(content=(call("probe", value="a"), bad)), "done"])
    assert result.transcript.tool_pairs() == [(1, 2), (1, 2)]


def test_row_77_details_stay_with_the_record_and_go_to_no_model() -> None:
    from handrail import ToolOutput

    @tool
    async def look() -> ToolOutput:
        """Looks."""
        return ToolOutput("shown", details={"secret": 1})

    watching = Watching()
    model = ScriptedModel([call("look"), "done"])
    go(Agent(model=model, tools=[look, *TOOLS]).run("go", RunOptions(strategies=[watching])))
    assert watching.asked[0].tool_results[0].details == {"secret": 1}
    assert "secret" not in repr(model.requests[1].messages)


def test_numbers_that_are_none_do_not_end_a_run() -> None:
    from handrail import ToolOutput

    @tool
    async def count() -> ToolOutput:
        """Counts."""
        return ToolOutput({"n": float("nan")}, details=object())

    model = ScriptedModel([Reply(content=(ToolUse("c", Raw("count", {})),), provider={"x": float("inf")}), "done"])
    result = go(Agent(model=model, tools=[count]).run("go"))
    assert result.output == "done"
    assert [block.content for block in result.transcript.body[2].content if isinstance(block, ToolResult)] == [
        {"n": None}
    ]


def test_an_empty_prompt_is_refused() -> None:
    agent, _ = agent_of(["never"])
    with pytest.raises(ValueError, match="the prompt is empty"):
        go(agent.run("  "))
