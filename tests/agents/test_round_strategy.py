"""The seam, row by row of the catalogue of cases it was built from (K.1); overruled rows stand in ADR 7."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from handrail import (
    Agent,
    Bound,
    CancellationToken,
    Continue,
    Effort,
    EndReason,
    Event,
    Fail,
    Inject,
    Limits,
    MemoryJournal,
    ModelInfo,
    OnError,
    Pause,
    Pool,
    ReasoningChange,
    ReasoningOptions,
    Reply,
    Retry,
    RoundAdjustment,
    RoundBoundary,
    RoundContext,
    RoundDecision,
    RunFailed,
    RunOptions,
    ScriptedModel,
    Session,
    Stop,
    ToolContext,
    call,
    tool,
)
from handrail.agents.strategy import StrategyLike
from handrail.journal import events as ev
from handrail.journal.vocabulary import Choice
from handrail.jsonio import encode
from handrail.models.errors import Overloaded
from handrail.models.retry import RetryPolicy
from handrail.models.scripted import Item
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Author, Image, Text, Thinking, Usage

from .stage import TOOLS, Watching, agent_of, go, played, said

TOOL = RoundBoundary.TOOL_RESULTS_COMMITTED
ANSWER = RoundBoundary.ASSISTANT_MESSAGE_COMMITTED
AT_ONCE = RetryPolicy(base_s=0.0)


def _events(script: Any, *strategies: Any, **options: Any) -> list[Event]:
    agent, _ = agent_of(script)

    async def story() -> list[Event]:
        run = agent.start("go", RunOptions(strategies=strategies, **options))
        return [item async for item in run if isinstance(item, Event)]

    return go(story())


def _decisions(events: list[Event]) -> list[ev.BoundaryDecided]:
    return [event.body for event in events if isinstance(event.body, ev.BoundaryDecided)]


# What it is asked, and when (rows 1, 7, 10 to 13)


def test_row_1_a_strategy_is_asked_after_the_tools_and_at_the_answer() -> None:
    watching = Watching()
    played([call("probe", value="a"), "done"], watching)
    first, second = watching.asked
    assert (first.boundary, first.rounds_completed, first.model_requests) == (TOOL, 1, 1)
    assert [(one.tool_use_id, one.tool_name, one.is_error) for one in first.tool_results] == [
        ("call_1", "probe", False)
    ]
    assert (second.boundary, second.rounds_completed, second.model_requests) == (ANSWER, 2, 2)
    assert second.tool_results == ()
    assert second.assistant_message is not None
    assert second.assistant_message.content == (Text("done", Author.MODEL),)


def test_the_context_holds_the_calls_with_inputs_and_outputs_and_what_is_left() -> None:
    watching = Watching()
    played([call("probe", value="a"), "done"], watching, max_rounds=10, max_tool_calls=30)
    first = watching.asked[0]
    assert (first.tool_results[0].input, first.tool_results[0].content) == ({"value": "a"}, "seen a")
    assert (first.remaining.rounds, first.remaining.tool_calls, first.remaining.tokens) == (9, 29, None)
    assert (first.can_continue, first.why_not, first.stop_reason) == (True, None, "tool_use")
    assert said(first.history) == ["user: go", "assistant: ", "user: [seen a]"]


def test_a_context_that_is_kept_stays_what_it_was() -> None:
    watching = Watching()
    played([call("probe", value="a"), call("probe", value="b"), "done"], watching)
    assert [len(ctx.history) for ctx in watching.asked] == [3, 5, 6]
    assert [len(ctx.decisions) for ctx in watching.asked] == [0, 1, 2]


def test_usage_is_the_runs_total_and_the_last_responses_own() -> None:
    usage = Usage(input_tokens=10, output_tokens=2)
    watching = Watching()
    result, _ = played(
        [Reply(content=(call("probe", value="a"),), usage=usage), Reply(content=("done",), usage=usage)], watching
    )
    assert watching.asked[0].usage == usage
    assert (watching.asked[1].usage.input_tokens, watching.asked[1].last_usage) == (20, usage)
    assert result.usage == Usage(input_tokens=20, output_tokens=4)


def test_row_7_two_runs_with_a_strategy_each_do_not_see_one_another() -> None:
    one, other = Watching(), Watching()
    agent, _ = agent_of(["a", "b"])

    async def story() -> None:
        await agent.run("go", RunOptions(strategies=[one]))
        await agent.run("go", RunOptions(strategies=[other]))

    go(story())
    assert (len(one.asked), len(other.asked)) == (1, 1)


def test_row_10_a_retry_counts_as_a_request_and_as_a_retry() -> None:
    watching = Watching()
    played([Overloaded("busy"), "done"], watching, retry=AT_ONCE)
    ctx = watching.asked[0]
    assert (ctx.rounds_completed, ctx.model_requests, ctx.transport_retries) == (1, 2, 1)


def test_row_11_results_of_parallel_calls_are_in_call_order_whatever_order_they_end_in() -> None:
    gates = [asyncio.Event() for _ in range(3)]

    @tool(parallel=True)
    async def slow(number: int) -> str:
        """number: which."""
        if number < 2:
            await gates[number + 1].wait()
        gates[number].set()
        return str(number)

    watching = Watching()
    model = ScriptedModel([[call("slow", number=0), call("slow", number=1), call("slow", number=2)], "done"])
    result = go(Agent(model=model, tools=[slow]).run("go", RunOptions(strategies=[watching])))
    assert [one.content for one in watching.asked[0].tool_results] == ["0", "1", "2"]
    assert said(result.transcript.body)[2] == "user: [0] [1] [2]"


def test_row_12_a_tool_that_fails_is_an_error_at_the_boundary() -> None:
    watching = Watching()
    played([call("broken"), "done"], watching)
    assert [one.is_error for one in watching.asked[0].tool_results] == [True]


def test_row_13_an_unknown_tool_is_an_error_under_the_name_the_model_gave() -> None:
    watching = Watching()
    played([call("nothing", x=1), "done"], watching)
    result = watching.asked[0].tool_results[0]
    assert (result.tool_name, result.input, result.is_error) == ("nothing", {"x": 1}, True)


def test_a_terminal_tool_passes_the_tool_boundary_and_a_strategy_can_go_on() -> None:
    watching = Watching(RoundDecision.inject("Not yet."))
    result, _ = played([call("done", answer="early"), "really done"], watching)
    assert [ctx.boundary for ctx in watching.asked] == [TOOL, ANSWER]
    assert (result.output, result.end_reason) == ("really done", EndReason.ANSWERED)


# Absence is identity (row 2)


def test_row_2_a_strategy_that_always_proceeds_changes_not_one_byte() -> None:
    script: list[Any] = [[call("probe", value="a"), call("broken")], call("done", answer="x"), "late"]
    seen = []
    for strategies in ((), (Watching(),), (lambda ctx: None,), (Watching(), Watching())):
        agent, model = agent_of(script, clock=ManualClock())
        session = Session("s1", MemoryJournal(ManualClock()))
        result = go(agent.run("go", RunOptions(strategies=strategies), session=session))
        sent = [encode(replace(request, run=None, tools=())) for request in model.requests]
        offered = [encode([tool.name for tool in request.tools]) for request in model.requests]
        seen.append((sent, offered, encode(result.transcript)))
    assert all(one == seen[0] for one in seen)


# What decisions do (rows 3 to 6, 8)


def test_row_3_an_injection_at_the_answer_gives_another_round() -> None:
    result, model = played(["first", "second"], Watching(RoundDecision.inject("Again.")))
    assert (result.output, len(model.requests)) == ("second", 2)
    assert said(model.requests[1].messages) == ["user: go", "assistant: first", "user: Again."]


def test_row_4_continue_with_another_model_and_effort_takes_effect_with_the_next_request() -> None:
    strong = ScriptedModel(["never said", "done"], name="strong")
    adjust = RoundAdjustment().with_model(strong.info).with_reasoning(Effort.HIGH)
    agent, model = agent_of([call("probe", value="a")], models=(strong,))
    result = go(agent.run("go", RunOptions(strategies=[Watching(Continue(adjust))])))
    assert [request.reasoning for request in model.requests] == [None]
    assert [request.reasoning for request in strong.requests] == [ReasoningOptions(Effort.HIGH)]
    assert [message.model for message in result.transcript.body if message.role == "assistant"] == [
        "scripted",
        "strong",
    ]


def test_row_5_a_stop_after_the_tools_keeps_everything_and_raises_nothing() -> None:
    result, model = played([call("probe", value="a"), "never"], Watching(RoundDecision.stop("enough")))
    assert (result.end_reason, result.detail, result.output) == (EndReason.STRATEGY_STOP, "enough", None)
    assert (len(model.requests), said(result.transcript.body)) == (1, ["user: go", "assistant: ", "user: [seen a]"])


def test_row_6_a_stop_at_the_answer_returns_the_answer() -> None:
    result, _ = played(["the answer"], Watching(RoundDecision.stop()))
    assert (result.output, result.end_reason) == ("the answer", EndReason.STRATEGY_STOP)
    assert len(result.transcript.body) == 2


def test_row_8_continue_at_the_answer_accepts_it() -> None:
    result, model = played(["the answer"], Watching(RoundDecision.proceed()))
    assert (result.output, len(model.requests)) == ("the answer", 1)


def test_an_injection_after_the_tools_rides_with_their_results() -> None:
    _, model = played([call("probe", value="a"), "done"], Watching(RoundDecision.inject("Mind the gap.")))
    assert said(model.requests[1].messages)[-1] == "user: [seen a] Mind the gap."


def test_images_can_be_injected() -> None:
    picture = Image("image/png", "AAAA")
    _, model = played(["first", "second"], Watching(RoundDecision.inject([picture])))
    assert model.requests[1].messages[-1].content == (picture,)


def test_a_retry_keeps_the_answer_in_the_history_and_asks_again() -> None:
    result, model = played(["bad", "good"], Watching(Retry("It must be good.")))
    assert result.output == "good"
    assert said(model.requests[1].messages) == ["user: go", "assistant: bad", "user: It must be good."]


# Steering wins (row 9)


def test_row_9_a_queued_steer_goes_first_and_the_strategy_is_asked_at_the_next_boundary() -> None:
    watching = Watching(RoundDecision.inject("from the strategy"))

    async def story() -> list[list[str]]:
        agent, model = agent_of([call("held"), "one", "two", "three"])
        inside = asyncio.Event()
        leave = asyncio.Event()

        @tool
        async def held() -> str:
            """Waits."""
            inside.set()
            await leave.wait()
            return "held"

        run = replace(agent, tools=(*agent.tools, held)).start("go", RunOptions(strategies=[watching]))
        await inside.wait()
        receipt = run.steer("from the person")
        leave.set()
        result = await run
        assert (receipt.status, receipt.round, result.output) == ("delivered", 2, "two")
        return [said(request.messages) for request in model.requests]

    requests = go(story())
    assert requests[1][-1] == "user: [held] from the person"
    assert requests[2][-1] == "user: from the strategy"
    assert [ctx.boundary for ctx in watching.asked] == [ANSWER, ANSWER]


# Reserve before injecting (rows 17 to 21, 30)


@pytest.mark.parametrize("nothing", ["", "   ", [], [Text(" ")]])
def test_row_17_an_empty_injection_is_refused_and_the_answer_stands(nothing: Any) -> None:
    events = _events(["the answer"], Watching(Inject(nothing)))
    decided = _decisions(events)[0]
    assert (decided.choice, decided.is_accepted, decided.why) == (
        Choice.INJECT,
        False,
        "there is nothing in it to put in",
    )
    assert not any(isinstance(event.body, ev.Injected) for event in events)


def test_row_18_an_injection_that_no_round_can_follow_is_refused_and_the_answer_stands() -> None:
    watching = Watching(RoundDecision.inject("more"))
    result, model = played(["the answer"], watching, max_rounds=1, near=2.0)
    assert (watching.asked[0].can_continue, watching.asked[0].why_not) == (False, "max_rounds is reached")
    assert (result.output, result.end_reason, len(model.requests)) == ("the answer", EndReason.MAX_ROUNDS, 1)
    decided = _decisions(_events(["a"], Watching(RoundDecision.inject("more")), max_rounds=1, near=2.0))
    assert [(one.is_accepted, one.why) for one in decided] == [(False, "max_rounds is reached")]


def test_row_19_the_same_when_the_tokens_are_spent() -> None:
    reply = Reply(content=("the answer",), usage=Usage(input_tokens=90, output_tokens=20))
    result, _ = played([reply], Watching(RoundDecision.inject("more")), max_tokens=100)
    assert (result.output, result.end_reason) == ("the answer", EndReason.MAX_TOKENS)


def test_row_20_the_same_when_a_stop_was_asked_for() -> None:
    stop = CancellationToken()

    def inject(ctx: RoundContext) -> RoundDecision:
        stop.cancel("enough")
        return RoundDecision.inject("more")

    watching = Watching(inject, RoundDecision.inject("even more"))
    result, model = played(["the answer", "another"], watching, stop=stop)
    assert len(model.requests) == 1
    assert (result.output, result.end_reason, result.detail) == ("the answer", EndReason.STOP_REQUESTED, "enough")


def test_row_21_a_cancel_keeps_what_was_committed() -> None:
    token = CancellationToken()

    def inject(ctx: RoundContext) -> RoundDecision:
        token.cancel("now")
        return RoundDecision.inject("more")

    result, model = played([call("probe", value="a"), "never"], Watching(inject), cancellation=token)
    assert (result.end_reason, result.detail) == (EndReason.CANCELLED, "now")
    assert said(result.transcript.body) == ["user: go", "assistant: ", "user: [seen a]"]
    assert len(model.requests) == 1


def test_row_30_a_strategy_that_always_injects_ends_at_the_cap_with_the_answer() -> None:
    class Forever:
        async def on_round(self, ctx: RoundContext) -> RoundDecision:
            return RoundDecision.inject(f"again {ctx.injections} of {ctx.max_injections}")

    events = _events([f"answer {n}" for n in range(9)], Forever(), max_injections=3)
    assert [one.is_accepted for one in _decisions(events)] == [True, True, True, False]
    assert _decisions(events)[-1].why == "the cap of 3 injections is reached"
    result, _ = played([f"answer {n}" for n in range(9)], Forever(), max_injections=3)
    assert (result.output, result.end_reason) == ("answer 3", EndReason.ANSWERED)


# Errors, time, cancellation (rows 22 to 24)


class Failing:
    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        raise KeyError("nowhere")


def test_row_22_a_strategy_that_raises_fails_the_run_with_its_own_exception() -> None:
    with pytest.raises(RunFailed, match="Failing failed: KeyError") as caught:
        played([call("probe", value="a"), "done"], Failing())
    assert isinstance(caught.value.__cause__, KeyError)
    assert said(caught.value.result.transcript.body)[-1] == "user: [seen a]"
    assert caught.value.result.end_reason is EndReason.FAILED


@pytest.mark.parametrize(
    ("policy", "end"), [(OnError.CONTINUE, EndReason.ANSWERED), (OnError.STOP, EndReason.STRATEGY_STOP)]
)
def test_row_22_its_error_policy_can_go_on_or_stop_and_is_told(policy: OnError, end: EndReason) -> None:
    result, _ = played(["done"], Failing(), on_strategy_error=policy)
    assert (result.end_reason, result.output) == (end, "done")
    decided = _decisions(_events(["done"], Failing(), on_strategy_error=policy))[0]
    assert decided.contributions[0].error == "KeyError: 'nowhere'"


def test_row_23_a_strategy_that_takes_too_long_is_an_error_and_hangs_nothing() -> None:
    class Asleep:
        async def on_round(self, ctx: RoundContext) -> RoundDecision:
            await asyncio.Event().wait()
            raise AssertionError

    result, _ = played(["done"], Asleep(), strategy_timeout_s=0.01, on_strategy_error="continue")
    assert result.output == "done"


def test_row_24_a_cancel_ends_the_run_while_a_strategy_waits() -> None:
    ended: list[str] = []

    async def story() -> EndReason:
        asked = asyncio.Event()

        async def waits(ctx: RoundContext) -> RoundDecision:
            asked.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise
            raise AssertionError

        agent, _ = agent_of(["done"])
        run = agent.start("go", RunOptions(strategies=[waits], strategy_timeout_s=None))
        await asked.wait()
        run.cancel("enough")
        return (await run).end_reason

    assert go(story()) is EndReason.CANCELLED
    assert ended == ["cancelled"]


def test_what_is_no_decision_is_an_error_of_the_strategy() -> None:
    with pytest.raises(RunFailed, match="returned str, which is no round decision"):
        played(["done"], lambda ctx: "go on")  # type: ignore[arg-type]


# Adjustments (rows 25 to 28)


def test_row_25_an_unknown_model_fails_the_run_before_the_next_request() -> None:
    adjust = RoundAdjustment(model=ModelInfo("none", "nowhere"), reasoning=ReasoningChange.set(Effort.LOW))
    with pytest.raises(RunFailed, match="no model nowhere:none") as caught:
        played([call("probe", value="a"), "done"], Watching(Continue(adjust)))
    assert caught.value.result.requests == 1


@pytest.mark.parametrize(
    "adjust",
    [
        RoundAdjustment().with_tools("probe", "nothing"),
        RoundAdjustment().with_tool_choice("nothing"),
        RoundAdjustment().with_max_output_tokens(0),
        RoundAdjustment().with_note(" "),
    ],
)
def test_an_adjustment_is_checked_whole_before_any_of_it_is_applied(adjust: RoundAdjustment) -> None:
    mixed = adjust.with_reasoning(Effort.HIGH)
    result, model = played([call("probe", value="a"), "done"], Watching(Continue(mixed)), on_strategy_error="continue")
    assert result.output == "done"
    assert [request.reasoning for request in model.requests] == [None, None]


@pytest.mark.parametrize("fails", [False, True])
def test_rows_26_and_27_an_adjustment_of_a_run_is_gone_with_it(fails: bool) -> None:
    script: list[Item] = ["never said", Overloaded("busy"), "late"] if fails else ["never said", "done"]
    other = ScriptedModel(script, name="other")
    agent, _ = agent_of([call("probe", value="a"), "next"], models=(other,))
    adjust = RoundAdjustment().with_model(other.info)

    async def story() -> str:
        session = None
        try:
            options = RunOptions(strategies=[Watching(Continue(adjust))], retry=RetryPolicy(retries=0))
            session = (await agent.run("go", options)).session
        except RunFailed as problem:
            session = problem.result.session
        result = await agent.run("more", session=session)
        assert result.last_assistant is not None
        return str(result.last_assistant.model)

    assert go(story()) == "scripted"


def test_an_adjustment_of_scope_session_outlives_the_run() -> None:
    other = ScriptedModel(["never said", "done", "more"], name="other")
    agent, _ = agent_of([call("probe", value="a")], models=(other,))
    adjust = RoundAdjustment().with_model(other.info).with_scope("session")

    async def story() -> Any:
        first = await agent.run("go", RunOptions(strategies=[Watching(Continue(adjust))]))
        return await agent.run("more", session=first.session)

    assert go(story()).last_assistant.model == "other"


def test_row_28_reasoning_that_is_set_and_cleared_is_in_one_request_only() -> None:
    on = Continue(RoundAdjustment().with_reasoning(Effort.HIGH))
    off = Continue(RoundAdjustment(reasoning=ReasoningChange.clear()))
    script: list[Any] = [call("probe", value="a"), call("probe", value="b"), "done"]
    _, model = played(script, Watching(on, off))
    assert [request.reasoning for request in model.requests] == [None, ReasoningOptions(Effort.HIGH), None]


def test_an_injections_adjustment_holds_for_its_round_only() -> None:
    once = Inject("Think harder.", RoundAdjustment().with_reasoning(Effort.MAX))
    _, model = played(["a", "b", "c"], Watching(once, RoundDecision.inject("And again.")))
    assert [request.reasoning for request in model.requests] == [None, ReasoningOptions(Effort.MAX), None]


def test_tools_and_tool_choice_can_be_adjusted() -> None:
    adjust = RoundAdjustment().with_tools("probe").with_tool_choice("required")
    _, model = played([call("probe", value="a"), "done"], Watching(Continue(adjust)))
    assert [[offered.name for offered in request.tools] for request in model.requests] == [
        [one.name for one in TOOLS],
        ["probe"],
    ]
    assert [request.tool_choice for request in model.requests] == ["auto", "required"]


def test_what_a_response_may_say_and_what_the_instructions_add_can_be_adjusted_for_a_round() -> None:
    adjust = RoundAdjustment().with_max_output_tokens(50).with_note("Be short.")
    agent, model = agent_of(["first", "second", "third"], instructions="You are kind.")
    watching = Watching(Inject("Again.", adjust), RoundDecision.inject("And again."))
    go(agent.run("go", RunOptions(strategies=[watching], max_output_tokens=900)))
    assert [request.max_output_tokens for request in model.requests] == [900, 50, 900]
    plain = "You are kind."
    assert [request.instructions for request in model.requests] == [plain, f"{plain}\n\nBe short.", plain]


def test_a_tool_that_is_not_offered_any_more_is_not_run() -> None:
    adjust = RoundAdjustment().with_tools("probe")
    watching = Watching(Continue(adjust))
    played([call("probe", value="a"), call("change", value="b"), "done"], watching)
    assert watching.asked[1].tool_results[0].is_error
    assert watching.asked[1].tool_results[0].refusal is not None


# Children, typed runs, records (rows 31 to 36)


def test_row_35_decision_injection_and_adjustment_are_events_before_the_next_request() -> None:
    decision = Inject("More.", RoundAdjustment().with_reasoning(Effort.LOW))
    kinds = [type(event.body).__name__ for event in _events(["a", "b"], Watching(decision))]
    at = kinds.index("BoundaryDecided")
    assert kinds[at : at + 4] == ["BoundaryDecided", "Injected", "Adjusted", "ModelRequested"]
    assert kinds.count("BoundaryDecided") == 2


def test_row_36_a_factory_gives_every_run_a_strategy_of_its_own() -> None:
    class Once:
        def __init__(self) -> None:
            self.is_asked = False

        async def on_round(self, ctx: RoundContext) -> RoundDecision:
            self.is_asked, was = True, self.is_asked
            return RoundDecision.proceed() if was else RoundDecision.inject("Once more.")

    async def story() -> list[Any]:
        agents = [agent_of(["first", "second"])[0] for _ in range(2)]
        options = RunOptions(strategies=[Once])
        return await asyncio.gather(*(agent.run("go", options) for agent in agents))

    assert [result.output for result in go(story())] == ["second", "second"]


# Ends (rows 37 to 39) and composition (row 40)


def test_row_37_the_reason_of_a_stop_is_the_detail_of_the_end() -> None:
    result, _ = played(["a"], Watching(Stop("seen enough")))
    assert (result.end_reason, result.detail) == (EndReason.STRATEGY_STOP, "seen enough")


def test_row_38_fail_raises_with_the_result_and_the_given_error() -> None:
    error = LookupError("nothing there")
    with pytest.raises(RunFailed, match="nothing there") as caught:
        played([call("probe", value="a"), "done"], Watching(Fail(error)))
    assert caught.value.__cause__ is error
    assert said(caught.value.result.transcript.body)[-1] == "user: [seen a]"


def test_row_39_finish_ends_with_its_value_and_without_another_request() -> None:
    result, model = played([call("probe", value="a"), "done"], Watching(RoundDecision.finish({"rows": 3})))
    assert (result.output, result.end_reason) == ({"rows": 3}, EndReason.STRATEGY_FINISH)
    assert len(model.requests) == 1


def test_finish_with_something_that_is_no_json_is_an_error_of_the_strategy() -> None:
    with pytest.raises(RunFailed, match="cannot be an output"):
        played(["done"], Watching(RoundDecision.finish(object())))


def test_pause_ends_waiting_and_the_answer_goes_on_with_it() -> None:
    agent, model = agent_of([call("probe", value="a"), "with the answer"])

    async def story() -> tuple[Any, Any]:
        first = await agent.run("go", RunOptions(strategies=[Watching(Pause("Which one?"))]))
        return first, await agent.resume(first.session, answer="The red one.")

    first, second = go(story())
    assert (first.end_reason, first.question) == (EndReason.WAITING, "Which one?")
    assert second.output == "with the answer"
    last = model.requests[1].messages[-1].content
    assert [block.text for block in last if isinstance(block, Text)] == ["The red one."]
    assert [block.author for block in last if isinstance(block, Text)] == [Author.PERSON]


_ORDER = [
    (Fail("no"), EndReason.FAILED),
    (Stop("s"), EndReason.STRATEGY_STOP),
    (RoundDecision.finish(1), EndReason.STRATEGY_FINISH),
    (Pause("?"), EndReason.WAITING),
    (Retry("again"), None),
    (Inject("more"), None),
    (Continue(), EndReason.ANSWERED),
]


@pytest.mark.parametrize("stronger", range(6))
@pytest.mark.parametrize("is_first", [True, False])
def test_row_40_the_stronger_decision_wins_whatever_the_order(stronger: int, is_first: bool) -> None:
    for weaker in range(stronger + 1, 7):
        pair = [_ORDER[stronger][0], _ORDER[weaker][0]]
        if not is_first:
            pair.reverse()
        decided = _decisions(_events(["a", "b"], *(Watching(one) for one in pair)))[0]
        expected = [Choice.FAIL, Choice.STOP, Choice.FINISH, Choice.PAUSE, Choice.RETRY, Choice.INJECT]
        assert decided.choice is expected[stronger]
        assert len(decided.contributions) == 2
        assert decided.by == (("Watching",) if is_first else ("Watching#2",))


def test_row_40_both_are_reported_under_their_names() -> None:
    class Injects:
        name = "injects"

        async def on_round(self, ctx: RoundContext) -> RoundDecision:
            return RoundDecision.inject("more")

    def stops(ctx: RoundContext) -> RoundDecision:
        return RoundDecision.stop("enough")

    decided = _decisions(_events(["a"], Injects(), stops))[0]
    assert [(one.strategy, one.choice) for one in decided.contributions] == [
        ("injects", Choice.INJECT),
        ("stops", Choice.STOP),
    ]
    assert (decided.choice, decided.by, decided.note) == (Choice.STOP, ("stops",), "enough")


def test_injections_concatenate_and_the_later_adjustment_wins() -> None:
    one = Inject("first", RoundAdjustment().with_reasoning(Effort.LOW))
    other = Inject("second", RoundAdjustment().with_reasoning(Effort.HIGH))
    _, model = played(["a", "b"], Watching(one), Watching(other))
    assert said(model.requests[1].messages)[-1] == "user: first\n\nsecond"
    assert model.requests[1].reasoning == ReasoningOptions(Effort.HIGH)


# Limits as boundaries


def test_three_lines_wrap_up_at_a_limit_with_one_round_without_tools() -> None:
    class WrapUp:
        async def on_round(self, ctx: RoundContext) -> RoundDecision:
            is_end = ctx.boundary is RoundBoundary.LIMIT_REACHED
            return RoundDecision.inject("Answer with what you have.") if is_end else RoundDecision.proceed()

    script: list[Any] = [call("probe", value="a"), call("probe", value="b"), "what I have"]
    result, model = played(script, WrapUp(), max_rounds=2)
    assert (result.output, result.end_reason) == ("what I have", EndReason.MAX_ROUNDS)
    assert [request.tool_choice for request in model.requests] == ["auto", "auto", "none"]


def _lifting(adjust: RoundAdjustment, *, injects: bool) -> StrategyLike:
    """Lifts a reached limit by ``adjust`` each time, with words or without."""

    def on_round(ctx: RoundContext) -> RoundDecision:
        if ctx.boundary is not RoundBoundary.LIMIT_REACHED:
            return RoundDecision.proceed()
        return Inject("Go on.", adjust) if injects else Continue(adjust)

    return on_round


LOOKS: list[Item] = [call("probe", value=str(number)) for number in range(4)]


@pytest.mark.parametrize("injects", [False, True])
def test_a_limit_that_is_lifted_where_it_is_reached_lets_the_run_go_on_with_its_tools(injects: bool) -> None:
    adjust = RoundAdjustment(limits=Limits(max_rounds=9), scope="run")
    result, model = played([*LOOKS, "done"], _lifting(adjust, injects=injects), max_rounds=2)
    assert (result.output, result.end_reason, result.rounds) == ("done", EndReason.ANSWERED, 5)
    assert {request.tool_choice for request in model.requests} == {"auto"}


def test_a_limit_that_is_lifted_for_a_round_is_reached_again_after_it() -> None:
    asked: list[int] = []

    def one_more(ctx: RoundContext) -> RoundDecision:
        if ctx.boundary is not RoundBoundary.LIMIT_REACHED or len(asked) == 2:
            return RoundDecision.proceed()
        asked.append(ctx.rounds_completed)
        limits = Limits(max_rounds=ctx.rounds_completed + 1)
        return Continue(RoundAdjustment(limits=limits, scope="round"))

    result, _ = played([*LOOKS, "never"], one_more, max_rounds=1)
    assert (asked, result.end_reason, result.rounds) == ([1, 2], EndReason.MAX_ROUNDS, 3)


def test_a_limit_that_is_not_lifted_far_enough_is_the_end() -> None:
    adjust = RoundAdjustment(limits=Limits(max_rounds=2), scope="run")
    result, _ = played([*LOOKS, "never"], _lifting(adjust, injects=False), max_rounds=2)
    assert (result.end_reason, result.rounds) == (EndReason.MAX_ROUNDS, 2)


def test_seconds_that_ran_out_can_be_lifted_and_a_pool_cannot() -> None:
    async def hangs_once(_: Any) -> str:
        if not hung:
            hung.append(True)
            await asyncio.Event().wait()
        return "done"

    hung: list[bool] = []
    lifts = _lifting(RoundAdjustment(limits=Limits(max_seconds=60.0), scope="run"), injects=True)
    assert played([hangs_once], lifts, max_seconds=0.05)[0].output == "done"
    pool = Pool(max_tokens=0)
    assert played(["never"], lifts, pools=(pool,), max_seconds=60.0)[0].end_reason is EndReason.POOL


def test_a_near_limit_is_asked_about_once_with_its_name() -> None:
    watching = Watching()
    played([call("probe", value=str(n)) for n in range(9)] + ["done"], watching, max_rounds=10)
    near = [ctx for ctx in watching.asked if ctx.boundary is RoundBoundary.LIMIT_NEAR]
    assert [(ctx.bound, ctx.rounds_completed, ctx.remaining.rounds) for ctx in near] == [(Bound.MAX_ROUNDS, 8, 2)]


# Plain functions


def test_a_plain_function_is_a_strategy_and_runs_in_a_thread() -> None:
    import threading

    threads: list[threading.Thread] = []

    def look(ctx: RoundContext) -> RoundDecision:
        threads.append(threading.current_thread())
        return RoundDecision.proceed()

    played(["done"], look)
    assert threads[0] is not threading.main_thread()


def test_something_that_cannot_be_a_strategy_is_refused_at_the_start() -> None:
    agent, _ = agent_of(["done"])
    with pytest.raises(TypeError, match="no on_round"):
        go(agent.run("go", RunOptions(strategies=[3])))  # type: ignore[list-item]


def test_thinking_of_the_model_stays_in_the_history_for_the_next_request() -> None:
    _, model = played([Reply(content=(call("probe", value="a"),), thinking="hm"), "done"])
    assert Thinking("hm") in model.requests[1].messages[1].content


def test_a_tool_is_told_what_it_may_use() -> None:
    seen: list[ToolContext] = []

    @tool
    async def look(context: ToolContext) -> str:
        """Looks."""
        seen.append(context)
        return "ok"

    go(Agent(model=ScriptedModel([call("look"), "done"]), tools=[look]).run("go"))
    assert (seen[0].call_id, seen[0].ask) == ("call_1", None)
