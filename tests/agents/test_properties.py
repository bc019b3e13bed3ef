"""What holds for any schedule: a valid history after any end, every message once, absence is identity."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from handrail import (
    Agent,
    Approve,
    Continue,
    Deny,
    Effort,
    EndReason,
    Event,
    Hook,
    Inject,
    MemoryJournal,
    Receipt,
    Retry,
    RoundAdjustment,
    RoundContext,
    RoundDecision,
    Run,
    RunFailed,
    RunOptions,
    RunResult,
    ScriptedModel,
    Session,
    ToolError,
    call,
    tool,
)
from handrail.agents.approval import ApprovalRequest
from handrail.agents.hooks import HookCall
from handrail.agents.strategy import StrategyLike
from handrail.journal.events import InputReceived
from handrail.journal.fold import fold
from handrail.journal.receipts import receipts
from handrail.journal.transcript import project
from handrail.jsonio import encode
from handrail.models.errors import Overloaded
from handrail.models.retry import RetryPolicy
from handrail.models.scripted import Item
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Author, Text, ToolResult, ToolUse, Via

from .stage import go


class Dice:
    """Everything that happens in one run, decided by one seed: tools, failures, strategies, and people."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.run: Run | None = None
        self.sent: list[tuple[str, Receipt]] = []

    def act(self) -> None:
        """Somebody may do something now."""
        if self.run is None:
            return
        chance = self.random.random()
        if chance < 0.25:
            words = f"words {len(self.sent)}"
            send = self.run.steer if self.random.random() < 0.5 else self.run.follow_up
            self.sent.append((words, send(words)))
        elif chance < 0.28:
            self.run.interrupt("no")
        elif chance < 0.30:
            self.run.stop("enough")
        elif chance < 0.31:
            self.run.cancel("now")

    def script(self) -> list[Item]:
        items: list[Item] = []
        for number in range(self.random.randint(1, 9)):
            chance = self.random.random()
            if chance < 0.1:
                items.append(Overloaded("busy"))
            elif chance < 0.13:
                items.append(KeyError("broken"))
            elif chance < 0.75:
                names = [self.random.choice(["steady", "shaky", "lone", "nowhere"]) for _ in range(1, 4)]
                items.append([call(name, value=number) for name in names])
            else:
                items.append(f"answer {number}")
        return [*items, "last answer", "very last answer"]

    def tools(self) -> list[Any]:
        @tool(parallel=True)
        async def steady(value: int) -> str:
            """value: any."""
            self.act()
            await asyncio.sleep(0)
            return "steady"

        @tool(parallel=True)
        async def shaky(value: int) -> str:
            """value: any."""
            self.act()
            if self.random.random() < 0.5:
                raise ToolError("shaken")
            return "shaky"

        @tool
        def lone(value: int) -> str:
            """value: any."""
            self.act()
            return "lone"

        return [steady, shaky, lone]

    async def decide(self, ctx: RoundContext) -> RoundDecision | None:
        self.act()
        chance = self.random.random()
        if chance < 0.6:
            return None
        if chance < 0.75:
            return Inject(f"note {ctx.injections}", RoundAdjustment().with_reasoning(Effort.LOW))
        if chance < 0.85:
            return Continue(RoundAdjustment().with_tools("steady", "lone"))
        if chance < 0.9:
            return Retry("once more")
        if chance < 0.92:
            raise KeyError("strategy")
        return self.random.choice([RoundDecision.stop(), RoundDecision.finish(1), RoundDecision.pause("?")])

    def options(self) -> RunOptions:
        strategies: tuple[StrategyLike, ...] = (self.decide,) * self.random.randint(0, 2)
        return RunOptions(
            strategies=strategies,
            on_strategy_error=self.random.choice(["continue", "stop", "fail"]),
            retry=RetryPolicy(retries=2, base_s=0.0),
            max_rounds=self.random.choice([None, 3, 6]),
            max_tool_calls=self.random.choice([None, 4]),
            steers=self.random.choice(["one", "all"]),
            follow_ups=self.random.choice(["one", "all"]),
            max_injections=3,
        )


async def _played(dice: Dice, journal: MemoryJournal | None = None) -> tuple[RunResult, list[Event]]:
    journal = journal or MemoryJournal()
    agent = Agent(model=ScriptedModel(dice.script()), tools=dice.tools())
    dice.run = agent.start("go", dice.options(), session=Session("s1", journal))
    dice.act()
    try:
        result = await dice.run
    except RunFailed as problem:
        result = problem.result
    return result, list(await journal.read("s1"))


@given(st.integers(0, 1 << 32))
@settings(max_examples=150)
def test_whatever_happens_the_history_is_valid_and_every_message_ends_once(seed: int) -> None:
    dice = Dice(seed)
    result, events = go(_played(dice))
    body = result.transcript.body
    _check_history(result)
    assert project(events) == result.transcript
    assert fold(events).run is None
    outcomes = receipts(events)
    spoken = [
        block.text for m in body for block in m.content if isinstance(block, Text) and block.via is not Via.PROMPT
    ]
    for words, receipt in dice.sent:
        assert receipt.status in ("delivered", "returned")
        assert spoken.count(words) == (1 if receipt.status == "delivered" else 0)
        if receipt.id in outcomes:
            assert outcomes[receipt.id] == receipt.outcome
    delivered = [words for words, receipt in dice.sent if receipt.status == "delivered"]
    assert sorted(delivered) == sorted(words for words in spoken if words.startswith("words"))


class Slow(MemoryJournal):
    """A journal that lets others run before and after everything it does, as one behind a network would."""

    poll_s = 0.0005

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = Random(seed)

    async def _pause(self) -> None:
        for _ in range(self._random.randint(0, 4)):
            await asyncio.sleep(0)

    async def append(self, session: str, expected_seq: int, epoch: int, events: Any) -> None:
        await self._pause()
        await super().append(session, expected_seq, epoch, events)
        await self._pause()

    async def inbox(self, session: str, after: int = 0) -> Any:
        await self._pause()
        return await super().inbox(session, after)

    async def post(self, session: str, body: Any, by: Any, key: str) -> Any:
        await self._pause()
        entry = await super().post(session, body, by, key)
        await self._pause()
        return entry


class Busy(Dice):
    """Dice with people who are asked, hooks that look, and many interrupts."""

    def act(self) -> None:
        if self.run is not None and self.random.random() < 0.12:
            self.run.interrupt("no")
        super().act()

    def tools(self) -> list[Any]:
        @tool(name="nowhere", parallel=True, destructive=True)
        async def risky(value: int) -> str:
            """value: any."""
            self.act()
            return "risky"

        return [*super().tools(), risky]

    async def _linger(self) -> None:
        for _ in range(self.random.randint(0, 5)):
            await asyncio.sleep(0)
        self.act()

    async def approve(self, request: ApprovalRequest) -> Approve | Deny:
        await self._linger()
        if self.random.random() < 0.6:
            return Approve(self.random.choice(["once", "run"]))
        return Deny("no", self.random.choice(["once", "run"]))

    async def look(self, call: HookCall) -> None:
        await self._linger()

    def options(self) -> RunOptions:
        hooks = (Hook(name="look", ask=self.look),) if self.random.random() < 0.5 else ()
        timeout_s = self.random.choice([None, 0.0, 0.0005])
        return replace(super().options(), approver=self.approve, hooks=hooks, approval_timeout_s=timeout_s)


@given(st.integers(0, 1 << 32))
@settings(max_examples=100)
def test_what_several_settle_at_once_is_settled_once_however_slow_the_journal(seed: int) -> None:
    dice = Busy(seed)
    result, events = go(_played(dice, Slow(seed)))
    _check_history(result)
    assert project(events) == result.transcript
    state = fold(events)
    assert (state.run, [ask for ask in state.asks if ask.call is not None]) == (None, [])
    assert {receipt.status for _, receipt in dice.sent} <= {"delivered", "returned"}


def _check_history(result: RunResult) -> None:
    """Every call has exactly one result, in the very next message; nobody but a person speaks as one."""
    body = result.transcript.body
    assert result.end_reason in EndReason
    for index, message in enumerate(body):
        calls = [block.id for block in message.content if type(block) is ToolUse]
        if not calls:
            continue
        results = [block.tool_use_id for block in body[index + 1].content if type(block) is ToolResult]
        assert results == calls
    total = sum(1 for m in body for block in m.content if type(block) is ToolResult)
    assert total == sum(1 for m in body for block in m.content if type(block) is ToolUse)
    for message in body:
        authors = {block.author for block in message.content if type(block) is Text}
        assert message.role == "user" or authors <= {Author.MODEL}


@given(st.integers(0, 1 << 32))
@settings(max_examples=60)
def test_steers_are_delivered_in_the_order_they_were_sent(seed: int) -> None:
    dice = Dice(seed)
    _, events = go(_played(dice))
    order = list(receipts(events))
    received = [event.body for event in events if isinstance(event.body, InputReceived)]
    for via in ("steer", "follow_up"):
        sent = [body.input for body in received if body.via == via]
        assert sent == [name for name in order if name in sent]
        rounds = [receipt.round for receipt in map(receipts(events).get, sent) if receipt and receipt.round is not None]
        assert rounds == sorted(rounds)


@given(st.integers(0, 1 << 32))
@settings(max_examples=60)
def test_a_strategy_that_always_proceeds_is_no_strategy(seed: int) -> None:
    seen = []
    for strategies in ((), (lambda ctx: None,), (_proceeds, _proceeds)):
        dice = Dice(seed)
        script, tools = dice.script(), dice.tools()
        options = replace(dice.options(), strategies=strategies, retry=RetryPolicy(retries=2, base_s=0.0))
        model = ScriptedModel(script)
        agent = Agent(model=model, tools=tools, clock=ManualClock())
        result = go(_result(agent, options))
        sent = [encode(replace(request, run=None, tools=())) for request in model.requests]
        seen.append((sent, encode(result.transcript), result.end_reason, result.output))
    assert seen[0] == seen[1] == seen[2]


async def _proceeds(ctx: RoundContext) -> RoundDecision:
    return RoundDecision.proceed()


async def _result(agent: Agent, options: RunOptions) -> RunResult:
    try:
        return await agent.run("go", options, session=Session("s1", MemoryJournal(ManualClock())))
    except RunFailed as problem:
        return problem.result


class Dies(BaseException):
    """The process dies."""


class Mortal(MemoryJournal):
    """A journal whose process dies at an append, before or after it is written; dead, it writes nothing more."""

    def __init__(self, appends: int, *, is_written: bool) -> None:
        super().__init__(ManualClock())
        self.left = appends
        self._is_written = is_written

    async def append(self, session: str, expected_seq: int, epoch: int, events: Any) -> None:
        self.left -= 1
        if self.left > 0 or (self.left == 0 and self._is_written):
            await super().append(session, expected_seq, epoch, events)
        if self.left <= 0:
            raise Dies


@given(st.integers(2, 40), st.booleans())
@settings(max_examples=60)
def test_a_run_that_dies_anywhere_is_resumed_to_the_same_end(appends: int, is_written: bool) -> None:
    @tool(parallel=True, twice_is_safe=True)
    async def look(value: int) -> str:
        """value: any."""
        return f"seen {value}"

    script: list[Item] = [[call("look", value=1), call("look", value=2)], "no", call("look", value=3), "yes"]

    async def once(ctx: RoundContext) -> RoundDecision:
        is_answer = ctx.assistant_message is not None and ctx.stop_reason == "end_turn"
        return RoundDecision.inject("Again.") if is_answer and ctx.injections == 0 else RoundDecision.proceed()

    async def story(journal: Mortal) -> RunResult:
        agent = Agent(model=ScriptedModel(script), tools=[look], clock=ManualClock())
        options, session = RunOptions(strategies=[once]), Session("s1", journal)
        try:
            return await agent.run("go", options, session=session)
        except Dies:
            journal.left = 1 << 20
            if not await journal.read("s1"):
                return await agent.run("go", options, session=session)
            if fold(await journal.read("s1")).run is None:
                return await agent.run("go on", options, session=session)
            return await agent.resume(session, options)

    unbroken = go(story(Mortal(1 << 20, is_written=True)))
    result = go(story(Mortal(appends, is_written=is_written)))
    words = [message.content for message in result.transcript.body]
    assert words[: len(unbroken.transcript.body)] == [message.content for message in unbroken.transcript.body]
    _check_history(result)
