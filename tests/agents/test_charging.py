"""What strategies ask of models of their own counts as the run's: its bounds, its pools, its result."""

from __future__ import annotations

import pytest

from handrail import (
    Agent,
    EndReason,
    Pool,
    RoundBoundary,
    RoundContext,
    RoundDecision,
    RunFailed,
    RunOptions,
    RunResult,
    ScriptedModel,
    Session,
    call,
)
from handrail.agents.cancellation import CancellationToken
from handrail.agents.spawn import spawn_tool
from handrail.agents.strategies.judge import Judge
from handrail.journal.memory import MemoryJournal
from handrail.models.port import ModelInfo
from handrail.models.scripted import Item, Reply
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Usage

from .stage import agent_of, go, played

USAGE = Usage(input_tokens=40, output_tokens=10)


def _paid(text: str, cost: float | None = 0.25) -> Reply:
    return Reply(content=(text,), usage=USAGE, cost=cost)


def _judge(*verdicts: str, cost: float | None = 0.25) -> Judge:
    return Judge(ScriptedModel([_paid(verdict, cost) for verdict in verdicts], name="judge"))


def test_what_a_judge_takes_is_in_the_result_and_in_the_pools() -> None:
    pool = Pool(max_tokens=1000)
    result, _ = played([_paid("no"), _paid("yes")], _judge("Say yes.", "PASS"), pools=(pool,))
    assert (result.output, result.tokens, result.cost, pool.tokens) == ("yes", 200, 1.0, 200)
    assert result.usage == Usage(input_tokens=80, output_tokens=20)


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [({"max_tokens": 100}, EndReason.MAX_TOKENS), ({"max_cost": 0.5}, EndReason.MAX_COST)],
    ids=["tokens", "cost"],
)
def test_a_judge_that_spends_the_rest_leaves_the_answer_standing(bounds: dict[str, int], reason: EndReason) -> None:
    result, model = played([_paid("no"), "never"], _judge("Say yes."), **bounds)
    assert (result.output, result.end_reason, len(model.requests)) == ("no", reason, 1)


@pytest.mark.parametrize(
    ("judge", "bounds", "reason"),
    [
        (_judge("Say yes.", cost=None), {"max_cost": 9.0}, EndReason.MAX_COST),
        (Judge(ScriptedModel(["Say yes."], name="judge")), {"max_tokens": 900}, EndReason.MAX_TOKENS),
    ],
    ids=["cost", "tokens"],
)
def test_what_nobody_counts_is_not_run_past_in_silence(judge: Judge, bounds: dict[str, int], reason: EndReason) -> None:
    result, model = played([_paid("no"), "never"], judge, **bounds)
    assert (result.end_reason, len(model.requests)) == (reason, 1)


def test_a_strategy_that_fails_afterwards_is_charged_all_the_same() -> None:
    def spends(ctx: RoundContext) -> RoundDecision:
        ctx.charge(USAGE, 0.5)
        raise ValueError("no luck")

    with pytest.raises(RunFailed) as failed:
        played([_paid("yes")], spends)
    assert (failed.value.result.tokens, failed.value.result.cost) == (100, 0.75)


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_an_amount_that_nothing_can_have_cost_is_refused(cost: float) -> None:
    def spends(ctx: RoundContext) -> RoundDecision:
        ctx.charge(USAGE, cost)
        return RoundDecision.proceed()

    with pytest.raises(RunFailed, match="cannot be charged"):
        played(["yes"], spends)


def test_a_context_of_no_run_charges_nobody() -> None:
    RoundContext(
        boundary=RoundBoundary.LIMIT_NEAR,
        run="r",
        session="s",
        model=ModelInfo("m", "p"),
        cancellation=CancellationToken(),
    ).charge(USAGE, 1.0)


def test_a_round_is_not_promised_that_the_time_a_strategy_took_has_left_nothing_for() -> None:
    clock = ManualClock()

    async def slow(ctx: RoundContext) -> RoundDecision:
        clock.advance(60.0)
        return RoundDecision.inject("again")

    agent, model = agent_of(["the answer", "never"], clock=clock)
    result = go(agent.run("go", RunOptions(max_seconds=30.0, strategies=[slow])))
    assert (result.output, result.end_reason, len(model.requests)) == ("the answer", EndReason.MAX_SECONDS, 1)


# A price that nobody knows


def test_a_cost_that_is_not_known_whole_is_still_unknown_after_a_crash() -> None:
    script: list[Item] = [_paid("no"), _paid("yes")]
    options = RunOptions(strategies=[_judge("Say yes.", "PASS", cost=None)])

    async def story() -> RunResult:
        agent = Agent(model=ScriptedModel(script))
        whole = (await agent.run("go", options)).session
        kept = Session(whole.id, MemoryJournal())
        events = await whole.journal.read(whole.id)
        await kept.journal.append(kept.id, 0, await kept.journal.take_over(kept.id), events[:-1])
        return await agent.resume(kept, options)

    assert go(story()).cost is None


def test_a_cost_that_a_child_does_not_know_is_not_known_above_it() -> None:
    worker = Agent(model=ScriptedModel([_paid("found it", None)], name="worker"), name="worker")
    asks = Reply(content=(call("Spawn", prompt="find it"),), usage=USAGE, cost=0.25)
    boss = Agent(model=ScriptedModel([asks, _paid("done")]), tools=[spawn_tool(worker)])
    result = go(boss.run("go"))
    assert (result.output, result.tokens, result.cost) == ("done", 150, None)
