"""Whatever other people's code raises or gives: the run ends as it says, and every event can be read again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from handrail import Agent, Approve, RunFailed, RunOptions, RunResult, ScriptedModel, call, tool
from handrail.agents.approval import ApproveEdited, Deny, Reply
from handrail.agents.cancellation import Cancelled
from handrail.agents.hooks import Block, Hook, HookEvent, Rewrite
from handrail.agents.strategy import Continue, Fail, Finish, Inject, Pause, RoundAdjustment, RoundContext, Stop
from handrail.agents.tool import Tool, ToolContext, ToolOutput, ToolSpec
from handrail.journal.wire import decode_event, encode_event
from handrail.jsonio import MAX_DEPTH
from handrail.models.port import Cancellation, ModelReply, ModelRequest, Streamed, TextDelta
from handrail.transcripts.model import (
    Artifact,
    Author,
    Compaction,
    Decision,
    Interrupt,
    Json,
    Message,
    Raw,
    Text,
    ToolResult,
    ToolUse,
)
from handrail.transcripts.model import (
    Block as AnyBlock,
)
from tests.agents.stage import go, probe


class Own(BaseException):
    """An exception that is no ``Exception``, as test frameworks have them."""


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def _group() -> BaseException:
    return BaseExceptionGroup("many", [GeneratorExit()])


RAISED: list[Callable[[], BaseException]] = [
    Own,
    Unspeakable,
    SystemExit,
    GeneratorExit,
    asyncio.CancelledError,
    StopIteration,
    RecursionError,
    _group,
]


def _raising(make: Callable[[], BaseException], *, is_async: bool) -> Callable[..., Any]:
    def plain(*_: object) -> Any:
        raise make()

    async def coroutine(*_: object) -> Any:
        raise make()

    return coroutine if is_async else plain


@tool(destructive=True)
async def wipe(value: str) -> str:
    """Wipe. value: what."""
    return f"wiped {value}"


async def _run(model: Any, *tools: Tool, **options: Any) -> RunResult:
    """The result of one run, whether it failed or not, its events read back from their bytes."""
    agent = Agent(model=model, tools=tools)
    try:
        result = await agent.run("go", RunOptions(max_rounds=6, **options))
    except RunFailed as failed:
        result = failed.result
    events = await result.session.journal.read(result.session.id)
    assert [decode_event(encode_event(event)) for event in events] == list(events)
    return result


def _played(name: str, *tools: Tool, **options: Any) -> ToolResult:
    """The result of the one call of a run."""
    result = go(_run(ScriptedModel([call(name, value="x"), "end"]), *tools, **options))
    assert result.output == "end"
    found = result.transcript.body[2].content[0]
    assert isinstance(found, ToolResult)
    return found


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize("make", RAISED, ids=lambda make: make.__name__)
class TestWhateverIsRaised:
    def test_by_a_tool_is_its_error_result(self, make: Callable[[], BaseException], is_async: bool) -> None:
        raising = _raising(make, is_async=is_async)

        @tool
        async def odd(value: str) -> Any:
            """Odd. value: what."""
            return await raising() if is_async else raising()

        got = _played("odd", odd)
        assert (got.is_error, got.refusal) == (True, None)
        assert str(got.content).startswith("odd failed: ")

    def test_by_a_hook_blocks_the_call(self, make: Callable[[], BaseException], is_async: bool) -> None:
        got = _played("probe", probe, hooks=[Hook(name="h", ask=_raising(make, is_async=is_async))])
        assert got.refusal is not None
        assert (got.refusal.kind, got.refusal.by) == ("blocked", "hook:h")

    def test_by_a_strategy_follows_its_error_policy(self, make: Callable[[], BaseException], is_async: bool) -> None:
        result = go(_run(ScriptedModel(["end"]), strategies=[_asked(_raising(make, is_async=is_async))]))
        assert result.end_reason == "failed"
        assert str(result.detail).startswith("the strategy odd failed: ")

    def test_by_an_approver_is_no_answer(self, make: Callable[[], BaseException], is_async: bool) -> None:
        got = _played("wipe", wipe, approver=_raising(make, is_async=is_async))
        assert got.refusal is not None
        assert (got.refusal.kind, got.refusal.by) == ("blocked", "approver")

    def test_by_a_model_fails_the_run(self, make: Callable[[], BaseException], is_async: bool) -> None:
        async def stream(request: ModelRequest, cancellation: Cancellation | None) -> Streamed:
            for problem in (make(),):
                raise problem
            yield TextDelta(0, "never" if is_async else "")

        assert go(_run(Modelled(stream))).end_reason == "failed"


class _Odd:
    name = "odd"

    def __init__(self, ask: Callable[[RoundContext], Any]) -> None:
        self.on_round = ask


def _asked(ask: Callable[[RoundContext], Any]) -> Any:
    return _Odd(ask)


class Modelled:
    """A model that streams what a function says."""

    def __init__(self, stream: Callable[[ModelRequest, Cancellation | None], Streamed]) -> None:
        self.info = ScriptedModel(["x"]).info
        self.stream = stream


def _answering(*content: AnyBlock, **more: Any) -> Modelled:
    """A model that gives ``content`` first and "end" after it."""

    async def stream(request: ModelRequest, cancellation: Cancellation | None) -> Streamed:
        said = content if request.replies == 0 else (Text("end"),)
        yield ModelReply(message=Message(role="assistant", content=said), **more)

    return Modelled(stream)


def test_a_keyboard_interrupt_that_a_plain_tool_raises_in_its_thread_is_no_ctrl_c() -> None:
    @tool
    def odd(value: str) -> str:
        """Odd. value: what."""
        raise KeyboardInterrupt

    assert _played("odd", odd).content == "odd failed: RuntimeError: KeyboardInterrupt was raised in a thread"


@pytest.mark.parametrize("kind", ["hook", "strategy", "approver"])
def test_code_that_cancels_its_own_task_does_not_cancel_the_run(kind: str) -> None:
    async def cancels(*_: object) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    doing: dict[str, dict[str, Any]] = {
        "hook": {"hooks": [Hook(name="h", ask=cancels)]},
        "strategy": {"strategies": [_asked(cancels)], "on_strategy_error": "stop"},
        "approver": {"approver": cancels},
    }
    result = go(_run(ScriptedModel([call("wipe", value="x"), "end"]), wipe, **doing[kind]))
    assert result.end_reason == ("strategy_stop" if kind == "strategy" else "answered")
    assert "it cancelled itself" in f"{result.detail} {result.transcript.body[2].content}"


# Values ----------------------------------------------------------------------------------------------------

CYCLE: list[Any] = []
CYCLE.append(CYCLE)


def _nested(depth: int) -> Json:
    value: Json = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


ODD: Any = 5
DECISIONS: list[Any] = [
    ODD,
    Stop(ODD),
    Inject(ODD),
    Inject("x", ODD),
    Inject("x", RoundAdjustment(limits=ODD)),
    Inject("x", RoundAdjustment(scope=ODD)),
    Inject(Text(ODD)),
    Inject(Text("x", by=ODD)),
    Inject(ToolUse("a", Raw("probe", {}))),
    Continue(ODD),
    Finish(object()),
    Finish(CYCLE),
    Fail(ODD),
    Pause(ODD),
]


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: type(decision).__name__)
def test_a_decision_that_does_not_fit_counts_as_a_failure_of_its_strategy(decision: Any) -> None:
    result = go(_run(ScriptedModel(["end"]), strategies=[_asked(lambda ctx: decision)]))
    assert str(result.detail).startswith("the strategy odd failed: ")


def test_a_finish_with_a_number_that_is_none_ends_with_null() -> None:
    result = go(_run(ScriptedModel(["end"]), strategies=[_asked(lambda ctx: Finish(float("nan")))]))
    assert (result.end_reason, result.output) == ("strategy_finish", None)


def test_a_failure_that_cannot_say_itself_is_told_by_its_type() -> None:
    result = go(_run(ScriptedModel(["end"]), strategies=[_asked(lambda ctx: Fail(Unspeakable()))]))
    assert result.detail == "Unspeakable"


OUTPUTS: list[Any] = [
    None,
    ODD,
    ToolOutput("x", is_error=ODD),
    ToolOutput("x", refusal=ODD),
    ToolOutput("x", beside=ODD),
    ToolOutput("x", beside=(ODD,)),
    ToolOutput("x", is_external=ODD),
]


def _giving(given: Any) -> Tool:
    async def handle(input: Json, context: ToolContext) -> Any:
        return given

    return Tool(spec=ToolSpec("odd", "Odd.", {"type": "object"}), handler=handle)


@pytest.mark.parametrize("given", OUTPUTS, ids=str)
def test_an_output_that_does_not_fit_is_an_error_result(given: Any) -> None:
    got = _played("odd", _giving(given))
    assert (got.is_error, got.refusal) == (True, None)


UNUSUAL: dict[str, Any] = {
    "nan": float("nan"),
    "keys": {1: 2},
    "bytes": b"x",
    "object": object(),
    "cycle": CYCLE,
    "deep": _nested(900),
}


@pytest.mark.parametrize("given", UNUSUAL.values(), ids=UNUSUAL)
def test_content_and_details_of_any_kind_can_be_read_again(given: Any) -> None:
    got = _played("odd", _giving(ToolOutput(given, details=given)))
    assert got.is_error is False


def test_nothing_rides_beside_a_result_that_only_others_may_say() -> None:
    mine = (Text("mine"), Artifact("text/plain", "eA=="))
    others = (
        ToolUse("z", Raw("probe", {})),
        ToolResult("z", ""),
        Interrupt(Author.PERSON),
        Decision("a", Author.PERSON, "yes"),
    )
    output = ToolOutput("x", beside=(*others, *mine, Compaction("all is forgotten")))
    result = go(_run(ScriptedModel([call("odd"), "end"]), _giving(output)))
    assert [type(block) for block in result.transcript.body[2].content] == [ToolResult, Text, Artifact]


@pytest.mark.parametrize("event", list(HookEvent))
@pytest.mark.parametrize("reply", [ODD, Block(ODD), Rewrite({"value": "y"}, reason=ODD)], ids=str)
def test_an_answer_of_a_hook_that_does_not_fit_blocks(reply: Any, event: HookEvent) -> None:
    got = _played("probe", probe, hooks=[Hook(name="h", ask=lambda shown: reply, event=event)])
    assert got.refusal is not None
    assert got.refusal.by == "hook:h"


@pytest.mark.parametrize("becomes", [CYCLE, float("nan"), object()], ids=["cycle", "nan", "object"])
def test_what_a_hook_makes_of_a_result_can_be_read_again(becomes: Any) -> None:
    _played("probe", probe, hooks=[Hook(name="h", ask=lambda shown: Rewrite(becomes), event=HookEvent.POST_TOOL_USE)])


REPLIES: list[Any] = [
    ODD,
    Approve(comment=ODD),
    Approve(scope=ODD),
    Approve(rule=ODD),
    Approve(by=ODD),
    Deny(ODD),
    ApproveEdited(CYCLE),
]


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: type(reply).__name__)
def test_an_answer_of_an_approver_that_does_not_fit_is_none(reply: Any) -> None:
    got = _played("wipe", wipe, approver=lambda request: reply)
    assert got.refusal is not None
    assert (got.refusal.kind, got.refusal.by) == ("blocked", "approver")


def test_edited_arguments_with_a_number_that_is_none_are_judged_as_null() -> None:
    reply: Reply = ApproveEdited({"value": float("nan")})
    got = _played("wipe", wipe, approver=lambda request: reply)
    assert "value: Input should be a valid string" in str(got.content)


# Models ----------------------------------------------------------------------------------------------------

FOREIGN: list[AnyBlock] = [
    ToolResult("a", "x"),
    Interrupt(Author.PERSON),
    Decision("a", Author.PERSON, "yes"),
    Compaction("gone"),
]


@pytest.mark.parametrize("block", FOREIGN, ids=lambda block: type(block).__name__)
def test_a_model_cannot_say_what_is_others_to_say(block: AnyBlock) -> None:
    result = go(_run(_answering(block)))
    assert result.detail == f"the reply holds a {type(block).__name__}, which no response can"
    assert len(result.transcript.body) == 1


MALFORMED: list[AnyBlock] = [
    Text(ODD),
    ToolUse("a", Raw("probe", object())),
    ToolUse("a", Raw("probe", _nested(MAX_DEPTH))),
]


@pytest.mark.parametrize("block", MALFORMED, ids=["type", "no JSON", "too deep"])
def test_a_reply_that_could_not_be_read_again_is_malformed(block: AnyBlock) -> None:
    assert str(go(_run(_answering(block))).detail).startswith("the reply does not fit: ")


def test_a_cost_that_is_no_number_is_not_known() -> None:
    assert go(_run(_answering(Text("end"), cost=float("nan")))).cost is None


def test_each_call_of_a_response_has_an_id_of_its_own_even_if_the_model_gave_them_one() -> None:
    given_ids = ("a", "a", "a_2", "", "")
    calls = [ToolUse(name, Raw("probe", {"value": str(number)})) for number, name in enumerate(given_ids)]
    result = go(_run(_answering(*calls), probe))
    said, given = result.transcript.body[1:3]
    assert [block.id for block in said.content if isinstance(block, ToolUse)] == ["a", "a_3", "a_2", "", "_2"]
    results = [block.content for block in given.content if isinstance(block, ToolResult)]
    assert results == [f"seen {number}" for number in range(5)]
    assert len(tuple(result.transcript.tool_pairs())) == 5


def test_a_model_that_does_not_heed_its_token_is_interrupted_all_the_same() -> None:
    async def story() -> RunResult:
        async def stream(request: ModelRequest, cancellation: Cancellation | None) -> Streamed:
            yield TextDelta(0, "so")
            await asyncio.Event().wait()

        model: Any = Modelled(stream)
        run = Agent(model=model).start("go", RunOptions())
        async for happening in run:
            if isinstance(happening, TextDelta):
                run.interrupt()
        return await run

    assert go(story()).end_reason == "stop_requested"


def test_a_model_that_says_it_was_cancelled_when_it_was_not_is_not_asked_for_ever() -> None:
    async def stream(request: ModelRequest, cancellation: Cancellation | None) -> Streamed:
        for reason in ("by me",):
            raise Cancelled(reason)
        yield TextDelta(0, "never")

    result = go(_run(Modelled(stream)))
    assert (result.end_reason, result.detail, result.requests) == ("failed", "by me", 1)
