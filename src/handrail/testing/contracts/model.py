"""The contract of a model: deltas, then one reply; failures told apart; cancelled at once.

``ModelCase`` says what to judge: how to open a model that will answer given turns, and what its provider can do.
The cases of Handrail's own models are in ``handrail.testing.models``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass

from msgspec.structs import replace

from handrail.agents.cancellation import CancellationToken, Cancelled
from handrail.models.errors import (
    BadKey,
    BadRequest,
    ConnectionLost,
    ContextTooLong,
    MalformedReply,
    ModelError,
    Overloaded,
    QuotaSpent,
    RateLimited,
)
from handrail.models.port import (
    Delta,
    Model,
    ModelReply,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    reply_to,
)
from handrail.testing.contracts.rules import Rule
from handrail.testing.wire import turns
from handrail.testing.wire.turns import RETRY_AFTER_S, Fault, Turn, spelled_input
from handrail.transcripts.model import Author, Block, Message, Text, Thinking, ToolResult, ToolUse

ERROR_OF: Mapping[Fault, type[ModelError]] = {
    Fault.OVERLOADED: Overloaded,
    Fault.OVERLOADED_MID_WAY: Overloaded,
    Fault.SERVER_ERROR: Overloaded,
    Fault.RATE_LIMITED: RateLimited,
    Fault.BAD_KEY: BadKey,
    Fault.QUOTA_SPENT: QuotaSpent,
    Fault.BAD_REQUEST: BadRequest,
    Fault.CONTEXT_TOO_LONG: ContextTooLong,
    Fault.CUT: ConnectionLost,
    Fault.UNFINISHED: ConnectionLost,
    Fault.MALFORMED: MalformedReply,
}
"""What each fault must come out as."""


@dataclass(frozen=True)
class ModelCase:
    """A kind of model.

    ``plays`` opens one that answers the given turns in order. ``faults`` are those its provider has a format for,
    ``thinking`` is reasoning as it gives it, ``breaks_calls`` says that it can write an input that is no JSON, and
    ``hangs`` that a reply of it can take for ever.
    """

    name: str
    plays: Callable[[Sequence[Turn]], AbstractAsyncContextManager[Model]]
    faults: frozenset[Fault] = frozenset(Fault)
    thinking: tuple[Thinking, ...] = ()
    breaks_calls: bool = True
    hangs: bool = True

    def __str__(self) -> str:
        return self.name


_WINDING_UP_S = 5.0

_PROMPT = Message(role="user", content=(Text("go", Author.PERSON),))
_REQUEST = ModelRequest(messages=(_PROMPT,), run="r", replies=0)


def _with(case: ModelCase, played: Sequence[Turn], story: Callable[[Model], Awaitable[None]]) -> None:
    async def run() -> None:
        async with case.plays(played) as model:
            await story(model)

    asyncio.run(run())


def _streamed(case: ModelCase, played: Sequence[Turn]) -> list[list[Delta | ModelReply]]:
    """What streams for each of ``played``, one request after the other."""
    found: list[list[Delta | ModelReply]] = []

    async def story(model: Model) -> None:
        for replies in range(len(played)):
            found.append([item async for item in model.stream(replace(_REQUEST, replies=replies))])

    _with(case, played, story)
    return found


def _replies(case: ModelCase, played: Sequence[Turn]) -> list[Message]:
    replies = [items[-1] for items in _streamed(case, played)]
    return [reply.message for reply in replies if isinstance(reply, ModelReply)]


def _turns(case: ModelCase) -> list[Turn]:
    thought = [Turn(content=(one, Text("Done.", Author.MODEL))) for one in case.thinking]
    broken = [turns.BROKEN_CALL, turns.CUT_CALL] if case.breaks_calls else []
    return [turns.TEXT, turns.ONE_CALL, turns.PARALLEL_CALLS, turns.LENGTH, turns.REFUSAL, *thought, *broken]


# What is answered -------------------------------------------------------------------------------------------


def _one_reply_at_the_end(case: ModelCase) -> None:
    for items in _streamed(case, _turns(case)):
        assert [isinstance(item, ModelReply) for item in items] == [False] * (len(items) - 1) + [True]


def _content_survives(case: ModelCase) -> None:
    played = _turns(case)
    assert [_plain(turn.content) for turn in played] == [_plain(reply.content) for reply in _replies(case, played)]


def _plain(content: tuple[Block, ...]) -> list[Block]:
    """``content`` without the state a provider put on its calls."""
    return [ToolUse(block.id, block.call) if type(block) is ToolUse else block for block in content]


def _stop_reasons_survive(case: ModelCase) -> None:
    played = _turns(case)
    assert [turn.stop_reason for turn in played] == [reply.stop_reason for reply in _replies(case, played)]


def _usage_survives(case: ModelCase) -> None:
    assert [turns.TEXT.usage] == [reply.usage for reply in _replies(case, [turns.TEXT])]


def _words_are_the_models(case: ModelCase) -> None:
    blocks = [block for reply in _replies(case, _turns(case)) for block in reply.content]
    assert {Author.MODEL} == {block.author for block in blocks if type(block) is Text}


def _deltas_make_the_reply(case: ModelCase) -> None:
    for *deltas, reply in _streamed(case, _turns(case)):
        assert isinstance(reply, ModelReply)
        if reply.message.stop_reason == "refusal" and not deltas:
            continue  # a refusal may be told at the end only, beside the content
        spelled = [_spelled(block) for block in reply.message.content]
        assert [one for one in spelled if any(one)] == _joined(deltas)


def _spelled(block: Block) -> tuple[str, str, str]:
    match block:
        case Text():
            return "text", "", block.text
        case Thinking():
            return ("thinking", "", block.text) if block.text else ("", "", "")
        case ToolUse():
            return ("call", *spelled_input(block))
        case _:
            raise AssertionError(f"a reply held a {type(block).__name__}")


def _joined(deltas: Sequence[Delta | ModelReply]) -> list[tuple[str, str, str]]:
    """The blocks that ``deltas`` make, in the order they began."""
    blocks: dict[int, tuple[str, str, str]] = {}
    for delta in deltas:
        match delta:
            case TextDelta() | ThinkingDelta():
                kind, name, text = ("text" if isinstance(delta, TextDelta) else "thinking"), "", delta.text
            case ToolCallDelta():
                kind, name, text = "call", delta.name, delta.input
            case _:
                raise AssertionError(f"{delta} was streamed")
        before = blocks.get(delta.block, (kind, "", ""))
        assert before[0] == kind, f"block {delta.block} is a {before[0]} and a {kind}"
        blocks[delta.block] = (kind, before[1] + name, before[2] + text)
    return list(blocks.values())


def _a_conversation_goes_on(case: ModelCase) -> None:
    """A reply of the model, its calls answered, is taken back by it."""

    async def story(model: Model) -> None:
        messages: tuple[Message, ...] = (_PROMPT,)
        for replies, turn in enumerate(played):
            request = ModelRequest(messages=messages, run="r", replies=replies)
            reply = (await reply_to(model, request)).message
            assert _plain(turn.content) == _plain(reply.content)
            calls = [block for block in reply.content if type(block) is ToolUse]
            told: tuple[Block, ...] = tuple(ToolResult(one.id, "fine") for one in calls) or (Text("go on"),)
            messages = (*messages, reply, Message(role="user", content=told))

    played = [*_turns(case), turns.TEXT]
    _with(case, played, story)


# What fails -------------------------------------------------------------------------------------------------


def _faults_are_told_apart(case: ModelCase) -> None:
    for fault, problem in _failures(case).items():
        assert type(problem) is ERROR_OF[fault], f"{fault} came out as {problem!r}"
        assert problem.message, f"{fault} says nothing"


def _rate_limits_say_how_long(case: ModelCase) -> None:
    waits = {fault: problem.retry_after_s for fault, problem in _failures(case).items()}
    assert waits == {fault: RETRY_AFTER_S if fault is Fault.RATE_LIMITED else None for fault in waits}


def _failures(case: ModelCase) -> dict[Fault, ModelError]:
    """What each fault came out as; the request is the same each time, and is answered at last."""
    found: dict[Fault, ModelError] = {}

    async def story(model: Model) -> None:
        for fault in faults:
            try:
                await reply_to(model, _REQUEST)
            except ModelError as problem:
                found[fault] = problem
            else:
                raise AssertionError(f"{fault} was answered")
        reply = await reply_to(model, _REQUEST)
        assert _plain(turns.TEXT.content) == _plain(reply.message.content)

    faults = sorted(case.faults)
    _with(case, [*(Turn(content=turns.TEXT.content, fault=fault) for fault in faults), turns.TEXT], story)
    return found


def _a_failure_spoils_nothing(case: ModelCase) -> None:
    assert set(case.faults) == _failures(case).keys()


# What is stopped --------------------------------------------------------------------------------------------


def _a_cancelled_token_sends_nothing(case: ModelCase) -> None:
    async def story(model: Model) -> None:
        token = CancellationToken()
        token.cancel("enough")
        try:
            await reply_to(model, _REQUEST, token)
        except Cancelled as problem:
            assert "enough" == problem.message
            return
        raise AssertionError("a cancelled request was answered")

    _with(case, [turns.TEXT], story)


def _cancelling_ends_a_reply_that_hangs(case: ModelCase) -> None:
    if not case.hangs:
        return

    async def story(model: Model) -> None:
        token = CancellationToken()
        asking = asyncio.ensure_future(reply_to(model, _REQUEST, token))
        # However far it has come by then, nothing but the token ends it.
        await asyncio.sleep(0)
        token.cancel("enough")
        try:
            await asking
        except Cancelled as problem:
            assert "enough" == problem.message
            return
        raise AssertionError("a reply that hangs came to an end")

    _with(case, [Turn(content=turns.TEXT.content, hangs=True)], story)


def _leaving_early_leaves_no_task_behind(case: ModelCase) -> None:
    async def story(model: Model) -> None:
        before = asyncio.all_tasks()
        async with aclosing(model.stream(_REQUEST)) as stream:
            async for _ in stream:
                break
        own = {task for task in asyncio.all_tasks() - before if "WireServer" not in repr(task)}
        # What is being wound up may finish; what does not is left behind.
        _, left = await asyncio.wait(own, timeout=_WINDING_UP_S) if own else (own, own)
        assert not left, f"left behind: {left}"

    _with(case, [turns.TEXT], story)


MODEL_RULES: tuple[Rule[ModelCase], ...] = (
    Rule(1, "deltas, then one reply and nothing after it", _one_reply_at_the_end),
    Rule(2, "text, reasoning and calls arrive whole, however they were cut up", _content_survives),
    Rule(3, "why it stopped is told in the canonical words", _stop_reasons_survive),
    Rule(4, "tokens are told, cached ones apart", _usage_survives),
    Rule(5, "the words of a reply are the model's", _words_are_the_models),
    Rule(6, "what streams makes the reply", _deltas_make_the_reply),
    Rule(7, "a conversation goes on with the model's own replies in it", _a_conversation_goes_on),
    Rule(8, "failures are told apart", _faults_are_told_apart),
    Rule(9, "a rate limit says how long to wait", _rate_limits_say_how_long),
    Rule(10, "a failed request can be sent again", _a_failure_spoils_nothing),
    Rule(11, "a cancelled token sends nothing", _a_cancelled_token_sends_nothing),
    Rule(12, "cancelling ends a reply that hangs", _cancelling_ends_a_reply_that_hangs),
    Rule(13, "leaving a stream early leaves no task behind", _leaving_early_leaves_no_task_behind),
)
