"""The order at each boundary, step by step, on journals written by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from handrail.journal import events as ev
from handrail.journal.broken import BrokenJournal, NotDrivable
from handrail.journal.effects import (
    CallModel,
    Compact,
    Decide,
    End,
    OpenAsk,
    RunHook,
    RunTool,
    Step,
    WaitUntil,
)
from handrail.journal.ends import closing_events
from handrail.journal.fold import apply, fold
from handrail.journal.transcript import project
from handrail.journal.vocabulary import (
    DRIVER,
    Actor,
    ActorKind,
    Adjustment,
    AskKind,
    AskOutcome,
    Bound,
    Boundary,
    CallTraits,
    Choice,
    EndReason,
    HookVerdict,
    Limits,
)
from handrail.transcripts.model import Bash, Refusal, RefusalKind

from .driver import NOW, PERSON, Tape, begin, reply, steer

ANSWER = Boundary.ASSISTANT_MESSAGE_COMMITTED
RESULTS = Boundary.TOOL_RESULTS_COMMITTED
PLAIN = CallTraits()


def asked(tape: Tape, round: int = 1) -> Tape:
    return tape.add(ev.ModelRequested(request=round, round=round))


def admitted(call: str, **options: object) -> ev.ToolRequested:
    return ev.ToolRequested(call=call, tool="Bash", **options)  # type: ignore[arg-type]


def one_tool_round(tape: Tape, call: str = "a", traits: CallTraits = PLAIN) -> Tape:
    asked(tape).add(reply(call), admitted(call, traits=traits), ev.ToolStarted(call=call), ev.ToolFinished(call=call))
    return tape


def test_a_run_without_strategies_asks_the_model_runs_the_tool_and_ends_with_the_answer() -> None:
    tape = begin()
    assert tape.next() == (CallModel(request=1, round=1),)
    assert asked(tape).next() == ()
    tape.add(reply("a"))
    assert tape.next() == (RunTool(call="a", step=Step.ADMIT),)
    tape.add(admitted("a"))
    assert tape.next() == (RunTool(call="a", step=Step.RUN),)
    assert tape.add(ev.ToolStarted(call="a")).next() == ()
    tape.add(ev.ToolFinished(call="a", content="b"))
    assert tape.next() == (CallModel(request=2, round=2),)
    asked(tape, 2).add(reply())
    assert tape.next() == (End(reason=EndReason.ANSWERED),)
    tape.add(*closing_events(tape.state, End(reason=EndReason.ANSWERED)))
    assert tape.next() == ()


def test_strategies_are_asked_at_both_boundaries_and_going_on_is_the_default_flow() -> None:
    tape = one_tool_round(begin(strategies=("judge",)))
    assert tape.next() == (Decide(boundary=RESULTS, round=1),)
    tape.add(ev.BoundaryDecided(boundary=RESULTS, round=1))
    assert tape.next() == (CallModel(request=2, round=2),)
    asked(tape, 2).add(reply())
    assert tape.next() == (Decide(boundary=ANSWER, round=2),)
    assert tape.add(ev.BoundaryDecided(boundary=ANSWER, round=2)).next() == (End(reason=EndReason.ANSWERED),)


def test_a_queued_steer_goes_with_the_next_request_and_the_strategies_are_not_asked() -> None:
    tape = one_tool_round(begin(strategies=("judge",))).add(steer("s1"), steer("s2"), by=PERSON)
    assert tape.next() == (CallModel(request=2, round=2, deliver=("s1",)),)


def test_all_steers_go_at_once_when_the_queue_gives_all() -> None:
    tape = one_tool_round(begin(steers="all")).add(steer("s1"), steer("f1", "follow_up"), steer("s2"), by=PERSON)
    assert tape.next() == (CallModel(request=2, round=2, deliver=("s1", "s2")),)


def test_a_follow_up_waits_until_the_run_would_end() -> None:
    tape = one_tool_round(begin()).add(steer("f1", "follow_up"), by=PERSON)
    assert tape.next() == (CallModel(request=2, round=2),)
    asked(tape, 2).add(reply())
    assert tape.next() == (CallModel(request=3, round=3, deliver=("f1",)),)


def test_a_steer_in_the_last_permitted_round_leaves_the_answer_standing_and_goes_back() -> None:
    tape = asked(begin(limits=Limits(max_rounds=1))).add(reply()).add(steer("s1"), by=PERSON)
    end = End(reason=EndReason.ANSWERED)
    assert tape.next() == (end,)
    assert ev.InputReturned("s1", "the run ended: answered") in closing_events(tape.state, end)


def test_a_refused_injection_ends_the_run_for_the_reason_no_round_could_follow() -> None:
    tape = asked(begin(strategies=("judge",), limits=Limits(max_rounds=1))).add(reply())
    assert tape.next() == (Decide(boundary=ANSWER, round=1, why_not="max_rounds is reached"),)
    refused = ev.BoundaryDecided(
        boundary=ANSWER, round=1, choice=Choice.INJECT, is_accepted=False, why="max_rounds is reached"
    )
    assert tape.add(refused).next() == (End(reason=EndReason.MAX_ROUNDS),)


def test_an_accepted_injection_keeps_the_run_from_ending() -> None:
    tape = asked(begin(strategies=("judge",))).add(reply())
    tape.add(ev.BoundaryDecided(boundary=ANSWER, round=1, choice=Choice.INJECT))
    assert tape.next() == (CallModel(request=2, round=2),)


def test_near_a_limit_strategies_are_asked_once() -> None:
    tape = one_tool_round(begin(strategies=("judge",), limits=Limits(max_rounds=2, near=0.5)))
    tape.add(ev.BoundaryDecided(boundary=RESULTS, round=1))
    assert tape.next() == (Decide(boundary=Boundary.LIMIT_NEAR, round=1, bound=Bound.MAX_ROUNDS),)
    tape.add(ev.BoundaryDecided(boundary=Boundary.LIMIT_NEAR, round=1, bound=Bound.MAX_ROUNDS))
    assert tape.next() == (CallModel(request=2, round=2),)


def test_at_a_limit_one_round_without_tools_may_be_granted_and_then_the_bound_is_the_end() -> None:
    tape = one_tool_round(begin(strategies=("judge",), limits=Limits(max_rounds=1)))
    at_limit = Decide(boundary=Boundary.LIMIT_REACHED, round=1, bound=Bound.MAX_ROUNDS, why_not="max_rounds is reached")
    assert tape.next() == (at_limit,)
    tape.add(
        ev.BoundaryDecided(
            boundary=Boundary.LIMIT_REACHED, round=1, bound=Bound.MAX_ROUNDS, choice=Choice.INJECT, by=("judge",)
        )
    )
    assert tape.next() == (CallModel(request=2, round=2, is_without_tools=True),)
    asked(tape, 2).add(reply("late"))
    assert tape.next() == (RunTool(call="late", step=Step.SKIP, why="max_rounds is reached"),)
    tape.add(ev.ToolFinished(call="late", is_error=True, refusal=Refusal(RefusalKind.NOT_RUN)))
    tape.add(ev.BoundaryDecided(boundary=RESULTS, round=2))
    assert tape.next() == (End(reason=EndReason.MAX_ROUNDS),)


def test_without_strategies_a_reached_limit_ends_the_run() -> None:
    assert one_tool_round(begin(limits=Limits(max_rounds=1))).next() == (End(reason=EndReason.MAX_ROUNDS),)


def test_a_terminal_tool_passes_the_tool_boundary() -> None:
    tape = one_tool_round(begin(strategies=("judge",)), traits=CallTraits(is_terminal=True))
    assert tape.next() == (Decide(boundary=RESULTS, round=1),)
    tape.add(ev.BoundaryDecided(boundary=RESULTS, round=1))
    assert tape.next() == (End(reason=EndReason.TOOL_FINISHED),)


def test_a_stop_passes_the_boundary_and_a_cancellation_does_not() -> None:
    stopped = one_tool_round(begin(strategies=("judge",))).add(ev.StopRequested("enough"), by=PERSON)
    assert stopped.next() == (Decide(boundary=RESULTS, round=1, why_not="a stop was requested"),)
    stopped.add(ev.BoundaryDecided(boundary=RESULTS, round=1))
    assert stopped.next() == (End(reason=EndReason.STOP_REQUESTED, detail="enough"),)
    cancelled = one_tool_round(begin(strategies=("judge",))).add(ev.CancelRequested(), by=PERSON)
    assert cancelled.next() == (End(reason=EndReason.CANCELLED),)


def test_a_stop_that_comes_with_the_answer_claims_nothing() -> None:
    tape = asked(begin()).add(ev.StopRequested(), by=PERSON).add(reply())
    assert tape.next() == (End(reason=EndReason.ANSWERED),)


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (Choice.STOP, EndReason.STRATEGY_STOP),
        (Choice.FINISH, EndReason.STRATEGY_FINISH),
        (Choice.FAIL, EndReason.FAILED),
        (Choice.PAUSE, EndReason.WAITING),
    ],
)
def test_each_ending_decision_has_its_end(choice: Choice, reason: EndReason) -> None:
    tape = asked(begin(strategies=("judge",))).add(reply())
    tape.add(ev.BoundaryDecided(boundary=ANSWER, round=1, choice=choice, note="so", output=7))
    assert tape.next() == (End(reason=reason, detail="so", output=7),)


@pytest.mark.parametrize(("word", "reason"), [("max_tokens", EndReason.LENGTH), ("refusal", EndReason.REFUSAL)])
def test_a_cut_and_a_refused_answer_are_ends_of_their_own(word: str, reason: EndReason) -> None:
    assert asked(begin()).add(reply(stop_reason=word)).next() == (End(reason=reason),)


def test_parallel_calls_start_together_and_an_exclusive_one_waits_for_all_before_it() -> None:
    parallel = CallTraits(is_parallel=True)
    tape = asked(begin()).add(reply("a", "b", "c", "d"))
    tape.add(admitted("a", traits=parallel), admitted("b", traits=parallel), admitted("c"))
    tape.add(admitted("d", traits=parallel))
    assert tape.next() == (RunTool(call="a", step=Step.RUN), RunTool(call="b", step=Step.RUN))
    tape.add(ev.ToolStarted(call="a"), ev.ToolStarted(call="b"), ev.ToolFinished(call="b"))
    assert tape.next() == ()
    assert tape.add(ev.ToolFinished(call="a")).next() == (RunTool(call="c", step=Step.RUN),)


def test_no_call_runs_before_all_are_judged() -> None:
    tape = asked(begin()).add(reply("a", "b"), admitted("a"))
    assert tape.next() == (RunTool(call="b", step=Step.ADMIT),)


def test_calls_past_the_bound_are_skipped() -> None:
    parallel = CallTraits(is_parallel=True)
    tape = asked(begin(limits=Limits(max_tool_calls=1))).add(reply("a", "b"))
    tape.add(admitted("a", traits=parallel), admitted("b", traits=parallel))
    assert tape.next() == (
        RunTool(call="a", step=Step.RUN),
        RunTool(call="b", step=Step.SKIP, why="max_tool_calls is reached"),
    )


def test_hooks_come_before_the_question_and_a_rewrite_is_asked_about_again() -> None:
    tape = asked(begin()).add(reply("a"), admitted("a", hooks=("lint",), needs_approval=True))
    assert tape.next() == (RunHook(hook="lint", call="a"),)
    tape.add(ev.HookRan(hook="lint", call="a", verdict=HookVerdict.ALLOW))
    assert tape.next() == (OpenAsk(call="a"),)
    tape.add(ev.AskOpened(ask="q", kind=AskKind.APPROVAL, prompt="run?", call="a"))
    assert tape.next() == (WaitUntil(asks=("q",)),)
    tape.add(ev.AskClosed(ask="q", outcome=AskOutcome.ANSWERED, is_allowed=True), by=PERSON)
    assert tape.next() == (RunTool(call="a", step=Step.RUN),)
    tape.add(ev.ToolRewritten(call="a", becomes=Bash("ls -a"), needs_approval=True))
    assert tape.next() == (OpenAsk(call="a"),)


def test_a_denied_approval_is_the_result_of_its_call() -> None:
    tape = asked(begin()).add(reply("a"), admitted("a", needs_approval=True))
    tape.add(ev.AskOpened(ask="q", kind=AskKind.APPROVAL, prompt="run?", call="a"))
    tape.add(ev.AskClosed(ask="q", outcome=AskOutcome.DENIED, comment="no"), by=PERSON)
    assert tape.next() == (CallModel(request=2, round=2),)


def test_waiting_ends_at_the_deadline_with_the_ask_named_overdue() -> None:
    deadline = NOW + timedelta(hours=1)
    tape = asked(begin()).add(reply("a"), admitted("a", needs_approval=True))
    tape.add(ev.AskOpened(ask="q", kind=AskKind.APPROVAL, prompt="run?", call="a", deadline=deadline))
    assert tape.next() == (WaitUntil(at=deadline, asks=("q",)),)
    assert tape.next(deadline) == (WaitUntil(at=deadline, asks=("q",), overdue=("q",)),)


def test_a_failed_request_waits_for_its_time_and_keeps_its_round() -> None:
    later = NOW + timedelta(seconds=5)
    tape = asked(begin()).add(ev.ModelFailed(error="overloaded", retry_at=later))
    assert tape.next() == (WaitUntil(at=later),)
    assert tape.next(later) == (CallModel(request=2, round=1),)


def test_a_failure_without_a_retry_is_the_end() -> None:
    tape = asked(begin(strategies=("judge",))).add(ev.ModelFailed(error="bad key"))
    assert tape.next() == (End(reason=EndReason.FAILED, detail="bad key"),)


def test_a_full_context_is_compacted_before_the_next_request_and_once() -> None:
    tape = one_tool_round(begin(compact_at=10))
    assert tape.next() == (Compact(context_tokens=15),)
    assert tape.add(ev.Compacted(summary="so far")).next() == (CallModel(request=2, round=2),)


def test_after_a_take_over_a_request_is_sent_again_and_a_started_call_is_unknown_unless_twice_is_safe() -> None:
    calling = asked(begin()).add(ev.DriverTookOver(1))
    assert calling.next() == (CallModel(request=2, round=1),)
    tape = asked(begin()).add(reply("a", "b"))
    tape.add(admitted("a", traits=CallTraits(is_parallel=True)))
    tape.add(admitted("b", traits=CallTraits(is_parallel=True, twice_is_safe=True)))
    tape.add(ev.ToolStarted(call="a"), ev.ToolStarted(call="b"), ev.DriverTookOver(1))
    assert tape.next() == (RunTool(call="a", step=Step.RECOVER), RunTool(call="b", step=Step.RUN))


def test_an_interrupt_goes_on_with_the_words_sent_along_and_ends_the_run_without_any() -> None:
    interrupted = ev.ModelFailed(error="interrupted", is_interrupted=True)
    silent = asked(begin()).add(ev.Interrupted(), by=PERSON).add(interrupted)
    assert silent.next() == (End(reason=EndReason.STOP_REQUESTED, detail="interrupted"),)
    spoken = asked(begin()).add(steer("s1"), ev.Interrupted(), by=PERSON).add(interrupted)
    assert spoken.next() == (CallModel(request=2, round=2, deliver=("s1",)),)


def test_an_adjustment_for_a_round_is_undone_after_it_and_one_for_the_run_with_the_run() -> None:
    tape = begin()
    tape.add(ev.Adjusted(adjustment=Adjustment(model="big"), scope="round"))
    tape.add(ev.Adjusted(adjustment=Adjustment(effort="high", limits=Limits(max_rounds=9)), scope="run"))
    tape.add(ev.Adjusted(adjustment=Adjustment(tool_choice="none"), scope="session"))
    (first,) = tape.next()
    assert isinstance(first, CallModel)
    assert (first.adjustment.model, first.adjustment.effort, first.adjustment.tool_choice) == ("big", "high", "none")
    one_tool_round(tape)
    (second,) = tape.next()
    assert isinstance(second, CallModel)
    assert (second.adjustment.model, second.adjustment.effort) == (None, "high")
    tape.add(*closing_events(tape.state, End(reason=EndReason.CANCELLED)))
    assert [one.adjustment for one in tape.state.in_force] == [Adjustment(tool_choice="none")]


def test_closing_a_run_gives_every_open_call_a_result_and_withdraws_its_question() -> None:
    tape = asked(begin()).add(reply("a", "b", "c"), admitted("a"), admitted("b", needs_approval=True))
    tape.add(ev.ToolStarted(call="a"), ev.AskOpened(ask="q", kind=AskKind.APPROVAL, prompt="run?", call="b"))
    closing = closing_events(tape.state, End(reason=EndReason.CANCELLED))
    assert [type(body) for body in closing] == [ev.ToolOutcomeUnknown, ev.AskClosed, ev.ToolFinished, ev.RunEnded]
    assert tape.add(*closing).state.asks == ()


def test_an_unknown_kind_can_be_folded_and_not_driven() -> None:
    tape = begin()
    unknown = ev.Event(seq=tape.state.seq + 1, by=DRIVER, body=ev.Unknown(type="dream", v=1, fields={"of": "sheep"}))
    state = apply(tape.state, unknown)
    assert state.unknown == ("dream",)
    tape.state = state
    with pytest.raises(NotDrivable, match="dream"):
        tape.next()


@pytest.mark.parametrize(
    "bodies",
    [
        (ev.RunStarted(run="r2"),),
        (ev.SessionOpened(begin().events[0].body.meta),),  # type: ignore[union-attr]
        (reply(),),
        (ev.ToolFinished(call="nobody"),),
        (ev.AskClosed(ask="never opened", outcome=AskOutcome.ANSWERED),),
        (ev.InputDelivered(("never sent",), 1),),
        (steer("s1"), ev.InputDelivered(("s1",), 1), ev.InputReturned("s1", "twice")),
        (ev.RunEnded(run="another", reason=EndReason.ANSWERED),),
        (ev.Rewound(1),),
    ],
    ids=lambda bodies: type(bodies[-1]).__name__,
)
def test_what_cannot_have_happened_breaks_the_fold(bodies: tuple[ev.Known, ...]) -> None:
    with pytest.raises(BrokenJournal):
        begin().add(*bodies)


def test_a_gap_in_the_sequence_breaks_the_fold() -> None:
    events = begin().events
    with pytest.raises(BrokenJournal, match="event 3 follows event 1"):
        fold([events[0], events[2]])


def test_only_a_person_denies() -> None:
    rule = Actor(ActorKind.HOST, "policy")
    for by, kind in ((PERSON, RefusalKind.DENIED), (rule, RefusalKind.BLOCKED)):
        tape = asked(begin()).add(reply("a"), admitted("a", needs_approval=True))
        tape.add(ev.AskOpened(ask="q", kind=AskKind.APPROVAL, prompt="run?", call="a"))
        tape.add(ev.AskClosed(ask="q", outcome=AskOutcome.DENIED), by=by)
        (result,) = project(tape.events).body[-1].content
        assert getattr(result, "refusal", None) == Refusal(kind, "person" if by is PERSON else "policy")
