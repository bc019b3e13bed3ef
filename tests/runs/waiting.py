"""Sessions with questions in them, made without running anything, and a stand-in for the run that takes the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from msgspec.structs import replace

from handrail.journal import events as ev
from handrail.journal.answers import why_refused, why_vote_refused
from handrail.journal.board import JournalWithBoard
from handrail.journal.fold import fold
from handrail.journal.port import Entry, from_entry, number
from handrail.journal.state import State, open_ask
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind
from handrail.transcripts.model import Meta, Parent

Value = TypeVar("Value")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN, BEN, CID = (Actor(ActorKind.PERSON, name) for name in ("ann", "ben", "cid"))

POINT = ev.AskOpened(
    ask="point-1",
    key="plan#1/plan_approval/0/choice",
    kind=AskKind.POINT,
    prompt="Approve the plan?",
    options=("Approve", "Revise - I'll describe changes", "Edit", "Abort"),
    effects={
        "Approve": "approve",
        "Revise - I'll describe changes": "revise",
        "Edit": "edit",
        "Abort": "abort",
    },
    shown="# The plan\n",
    digest="d1",
    body_format="markdown",
    point="plan_approval",
    stage="plan",
)
CONFIRM = ev.AskOpened(
    ask="confirm-1", key="q/1", kind=AskKind.QUESTION, prompt="Go?", options=("Yes", "No"), may_type=False, call="c1"
)
CHOICE = ev.AskOpened(
    ask="choice-1", key="q/2", kind=AskKind.QUESTION, prompt="Which?", options=("left", "right"), may_type=False
)
WORDS = ev.AskOpened(ask="words-1", key="q/3", kind=AskKind.QUESTION, prompt="Why?", may_type=True)
EDIT = ev.AskOpened(ask="edit-1", key="q/4", kind=AskKind.EDIT, prompt="Look.", shown="one\n", digest="e1")
REVIEW = ev.AskOpened(
    ask="review-1", key="q/5", kind=AskKind.REVIEW, prompt="Look.", options=("Acknowledge",), may_type=True, shown="x"
)
APPROVAL = ev.AskOpened(
    ask="approval-1",
    key="r/1/c9/approve/0",
    kind=AskKind.APPROVAL,
    prompt="Run wipe?",
    options=("approve", "deny"),
    shown='{"place":"disk"}',
    digest="a1",
    body_format="json",
    call="c9",
    stage="build",
)
ALL = (POINT, CONFIRM, CHOICE, WORDS, EDIT, REVIEW, APPROVAL)


def go(story: Coroutine[Any, Any, Value]) -> Value:
    """Run ``story`` to its end; a story that hangs fails."""

    async def bounded() -> Value:
        async with asyncio.timeout(20):
            return await story

    return asyncio.run(bounded())


def optional(opened: ev.AskOpened) -> ev.AskOpened:
    return replace(opened, is_required=False)


async def wait(journal: JournalWithBoard, *asks: ev.AskOpened, session: str = "s1", parent: str | None = None) -> None:
    """A session whose run waits for ``asks``."""
    meta = Meta(id=session, parent=None if parent is None else Parent(session=parent, kind="subagent"))
    bodies: Sequence[ev.Known] = (ev.SessionOpened(meta), ev.RunStarted(run=f"run-{session}"), *asks)
    epoch = await journal.take_over(session)
    await journal.append(session, 0, epoch, number(bodies, after=0, by=DRIVER, at=NOW))


async def take(journal: JournalWithBoard, session: str = "s1") -> State:
    """Journal what was posted, as a run does: each entry with its effect, or the reason it has none."""
    state = fold(await journal.read(session))
    for entry in await journal.inbox(session, state.inbox):
        why = _why_refused(state, entry)
        event = from_entry(entry, after=state.seq)
        if why is not None:
            event = replace(event, body=ev.EntryRefused(why))
        await journal.append(session, state.seq, state.epoch or 1, [event])
        state = fold([event], state)
    return state


def _why_refused(state: State, entry: Entry) -> str | None:
    body = entry.body
    if not isinstance(body, ev.AskClosed | ev.AskVoted | ev.AskReminded):
        return None
    opened = open_ask(state, body.ask)
    if opened is None:
        return "the question is closed already"
    ballots = [(vote.said, vote.by) for vote in state.votes if vote.said.ask == body.ask]
    if isinstance(body, ev.AskClosed):
        return why_refused(opened, body, entry.by, ballots)
    return why_vote_refused(opened, body, entry.by, ballots) if isinstance(body, ev.AskVoted) else None


async def closings(journal: JournalWithBoard, session: str = "s1") -> list[ev.AskClosed]:
    """Every end of a question that was journalled."""
    return [event.body for event in await journal.read(session) if isinstance(event.body, ev.AskClosed)]


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)
