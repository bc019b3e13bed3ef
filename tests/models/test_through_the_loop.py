"""A whole run over each API, played on this machine: a call, an overload, an answer."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="the provider library is not installed")

from handrail import jsonio
from handrail.agents.agent import Agent
from handrail.agents.options import RunOptions
from handrail.agents.result import RunResult
from handrail.agents.strategy import Continue, RoundAdjustment, RoundContext, RoundDecision
from handrail.agents.tool import tool
from handrail.journal.vocabulary import EndReason
from handrail.models.retry import RetryPolicy
from handrail.testing.models import ANTHROPIC, CHAT, GOOGLE, RESPONSES, SPELLED, adapted
from handrail.testing.wire.server import Received, WireServer
from handrail.testing.wire.turns import Fault, Turn, says
from handrail.transcripts.model import Raw, Text, Thinking, ToolUse

_CALL = Turn(content=(Text("I look."), ToolUse("call_a", Raw("probe", {"value": "a"}))), stop_reason="tool_use")
_BUSY = Turn(content=_CALL.content, fault=Fault.OVERLOADED)
_AGAIN = Turn(content=(ToolUse("call_b", Raw("probe", {"value": "b"})),), stop_reason="tool_use")
_SEALED = Thinking("", encrypted="c2VjcmV0")
_AT_ONCE = RetryPolicy(base_s=0.0)


@tool(parallel=True)
def probe(value: str) -> str:
    """Look at one thing. value: what to look at."""
    return f"seen {value}"


async def _run(name: str) -> tuple[RunResult, list[Received]]:
    answers = [SPELLED[name](turn) for turn in (_CALL, _BUSY, says("It is there."))]
    async with WireServer(answers) as server, adapted(name, server) as model:
        result = await Agent(model=model, tools=[probe]).run("go", RunOptions(retry=_AT_ONCE))
    return result, server.requests


# K 29


@pytest.mark.parametrize(("first", "second"), [(ANTHROPIC, CHAT), (RESPONSES, ANTHROPIC), (ANTHROPIC, GOOGLE)])
def test_a_strategy_that_changes_the_provider_leaves_foreign_thinking_behind_and_brings_it_back(
    first: str, second: str
) -> None:
    thought = Thinking("secret thought", signature="c2VjcmV0") if first == ANTHROPIC else _SEALED
    looks = Turn(content=(thought, *_CALL.content), stop_reason="tool_use")

    async def story() -> list[list[str]]:
        answers = [SPELLED[first](looks), SPELLED[first](says("It is there."))]
        others = [SPELLED[second](_AGAIN)]
        async with (
            WireServer(answers) as server,
            WireServer(others) as other_server,
            adapted(first, server) as model,
            adapted(second, other_server) as other,
        ):

            async def there_and_back(ctx: RoundContext) -> RoundDecision:
                to = other.info if ctx.rounds_completed == 1 else model.info
                return Continue(RoundAdjustment(model=to))

            agent = Agent(model=model, models=(other,), tools=[probe])
            await agent.run("go", RunOptions(strategies=[there_and_back]))
        return [[jsonio.encode(one.body).decode() for one in each.requests] for each in (server, other_server)]

    (_, back), (away,) = asyncio.run(story())
    assert ("c2VjcmV0" in away, "secret thought" in away, "seen a" in away) == (False, False, True)
    assert ("c2VjcmV0" in back, "seen b" in back) == (True, True)


@pytest.mark.parametrize("name", list(SPELLED))
def test_a_run_goes_through_a_call_and_an_overload_to_its_answer(name: str) -> None:
    result, received = asyncio.run(_run(name))
    assert ("It is there.", EndReason.ANSWERED) == (result.output, result.end_reason)
    assert 3 == len(received)
    assert received[1].body == received[2].body
    assert [(1, 2)] == result.transcript.tool_pairs()
