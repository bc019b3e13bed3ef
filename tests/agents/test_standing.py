"""Answers that hold on: for the stage, for the run, and a plain no, which nobody is asked about again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from handrail import Agent, Approve, Deny, RunOptions, RunResult, ScriptedModel, Session, call, tool
from handrail.agents.approval import PERSON, ApprovalRequest
from handrail.agents.permissions import Grant, Verdict
from handrail.agents.standing import StandingAnswers
from handrail.journal import events as ev
from handrail.journal.effects import OpenAsk, RunTool, Step
from handrail.journal.fold import fold
from handrail.journal.memory import MemoryJournal
from handrail.journal.port import number
from handrail.journal.rounds import next_effects
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, AskOutcome, EndReason
from handrail.models.scripted import Item
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Author, Message, Meta, RefusalKind, Text, ToolResult, ToolUse

from .stage import go

HOST = Actor(ActorKind.HOST)


def standing(*bodies: ev.Known | tuple[ev.Known, Actor]) -> StandingAnswers:
    made = StandingAnswers()
    for seq, body in enumerate(bodies, 1):
        known, by = body if isinstance(body, tuple) else (body, PERSON)
        made.add(ev.Event(seq=seq, by=by, body=known))
    return made


def approval(ask: str = "a", digest: str = "d") -> ev.AskOpened:
    return ev.AskOpened(ask=ask, kind=AskKind.APPROVAL, prompt="Run?", digest=digest, call="c")


def yes(grant: Any = "once", ask: str = "a") -> ev.AskClosed:
    return ev.AskClosed(ask=ask, outcome=AskOutcome.ANSWERED, is_allowed=True, grant=grant)


NO = ev.AskClosed(ask="a", outcome=AskOutcome.DENIED, comment="not the disk")
ALLOWED = Grant(verdict=Verdict.ALLOW, scope="stage", digest="d")


def moved(stage: str, to: str) -> tuple[ev.Known, ...]:
    return ev.StageLeft(stage=stage, edge="next", to=to), ev.StageEntered(stage=to)


# How long an answer holds -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("grant", "held"), [("once", 0), ("stage", 1), ("run", 1)])
def test_row_109_an_answer_holds_as_long_as_it_says(grant: str, held: int) -> None:
    assert held == len(standing(approval(), yes(grant)).grants)


def test_row_110_what_was_said_for_a_stage_is_asked_again_when_the_run_comes_back_to_it_from_another() -> None:
    assert () == standing(approval(), yes("stage"), *moved("build", "verify"), *moved("verify", "build")).grants


def test_row_111_what_was_said_for_a_stage_holds_when_it_is_entered_again_from_itself() -> None:
    assert (ALLOWED,) == standing(approval(), yes("stage"), *moved("build", "build")).grants


def test_what_was_said_for_the_run_holds_over_stages_and_ends_with_the_run() -> None:
    said = (approval(), yes("run"), *moved("build", "verify"))
    assert 1 == len(standing(*said).grants)
    over = (ev.RunEnded(run="r", reason=EndReason.ANSWERED), ev.RunStarted(run="r2"))
    assert () == standing(*said, *over).grants


# A plain no -------------------------------------------------------------------------------------------------


def test_row_119_a_persons_no_holds_for_the_very_same_call() -> None:
    (grant,) = standing(approval(), NO).grants
    assert (Verdict.DENY, "d", None) == (grant.verdict, grant.digest, grant.rule)
    assert "a person refused this very call: not the disk. Do not repeat it." == grant.reason


@pytest.mark.parametrize(
    "closed",
    [
        ev.AskClosed(ask="a", outcome=AskOutcome.TIMED_OUT),
        ev.AskClosed(ask="a", outcome=AskOutcome.WITHDRAWN),
        (ev.AskClosed(ask="a", outcome=AskOutcome.AUTO), Actor(ActorKind.DRIVER)),
        (ev.AskClosed(ask="a", outcome=AskOutcome.DENIED), HOST),
    ],
)
def test_silence_and_programs_leave_no_standing_no(closed: Any) -> None:
    assert () == standing(approval(), closed).grants


@pytest.mark.parametrize(
    ("said", "by", "held"),
    [
        ((ev.InputReceived(input="i", via="steer", content=(Text("go on, do it", Author.PERSON),)),), PERSON, 0),
        ((ev.InputReceived(input="i", via="steer", content=(Text("go on", Author.HOST),)),), HOST, 1),
    ],
)
def test_a_no_holds_until_a_person_says_something_new(said: tuple[ev.Known, ...], by: Actor, held: int) -> None:
    received = tuple((body, by) for body in said)
    assert 1 == len(standing(approval(), NO, *received).grants), "not before the model has it"
    assert held == len(standing(approval(), NO, *received, ev.InputDelivered(inputs=("i",), round=2)).grants)


def test_an_answer_to_another_question_is_something_new_and_silence_is_not() -> None:
    asked = ev.AskOpened(ask="q", kind=AskKind.QUESTION, prompt="Really?", call="c")
    answered = ev.AskClosed(ask="q", outcome=AskOutcome.ANSWERED, words="yes, wipe it")
    silent = ev.AskClosed(ask="q", outcome=AskOutcome.TIMED_OUT)
    assert () == standing(approval(), NO, asked, answered).grants
    assert 1 == len(standing(approval(), NO, asked, silent).grants)


# What an approval is bound to ---------------------------------------------------------------------------------


def test_row_120_arguments_that_change_after_the_yes_are_asked_about_again() -> None:
    message = Message(role="assistant", content=(ToolUse("c", parse_call("wipe", {"place": "a"})),))
    bodies: list[ev.Known] = [
        ev.SessionOpened(Meta(id="s")),
        ev.RunStarted(run="r"),
        ev.PromptGiven((Text("go", Author.PERSON),)),
        ev.ModelRequested(request=1, round=1),
        ev.ModelReplied(message=message),
        ev.ToolRequested(call="c", tool="wipe", needs_approval=True),
        approval(),
        yes(),
    ]
    state = fold(number(bodies, after=0, by=PERSON))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert (RunTool(call="c", step=Step.RUN),) == next_effects(state, now)
    becomes = ev.ToolRewritten(call="c", becomes=parse_call("wipe", {"place": "b"}), needs_approval=True)
    changed = fold(number([becomes], after=state.seq, by=PERSON), state)
    assert (OpenAsk(call="c"),) == next_effects(changed, now)


def test_row_130_a_question_is_written_down_before_anybody_is_shown_it() -> None:
    seen: list[list[str]] = []

    @tool(destructive=True)
    async def wipe() -> str:
        """Wipes."""
        return "wiped"

    async def story() -> None:
        journal = MemoryJournal()

        async def decide(request: ApprovalRequest) -> Approve:
            bodies = [event.body for event in await journal.read("s1")]
            seen.append([body.ask for body in bodies if isinstance(body, ev.AskOpened)])
            assert [request.id] == seen[-1]
            return Approve()

        agent = Agent(model=ScriptedModel([call("wipe"), "done"]), tools=[wipe])
        await agent.run("go", RunOptions(approver=decide), session=Session("s1", journal))

    go(story())
    assert 1 == len(seen)


# In a run ---------------------------------------------------------------------------------------------------


def played(script: list[Item], approver: Any, **options: Any) -> tuple[RunResult, list[str], list[Any]]:
    done: list[str] = []
    asked: list[Any] = []

    @tool(destructive=True)
    async def wipe(place: str) -> str:
        """Wipe a place. place: which."""
        done.append(place)
        return f"wiped {place}"

    def decide(request: ApprovalRequest) -> Any:
        asked.append(request.input)
        return approver(request)

    agent = Agent(model=ScriptedModel(script), tools=[wipe])
    return go(agent.run("go", RunOptions(approver=decide, **options))), done, asked


def refusals(result: RunResult) -> list[ToolResult]:
    blocks = (block for message in result.transcript.body for block in message.content)
    return [block for block in blocks if isinstance(block, ToolResult) and block.refusal is not None]


A, B = {"place": "a"}, {"place": "b"}


def test_rows_117_118_and_119_a_refused_call_is_not_asked_about_again_and_others_are() -> None:
    script: list[Item] = [call("wipe", **A), [call("wipe", **A), call("wipe", **B)], call("wipe", **A), "done"]
    result, done, asked = played(script, lambda request: Approve() if request.input == B else Deny("use a copy"))
    assert (["b"], [A, B], "done") == (done, asked, result.output)
    first, second, third = refusals(result)
    assert (RefusalKind.DENIED, "A person refused this call of wipe: use a copy. Do not repeat it.") == (
        first.refusal and first.refusal.kind,
        first.content,
    )
    for again in (second, third):
        assert RefusalKind.BLOCKED == (again.refusal and again.refusal.kind)
        assert "a person refused this very call: use a copy. Do not repeat it." in str(again.content)


def test_row_121_a_decision_that_is_none_denies_and_is_asked_about_again() -> None:
    _, done, asked = played([call("wipe", **A), call("wipe", **A), "done"], lambda request: None)
    assert ([], [A, A]) == (done, asked)


def test_row_53_words_of_a_person_approve_nothing_and_let_a_refused_call_be_asked_about_again() -> None:
    done: list[str] = []
    asked: list[Any] = []

    @tool(destructive=True)
    async def wipe() -> str:
        """Wipes."""
        done.append("wiped")
        return "wiped"

    async def story() -> RunResult:
        def decide(request: ApprovalRequest) -> Deny:
            asked.append(request.input)
            if len(asked) == 1:
                run.steer("go ahead and wipe it")
            return Deny("no")

        agent = Agent(model=ScriptedModel([call("wipe"), call("wipe"), "done"]), tools=[wipe])
        run = agent.start("go", RunOptions(approver=decide))
        return await run

    assert ("done", [], 2) == (go(story()).output, done, len(asked))
