"""Interaction points, answered at the desk, with the process gone between any two answers: what each makes of a run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail import (
    HOLD,
    Agent,
    AnswerRefused,
    InteractionPoint,
    InteractionStyle,
    RunFailed,
    RunOptions,
    RunResult,
    ScriptedModel,
    Session,
)
from handrail.agents.tools import built_in_tools
from handrail.blueprints.model import Blueprint, Stage, Unwatched
from handrail.blueprints.regions import Pinned
from handrail.journal import events as ev
from handrail.journal.board import AskRow
from handrail.journal.memory import MemoryJournal
from handrail.journal.port import AskTaken
from handrail.journal.transcript import project
from handrail.journal.vocabulary import AskKind, EndReason, Route
from handrail.learning.interventions import Trigger, find_interventions
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import AnswerForbidden, Desk
from handrail.runs.stages import progress_of, resume_blueprint, start_blueprint
from handrail.runs.stages.assembly import parts_of
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Text
from tests.runs.waiting import ANN, BEN, CID, go

APPROVE, ABORT, EDIT = Reply(option="approve"), Reply(option="abort"), Reply(option="edit")
REVISE = Reply(option="revise", comment="shorter")


def approval(**more: Any) -> InteractionPoint:
    declared: dict[str, Any] = {
        "name": "plan_approval",
        "prompt": "Approve the plan?",
        "style": InteractionStyle.MULTIPLE_CHOICE,
        "options": ["Approve", "Revise - I'll describe changes", "Edit", "Abort"],
        "directives": {"Revise – I'll describe changes": "Ask what to change, then plan again."},
        "edit_options": ["Edit"],
        "abort_options": ["Abort"],
        "document_region": "plan",
    }
    return InteractionPoint(**declared | more)


class Story:
    """A run of a plan that is approved and a stage that builds it; it parks at each question."""

    def __init__(self, *points: InteractionPoint) -> None:
        stages = (Stage(name="plan", points=points or (approval(),)), Stage(name="build"), Stage(name="scrap"))
        self.blueprint = Blueprint(name="b", regions=(Pinned(name="plan"),), stages=stages)
        self.clock = ManualClock()
        self.journal = MemoryJournal(self.clock)
        self.desk = Desk(self.journal, ANN)
        self.model = ScriptedModel([f"text {number}" for number in range(1, 9)])
        self._session = Session("s1", self.journal)

    def _agent(self) -> Agent:
        return Agent(model=self.model, clock=self.clock)

    async def start(self) -> RunResult:
        """Until it waits."""
        options = RunOptions(parks=True, approver=HOLD, answerer=HOLD)
        return await start_blueprint(self.blueprint, "build it", self._agent(), options, session=self._session)

    async def go_on(self) -> RunResult:
        """As another process would: from the journal."""
        options = RunOptions(parks=True, approver=HOLD, answerer=HOLD)
        return await (await resume_blueprint(self._session, self._agent(), options))

    async def row(self) -> AskRow:
        """The one question that waits."""
        (row,) = await self.journal.asks()
        return row

    async def say(self, *replies: Reply, by: Any = ANN) -> RunResult:
        """Answer one question after the other, each in a process of its own."""
        result = None
        for reply in replies:
            await self.desk.answer((await self.row()).ask, reply, by=by)
            result = await self.go_on()
        assert result is not None
        return result

    async def routes(self) -> list[Route]:
        """Where the answers sent the run."""
        return [one.body.route for one in await self.journal.read("s1") if isinstance(one.body, ev.PointRouted)]

    async def plan(self) -> str:
        """What the region of the document holds."""
        entries = progress_of(await self.journal.read("s1")).regions["plan"]
        return "".join(entry.text for entry in entries)

    async def said(self) -> str:
        """All the words that the model was sent or sent."""
        body = project(await self.journal.read("s1")).body
        return "\n".join(block.text for message in body for block in message.content if isinstance(block, Text))


def test_rows_24_and_41_a_stage_waits_at_its_point_and_goes_on_when_it_is_approved() -> None:
    async def story() -> tuple[Any, ...]:
        made = Story()
        first = await made.start()
        row = await made.row()
        ended = await made.say(APPROVE)
        return (
            first.end_reason,
            row.opened.shown,
            row.opened.stage,
            row.opened.point,
            ended.end_reason,
            await made.plan(),
        )

    expected = (EndReason.WAITING, "text 1", "plan", "plan_approval", EndReason.ANSWERED, "text 1")
    assert expected == go(story())


@pytest.mark.parametrize(
    "reply", [Reply(option="yes please"), Reply(words="Approve"), Reply(number=7), Reply(), Reply(is_yes=True)]
)
def test_rows_13_14_and_53_an_answer_that_fits_no_option_moves_nothing(reply: Reply) -> None:
    async def story() -> tuple[EndReason, str, int]:
        made = Story()
        await made.start()
        before = (await made.row()).ask
        with pytest.raises(AnswerRefused, match="the options are"):
            await made.desk.answer(before, reply)
        return (await made.go_on()).end_reason, str((await made.row()).ask == before), len(made.model.requests)

    assert (EndReason.WAITING, "True", 1) == go(story())


def test_rows_22_45_46_and_66_revisions_run_the_stage_again_and_the_comment_reaches_the_model() -> None:
    async def story() -> tuple[list[str], list[Route], str, list[tuple[Trigger, str]]]:
        made = Story()
        await made.start()
        asks = [(await made.row()).ask]
        for _ in range(3):
            await made.say(REVISE)
            asks.append((await made.row()).ask)
        await made.say(APPROVE)
        assert 4 == len(set(asks))
        moments = find_interventions(project(await made.journal.read("s1")))
        return asks, await made.routes(), await made.plan(), [(one.trigger, one.text) for one in moments]

    _, routes, plan, moments = go(story())
    assert ([Route.DIRECTED] * 3 + [Route.APPROVED], "text 4") == (routes, plan)
    assert [(Trigger.REVISION, "shorter")] * 3 == moments


def test_row_47_the_revision_after_the_last_holds_and_never_approves() -> None:
    async def story() -> tuple[EndReason, list[Route], str]:
        made = Story(approval(revisions=1))
        await made.start()
        held = await made.say(REVISE, REVISE, REVISE)
        routes = await made.routes()
        assert "All 1 revisions are used" in (await made.row()).opened.prompt
        await made.say(APPROVE)
        return held.end_reason, routes, await made.plan()

    assert (EndReason.WAITING, [Route.DIRECTED, Route.HELD, Route.HELD], "text 2") == go(story())


@pytest.mark.parametrize("replies", [(EDIT, Reply(edited="MY PLAN")), (Reply(option="edit", edited="MY PLAN"),)])
def test_rows_48_59_and_61_an_edit_in_one_step_or_two_is_the_document_that_is_approved(
    replies: tuple[Reply, ...],
) -> None:
    async def story() -> tuple[str | None, str, int, list[Trigger]]:
        made = Story()
        await made.start()
        await made.say(*replies)
        shown, calls = (await made.row()).opened.shown, len(made.model.requests)
        await made.say(APPROVE)
        moments = find_interventions(project(await made.journal.read("s1")))
        return shown, await made.plan(), calls, [one.trigger for one in moments]

    assert ("MY PLAN", "MY PLAN", 1, [Trigger.REVISION]) == go(story())


def test_rows_60_and_129_an_edit_that_is_open_survives_and_takes_nothing_but_the_text() -> None:
    async def story() -> tuple[AskKind, str | None]:
        made = Story()
        await made.start()
        await made.say(EDIT)
        await made.go_on()
        row = await made.row()
        for reply in (APPROVE, Reply(words="fine"), Reply(edited=" "), Reply(number=1)):
            with pytest.raises(AnswerRefused):
                await made.desk.answer(row.ask, reply)
        return row.kind, row.opened.shown

    assert (AskKind.EDIT, "text 1") == go(story())


@pytest.mark.parametrize("replies", [(EDIT, Reply(edited="MINE")), (Reply(option="edit", edited="MINE"),)])
def test_row_51_an_edit_is_kept_when_the_revisions_are_used(replies: tuple[Reply, ...]) -> None:
    async def story() -> str | None:
        made = Story(approval(revisions=0))
        await made.start()
        await made.say(*replies)
        return (await made.row()).opened.shown

    assert "MINE" == go(story())


def test_row_52_an_abort_ends_the_run_without_another_request() -> None:
    async def story() -> tuple[EndReason, int, list[Route]]:
        made = Story()
        await made.start()
        ended = await made.say(Reply(option="abort", comment="no good"))
        return ended.end_reason, len(made.model.requests), await made.routes()

    assert (EndReason.CANCELLED, 1, [Route.ABORTED]) == go(story())


def test_row_65_an_option_goes_where_it_says() -> None:
    async def story() -> list[str]:
        made = Story(approval(goto={"Approve": "scrap"}))
        await made.start()
        await made.say(APPROVE)
        return [one.body.stage for one in await made.journal.read("s1") if isinstance(one.body, ev.StageEntered)]

    assert ["plan", "scrap"] == go(story())


def test_row_64_a_no_at_a_confirmation_aborts() -> None:
    async def story() -> EndReason:
        made = Story(InteractionPoint(name="ship", prompt="Ship?", style=InteractionStyle.CONFIRM))
        await made.start()
        return (await made.say(Reply(is_yes=False))).end_reason

    assert EndReason.CANCELLED == go(story())


def test_row_15_words_at_a_free_point_are_words_and_an_optional_one_may_be_skipped() -> None:
    async def story() -> tuple[list[Route], bool]:
        made = Story(
            InteractionPoint(name="wishes", prompt="Anything else?"),
            InteractionPoint(name="more", prompt="More?", required=False),
        )
        await made.start()
        await made.say(Reply(words="Abort"), Reply())
        return await made.routes(), "Abort" in await made.said()

    assert ([Route.APPROVED, Route.SKIPPED], True) == go(story())


def test_rows_86_and_87_two_must_approve_and_who_started_the_run_is_none_of_them() -> None:
    async def story() -> tuple[EndReason, EndReason]:
        made = Story(approval(approvers=["ann", "ben"], quorum=2))
        await made.start()
        with pytest.raises(AnswerForbidden):
            await made.desk.answer((await made.row()).ask, APPROVE, by=CID)
        one = await made.say(APPROVE, by=ANN)
        return one.end_reason, (await made.say(APPROVE, by=BEN)).end_reason

    assert (EndReason.WAITING, EndReason.ANSWERED) == go(story())


@pytest.mark.parametrize(("on_deadline", "end"), [("abort", EndReason.CANCELLED), ("fail", EndReason.FAILED)])
def test_rows_54_55_and_131_a_deadline_that_passes_does_what_was_said_and_never_approves(
    on_deadline: str, end: EndReason
) -> None:
    async def story() -> tuple[int, list[Route], EndReason]:
        made = Story(approval(deadline="1h", on_deadline=on_deadline))
        await made.start()
        made.clock.advance(1800)
        assert () == await made.desk.expire_due(made.clock.now())
        made.clock.advance(1800)
        (row,) = await made.desk.expire_due(made.clock.now())
        with pytest.raises(AskTaken):
            await made.desk.answer(row.ask, APPROVE)
        try:
            ended = (await made.go_on()).end_reason
        except RunFailed as problem:
            ended = problem.result.end_reason
        return len(made.model.requests), await made.routes(), ended

    calls, routes, ended = go(story())
    assert (1, end) == (calls, ended)
    assert Route.APPROVED not in routes


def test_a_deadline_that_waits_reminds_and_the_point_stays_open() -> None:
    async def story() -> tuple[int, EndReason]:
        made = Story(approval(deadline="1h"))
        await made.start()
        made.clock.advance(7200)
        assert () == await made.desk.expire_due(made.clock.now())
        reminded = await made.desk.remind_due(made.clock.now())
        return len(reminded), (await made.say(APPROVE)).end_reason

    assert (1, EndReason.ANSWERED) == go(story())


def test_row_84_an_answer_to_the_document_before_is_refused_after_a_revision() -> None:
    async def story() -> None:
        made = Story()
        await made.start()
        old = (await made.row()).opened.digest
        await made.say(REVISE)
        with pytest.raises(AnswerRefused, match="changed since"):
            await made.desk.answer((await made.row()).ask, Reply(option="approve", digest=old))

    go(story())


SAID = (
    *(
        APPROVE,
        REVISE,
        EDIT,
        ABORT,
        Reply(option="edit", edited="MINE"),
        Reply(edited="MINE TOO"),
        Reply(),
        Reply(number=1),
    ),
    *(Reply(words="Approve"), Reply(option="revise"), Reply(option="approve", digest="old"), Reply(is_yes=True)),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(SAID), st.sampled_from([ANN, BEN]), st.integers(1, 2)), max_size=12))
def test_no_schedule_of_answers_lets_a_stage_leave_without_an_approval_of_what_it_leaves_with(
    schedule: list[tuple[Reply, Any, int]],
) -> None:
    go(_keep_answering(schedule))


async def _keep_answering(schedule: list[tuple[Reply, Any, int]]) -> None:
    made = Story(approval(revisions=2, comments=["Revise - I'll describe changes"]))
    result = await made.start()
    approved: list[str | None] = []
    for reply, by, times in schedule:
        if result.end_reason is not EndReason.WAITING:
            break
        row = await made.row()
        for _ in range(times):
            try:
                accepted = await made.desk.answer(row.ask, reply, by=by)
            except AnswerRefused:
                continue
            closed = accepted.entry.body
            if isinstance(closed, ev.AskClosed) and closed.choice == "Approve":
                approved.append(row.opened.shown)
        result = await made.go_on()
    events = [event.body for event in await made.journal.read("s1")]
    left = [body for body in events if isinstance(body, ev.StageLeft) and body.stage == "plan"]
    ends = [body.ask for body in events if isinstance(body, ev.AskClosed)]
    assert len(ends) == len(set(ends))
    if left:
        assert approved
        assert approved[-1] == await made.plan()
    else:
        assert Route.APPROVED not in await made.routes()
    assert result.end_reason in (EndReason.WAITING, EndReason.ANSWERED, EndReason.CANCELLED)


@pytest.mark.parametrize(
    ("tools", "questions", "offered"),
    [
        (("*",), "refuse", set()),
        (("*",), "hold", {"ask_user_text", "ask_user_confirm"}),
        (("ask_user_text", "*"), "refuse", {"ask_user_text"}),
    ],
)
def test_rows_105_and_106_where_nobody_answers_a_tool_that_asks_is_offered_by_its_own_name_only(
    tools: tuple[str, ...], questions: Any, offered: set[str]
) -> None:
    stage = Stage(name="work", tools=tools, unattended=Unwatched(questions=questions))
    agent = Agent(model=ScriptedModel(["done"]), tools=built_in_tools(["ask_user_text", "ask_user_confirm"]))
    options = RunOptions(is_unattended=True)
    found = parts_of(Blueprint(name="b", stages=(stage,)), stage, agent, options).agent.toolbox
    assert offered == {one.name for one in found}
