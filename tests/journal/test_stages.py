"""What comes next in a run of a blueprint, by its state alone: stages entered and left, points, bounds, pauses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handrail.journal import events as ev
from handrail.journal.broken import BrokenJournal
from handrail.journal.effects import Advance, CallModel, Decide, End, RunTool, Step, WaitUntil
from handrail.journal.vocabulary import (
    Adjustment,
    AskKind,
    AskOutcome,
    Bound,
    Boundary,
    Choice,
    EndReason,
    Limits,
    Route,
)

from .driver import NOW, PERSON, Tape, begin, reply, steer

ANSWERED = EndReason.ANSWERED


def staged(*, limits: Limits | None = None, strategies: tuple[str, ...] = (), **options: Any) -> Tape:
    """A run that has entered a stage."""
    tape = begin(blueprint="digest", **options)
    return tape.add(ev.StageEntered(stage="plan", limits=limits, strategies=strategies))


def answered(tape: Tape) -> Tape:
    """The model was asked and answered."""
    run = tape.state.run
    number = 1 if run is None else run.spent.requests + 1
    return tape.add(ev.ModelRequested(request=number, round=number), reply())


def point(ask: str = "q", **more: Any) -> ev.AskOpened:
    return ev.AskOpened(ask=ask, kind=AskKind.POINT, prompt="Approve?", point="p", stage="plan", **more)


def test_a_run_of_a_blueprint_begins_by_entering_a_stage() -> None:
    assert (Advance(stage=None, reason=ANSWERED),) == begin(blueprint="digest").next()
    assert (CallModel(request=1, round=1),) == staged().next()


def test_where_another_run_would_end_the_stage_s_rules_are_asked() -> None:
    assert (Advance(stage="plan", reason=ANSWERED),) == answered(staged()).next()
    assert (End(reason=ANSWERED),) == answered(begin()).next()


def test_an_open_point_holds_the_stage_until_it_is_closed() -> None:
    tape = answered(staged()).add(point())
    assert (WaitUntil(asks=("q",)),) == tape.next()
    tape.add(ev.AskClosed(ask="q", outcome=AskOutcome.ANSWERED, choice="Approve"), by=PERSON)
    assert (Advance(stage="plan", reason=ANSWERED),) == tape.next()


def test_a_deadline_and_a_reminder_say_when_to_look_again() -> None:
    soon, late = NOW + timedelta(hours=1), NOW + timedelta(hours=2)
    tape = answered(staged()).add(point(deadline=late, remind_at=soon))
    assert (WaitUntil(at=soon, asks=("q",)),) == tape.next(NOW)
    assert (WaitUntil(at=soon, asks=("q",), remind=("q",)),) == tape.next(soon)
    tape.add(ev.AskReminded("q"))
    assert (WaitUntil(at=late, asks=("q",)),) == tape.next(soon)
    assert (WaitUntil(at=late, asks=("q",), overdue=("q",)),) == tape.next(late)


def test_a_deadline_that_may_not_close_the_question_is_none_to_wait_for() -> None:
    tape = answered(staged()).add(point(deadline=NOW, may_expire=False))
    assert (WaitUntil(asks=("q",)),) == tape.next()


def test_sent_round_again_the_stage_works_with_fresh_limits_and_any_other_route_leaves_it_as_it_is() -> None:
    limits = Limits(max_rounds=1)
    for route in set(Route) - {Route.DIRECTED}:
        tape = answered(staged(limits=limits)).add(ev.PointRouted(point="p", ask="q", route=route))
        assert (Advance(stage="plan", reason=ANSWERED),) == tape.next()
    tape = answered(staged(limits=limits)).add(ev.PointRouted(point="p", ask="q", route=Route.DIRECTED))
    assert (CallModel(request=2, round=2),) == tape.next()


def test_a_bound_of_the_stage_is_its_end_and_one_of_the_run_is_the_run_s() -> None:
    def spent(tape: Tape) -> Tape:
        tape.add(ev.ModelRequested(request=1, round=1), reply("a"))
        return tape.add(ev.ToolFinished(call="a", content="x"))

    own = spent(staged(limits=Limits(max_rounds=1)))
    assert (Advance(stage="plan", reason=EndReason.MAX_ROUNDS),) == own.next()
    tape = begin(blueprint="digest", limits=Limits(max_rounds=1)).add(ev.StageEntered(stage="plan"))
    assert (End(reason=EndReason.MAX_ROUNDS),) == spent(tape).next()


def test_the_bounds_of_a_stage_count_from_where_it_was_entered() -> None:
    tape = answered(staged())
    tape.add(ev.StageLeft(stage="plan", edge="always", to="build"))
    tape.add(ev.StageEntered(stage="build", limits=Limits(max_rounds=1)))
    assert (CallModel(request=2, round=2),) == tape.next()


def test_a_bound_declared_spent_is_the_stage_s_own_where_it_says_so() -> None:
    tape = staged().add(ev.BoundReached(bound=Bound.MAX_SECONDS, stage="plan"))
    assert (Advance(stage="plan", reason=EndReason.MAX_SECONDS),) == tape.next()
    tape = staged().add(ev.BoundReached(bound=Bound.MAX_SECONDS))
    assert (End(reason=EndReason.MAX_SECONDS),) == tape.next()


def test_the_strategies_of_the_stage_are_asked_and_no_others() -> None:
    tape = answered(staged(strategies=("judge",)))
    assert (Decide(boundary=Boundary.ASSISTANT_MESSAGE_COMMITTED, round=1),) == tape.next()
    tape.add(ev.BoundaryDecided(boundary=Boundary.ASSISTANT_MESSAGE_COMMITTED, round=1))
    tape.add(ev.StageLeft(stage="plan", edge="always", to="build"), ev.StageEntered(stage="build"))
    assert (Advance(stage="build", reason=ANSWERED),) == answered(tape).next()


def test_what_was_adjusted_for_a_stage_ends_with_it() -> None:
    tape = staged().add(ev.Adjusted(adjustment=Adjustment(model="other:m"), scope="run"))
    tape.add(ev.Adjusted(adjustment=Adjustment(effort="high"), scope="session"))
    assert Adjustment(model="other:m", effort="high") == _called(tape).adjustment
    tape.add(ev.StageLeft(stage="plan", edge="always", to="build"), ev.StageEntered(stage="build"))
    assert Adjustment(effort="high") == _called(tape).adjustment


def _called(tape: Tape) -> CallModel:
    (effect,) = tape.next()
    assert isinstance(effect, CallModel)
    return effect


def test_limits_adjusted_in_a_stage_are_the_stage_s_and_leave_those_of_the_run() -> None:
    tape = staged(limits=Limits(max_rounds=1))
    tape.add(ev.Adjusted(adjustment=Adjustment(limits=Limits(max_rounds=5)), scope="run"))
    run = tape.state.run
    assert run is not None
    assert run.stage is not None
    assert (Limits(), Limits(max_rounds=5)) == (run.limits, run.stage.limits)


def test_the_model_is_asked_for_an_edge_without_tools_and_strategies_whatever_the_stage_has_spent() -> None:
    tape = answered(staged(limits=Limits(max_rounds=1), strategies=("judge",)))
    tape.add(ev.EdgeAsked(stage="plan", targets=("a", "b")))
    assert (CallModel(request=2, round=2, is_without_tools=True),) == tape.next()
    assert (Advance(stage="plan", reason=ANSWERED),) == answered(tape).next()


def test_a_call_in_the_place_of_an_edge_is_not_run() -> None:
    tape = answered(staged()).add(ev.EdgeAsked(stage="plan", targets=("a", "b")))
    tape.add(ev.ModelRequested(request=2, round=2), reply("x"))
    (effect,) = tape.next()
    assert isinstance(effect, RunTool)
    assert Step.SKIP is effect.step


def test_a_steer_that_came_between_stages_goes_with_the_first_request_of_the_next() -> None:
    tape = answered(staged()).add(point())
    tape.add(steer("s1"), by=PERSON)
    assert (WaitUntil(asks=("q",)),) == tape.next()
    tape.add(ev.AskClosed(ask="q", outcome=AskOutcome.ANSWERED, choice="Approve"), by=PERSON)
    assert (Advance(stage="plan", reason=ANSWERED),) == tape.next()
    tape.add(ev.PointRouted(point="p", ask="q", route=Route.APPROVED))
    assert (Advance(stage="plan", reason=ANSWERED),) == tape.next()
    tape.add(ev.StageLeft(stage="plan", edge="always", to="build"), ev.StageEntered(stage="build"))
    assert ("s1",) == _called(tape).deliver


def test_a_pause_of_a_strategy_holds_the_stage_and_the_run_stays_open() -> None:
    tape = answered(staged(strategies=("judge",)))
    boundary = Boundary.ASSISTANT_MESSAGE_COMMITTED
    tape.add(ev.BoundaryDecided(boundary=boundary, round=1, choice=Choice.PAUSE, note="Which?"))
    tape.add(ev.AskOpened(ask="q", kind=AskKind.PAUSE, prompt="Which?"))
    assert (WaitUntil(asks=("q",)),) == tape.next()
    tape.add(ev.AskClosed(ask="q", outcome=AskOutcome.ANSWERED, words="blue"), by=PERSON)
    assert (CallModel(request=2, round=2),) == tape.next()


@pytest.mark.parametrize("make", [begin, staged], ids=["run", "stage"])
def test_a_paused_run_starts_nothing_lets_land_what_is_in_flight_and_goes_on_when_it_is_resumed(make: Any) -> None:
    tape = make().add(ev.PauseRequested("lunch"), by=PERSON)
    assert (WaitUntil(is_paused=True),) == tape.next()
    tape.add(ev.ResumeRequested(), by=PERSON)
    tape.add(ev.ModelRequested(request=1, round=1)).add(ev.PauseRequested(), by=PERSON)
    assert () == tape.next()
    tape.add(reply("a"), ev.ToolRequested(call="a", tool="Bash"))
    assert (WaitUntil(is_paused=True),) == tape.next()
    tape.add(ev.ResumeRequested(), by=PERSON)
    assert (RunTool(call="a", step=Step.RUN),) == tape.next()


def test_a_paused_run_can_be_stopped_and_cancelled() -> None:
    tape = staged().add(ev.PauseRequested(), ev.StopRequested("enough"), by=PERSON)
    assert (End(reason=EndReason.STOP_REQUESTED, detail="enough"),) == tape.next()
    tape = staged().add(ev.PauseRequested(), ev.CancelRequested("enough"), by=PERSON)
    assert (End(reason=EndReason.CANCELLED, detail="enough"),) == tape.next()


@pytest.mark.parametrize(
    "body",
    [
        ev.StageEntered(stage="build"),
        ev.StageLeft(stage="build", edge="always"),
        ev.EdgeAsked(stage="build", targets=("a",)),
        ev.StageRepeated(stage="build", why="so"),
        ev.BlueprintFrozen(name="x", digest="another", source={}),
        ev.AskVoted(ask="nobody asked"),
    ],
    ids=lambda body: type(body).__name__,
)
def test_what_cannot_have_happened_in_a_stage_is_refused(body: ev.Known) -> None:
    with pytest.raises(BrokenJournal):
        staged().add(body)


def test_a_question_is_not_opened_twice_under_one_key() -> None:
    tape = answered(staged()).add(point(key="k"))
    with pytest.raises(BrokenJournal, match="open already"):
        tape.add(point("q2", key="k"))


def test_a_run_that_ends_in_a_stage_is_in_none_afterwards() -> None:
    tape = staged().add(ev.RunEnded(run="r1", reason=EndReason.CANCELLED))
    assert (None, None) == (tape.state.run, tape.state.stage)
