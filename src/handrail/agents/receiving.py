"""What was sent to a session, as it is journalled: with its effect, or with the reason it has none."""

from __future__ import annotations

from functools import partial

from handrail.agents.asks import why_no_approval
from handrail.agents.steering import OVER
from handrail.agents.writer import Writer
from handrail.journal.answers import why_refused, why_vote_refused
from handrail.journal.events import (
    AskClosed,
    AskOpened,
    AskReminded,
    AskVoted,
    EntryRefused,
    InputReceived,
    Interrupted,
    Known,
    PauseRequested,
    ResumeRequested,
)
from handrail.journal.port import Entry
from handrail.journal.state import State, open_ask
from handrail.journal.vocabulary import Actor, AskKind


async def take_left(writer: Writer) -> None:
    """Journal what stands in the inbox of a session that nobody drives, as received."""
    for entry in await writer.journal.inbox(writer.session, writer.state.inbox):
        await writer.record_entry(entry, partial(_as_left, writer, entry))


def _as_left(writer: Writer, entry: Entry) -> tuple[Known]:
    why = why_without_effect(writer.state, entry)
    return (entry.body if why is None else EntryRefused(why),)


def why_without_effect(state: State, entry: Entry, max_queued: int | None = None) -> str | None:
    """Why ``entry`` changes nothing in a session that stands at ``state``; None where it does.

    At most ``max_queued`` messages may wait.
    """
    body = entry.body
    if isinstance(body, AskClosed | AskVoted | AskReminded):
        opened = open_ask(state, body.ask)
        return "the question is closed already" if opened is None else _why_no_answer(state, opened, body, entry.by)
    if state.run is None:
        return OVER
    stage = state.run.stage
    if isinstance(body, Interrupted) and stage is not None and stage.is_over:
        return "nothing runs that could be interrupted: the run waits for an answer"
    if isinstance(body, PauseRequested) and state.run.is_paused:
        return "the run is paused already"
    if isinstance(body, ResumeRequested) and not state.run.is_paused:
        return "the run is not paused"
    if isinstance(body, InputReceived):
        if not body.content:
            return "there is nothing in it"
        if max_queued is not None and len(state.run.queue) >= max_queued:
            return f"{max_queued} messages wait already"
        if any(one.input == body.input for one in state.run.queue):
            return "it waits already"
    return None


def _why_no_answer(state: State, opened: AskOpened, body: AskClosed | AskVoted | AskReminded, by: Actor) -> str | None:
    ballots = [(vote.said, vote.by) for vote in state.votes if vote.said.ask == body.ask]
    match body:
        case AskClosed():
            told = why_refused(opened, body, by, ballots)
            return why_no_approval(body) if told is None and opened.kind is AskKind.APPROVAL else told
        case AskVoted():
            return why_vote_refused(opened, body, by, ballots)
        case AskReminded():
            return "somebody was reminded already" if body.ask in state.reminded else None
