"""A whole run over each API, played on this machine: a call, an overload, an answer."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="the provider library is not installed")

from handrail.agents.agent import Agent
from handrail.agents.options import RunOptions
from handrail.agents.result import RunResult
from handrail.agents.tool import tool
from handrail.journal.vocabulary import EndReason
from handrail.models.retry import RetryPolicy
from handrail.testing.models import SPELLED, adapted
from handrail.testing.wire.server import Received, WireServer
from handrail.testing.wire.turns import Fault, Turn, says
from handrail.transcripts.model import Raw, Text, ToolUse

_CALL = Turn(content=(Text("I look."), ToolUse("call_a", Raw("probe", {"value": "a"}))), stop_reason="tool_use")
_BUSY = Turn(content=_CALL.content, fault=Fault.OVERLOADED)
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


@pytest.mark.parametrize("name", list(SPELLED))
def test_a_run_goes_through_a_call_and_an_overload_to_its_answer(name: str) -> None:
    result, received = asyncio.run(_run(name))
    assert ("It is there.", EndReason.ANSWERED) == (result.output, result.end_reason)
    assert 3 == len(received)
    assert received[1].body == received[2].body
    assert [(1, 2)] == result.transcript.tool_pairs()
