"""Going on with a run of which nothing is left but its journal: whoever is needed is stood in for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from handrail import Agent, Answer, Approve, EndReason, RunFailed, RunOptions, RunResult, Session, Tool, ToolOutput
from handrail.agents.approval import ApprovalRequest
from handrail.agents.tool import Question, ToolContext, ToolSpec
from handrail.journal import events as ev
from handrail.journal.board import JournalWithBoard
from handrail.journal.fold import fold
from handrail.journal.vocabulary import Actor, ActorKind, AskKind
from handrail.models.playing import played
from handrail.models.port import Cancellation, ModelInfo, ModelReply, ModelRequest, Streamed
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Desk
from handrail.runs.stages import resume_blueprint
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import Author, Json, Message, Text, ToolUse

WAITS = 12
"""How often a run may wait for somebody before it counts as one without an exit."""

PEOPLE = tuple(Actor(ActorKind.PERSON, name) for name in ("ada", "ben"))


class Recorded:
    """Fulfils ``Model``: says what was recorded for the run, and that it is done when there is no more."""

    info = ModelInfo(id="scripted", provider="scripted")

    def __init__(self, replies: Sequence[Message]) -> None:
        self._replies = replies

    async def stream(self, request: ModelRequest, cancellation: Cancellation | None = None) -> Streamed:
        had = request.replies or 0
        done = Message(role="assistant", content=(Text("done", Author.MODEL),), stop_reason="end_turn")
        for item in played(ModelReply(message=self._replies[had] if had < len(self._replies) else done, cost=0.0)):
            yield item


async def driven(journal: JournalWithBoard, session: str, whole: Sequence[ev.Event]) -> RunResult:
    """The run that is open in ``session``, gone on with to its end; ``whole`` is what had become of it."""
    run = fold(await journal.read(session)).run
    assert run is not None
    agent = Agent(model=Recorded(tuple(_replies(whole, run.started.run))), tools=tuple(_tools(whole)), name="agent")
    strategies = tuple(_strategy(name) for name in run.strategies)
    options = RunOptions(journal=journal, parks=True, approver=_yes, answerer=_so, strategies=strategies)
    for _ in range(WAITS):
        place = Session(session, journal)
        try:
            if run.started.blueprint is None:
                result = await agent.resume(place, options)
            else:
                result = await (await resume_blueprint(place, agent, options))
        except RunFailed as problem:
            # It had failed when its driver died.
            return problem.result
        if result.end_reason is not EndReason.WAITING or fold(await journal.read(session)).run is None:
            return result
        await _attend(journal, session)
    raise AssertionError(f"the run of {session} waits and waits")


def _replies(events: Sequence[ev.Event], wanted: str) -> Iterator[Message]:
    run = ""
    for event in events:
        if isinstance(event.body, ev.RunStarted):
            run = event.body.run
        elif isinstance(event.body, ev.ModelReplied) and run == wanted:
            yield event.body.message


def _tools(events: Sequence[ev.Event]) -> Iterator[Tool]:
    """A tool of each name that was called, or that a stage needs."""
    names = {
        call_name(block.call)
        for event in events
        if isinstance(event.body, ev.ModelReplied)
        for block in event.body.message.content
        if isinstance(block, ToolUse)
    }
    for event in events:
        if isinstance(event.body, ev.BlueprintFrozen):
            names.update(tool for stage in event.body.source["stages"] for tool in stage.get("tools", ()))
    for name in sorted(names):
        yield Tool(spec=ToolSpec(name, "Stands in.", {"type": "object"}), handler=_stood_in)


async def _stood_in(input: Json, context: ToolContext) -> ToolOutput:
    return ToolOutput("stood in")


def _strategy(name: str) -> Any:
    async def on_round(self: object, ctx: object) -> None:
        return None

    return type(name, (), {"on_round": on_round})()


def _yes(request: ApprovalRequest) -> Approve:
    return Approve()


def _so(question: Question) -> Answer:
    return Answer(text="so")


async def _attend(journal: JournalWithBoard, session: str) -> None:
    """Answer every question that is open, and go on with what is paused."""
    run = fold(await journal.read(session)).run
    if run is not None and run.is_paused:
        await journal.post(session, ev.ResumeRequested("go on"), PEOPLE[0], "go on")
    for row in await journal.asks(session=session):
        if row.kind in (AskKind.POINT, AskKind.EDIT):
            reply = Reply(option=row.opened.options[0]) if row.opened.options else Reply(edited=row.opened.shown or "")
            for person in PEOPLE[: row.opened.quorum]:
                await Desk(journal).answer(row.ask, reply, by=person)
