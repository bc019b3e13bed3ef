"""What the tests of the loop share: tools that say what they were given, strategies that remember, short names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from handrail import Agent, RoundContext, RoundDecision, RunOptions, RunResult, ScriptedModel, tool
from handrail.agents.content import words_of
from handrail.agents.strategy import StrategyLike
from handrail.models.scripted import Item
from handrail.transcripts.model import Message, Text, ToolResult

Value = TypeVar("Value")


def go(story: Coroutine[Any, Any, Value]) -> Value:
    """Run ``story`` to its end; a story that hangs fails."""

    async def bounded() -> Value:
        async with asyncio.timeout(20):
            return await story

    return asyncio.run(bounded())


@tool(parallel=True)
async def probe(value: str) -> str:
    """Look at one thing. value: what to look at."""
    return f"seen {value}"


@tool
async def change(value: str) -> str:
    """Change one thing. value: what to change."""
    return f"changed {value}"


@tool
async def broken() -> str:
    """Always fails."""
    raise ValueError("no luck")


@tool(is_terminal=True)
async def done(answer: str) -> str:
    """End the work. answer: what came of it."""
    return answer


TOOLS = (probe, change, broken, done)


class Watching:
    """A strategy that keeps what it was asked and answers from a list, then proceeds."""

    def __init__(self, *answers: RoundDecision | Callable[[RoundContext], RoundDecision | None] | None) -> None:
        self.asked: list[RoundContext] = []
        self._answers = list(answers)

    async def on_round(self, ctx: RoundContext) -> RoundDecision | None:
        self.asked.append(ctx)
        if not self._answers:
            return RoundDecision.proceed()
        answer = self._answers.pop(0)
        return answer(ctx) if callable(answer) else answer


def agent_of(script: Sequence[Item], **more: Any) -> tuple[Agent, ScriptedModel]:
    """An agent that plays ``script`` with the tools above."""
    model = ScriptedModel(script)
    return Agent(model=model, tools=TOOLS, **more), model


def played(script: Sequence[Item], *strategies: StrategyLike, **options: Any) -> tuple[RunResult, ScriptedModel]:
    """One run of ``script`` with the prompt "go"."""
    agent, model = agent_of(script)
    return go(agent.run("go", RunOptions(strategies=strategies, **options))), model


def said(messages: Sequence[Message]) -> list[str]:
    """Who said what, in short: ``user: go``, ``user: [seen a]``, ``assistant: (probe)``."""
    return [f"{message.role}: {_short(message)}" for message in messages]


def _short(message: Message) -> str:
    results = [f"[{block.content}]" for block in message.content if isinstance(block, ToolResult)]
    words = words_of([block for block in message.content if isinstance(block, Text)])
    return " ".join([*results, *([words] if words else [])])
