"""A session written event by event into a journal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from handrail.journal import events as ev
from handrail.journal.port import Journal, number
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind, AskOutcome, EndReason
from handrail.transcripts.model import Meta, Parent

ADA = Actor(ActorKind.PERSON, "Ada")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Tape:
    """Appends to ``session``; every append is a second later than the one before."""

    def __init__(self, journal: Journal, session: str = "s1") -> None:
        self.journal = journal
        self.session = session
        self.epoch = 0
        self.seq = 0
        self.now = NOON

    async def add(self, *bodies: ev.Known, by: Actor = DRIVER, inbox: int | None = None) -> None:
        if not self.epoch:
            self.epoch = await self.journal.take_over(self.session)
        self.now += timedelta(seconds=1)
        events = number(bodies, after=self.seq, by=by, at=self.now, inbox=inbox)
        await self.journal.append(self.session, self.seq, self.epoch, events)
        self.seq += len(events)

    async def begin(self, parent: str | None = None) -> None:
        origin = None if parent is None else Parent(session=parent, kind="subagent", at="c1")
        await self.add(ev.SessionOpened(Meta(id=self.session, parent=origin)), ev.RunStarted(run=f"of {self.session}"))

    async def ask(self, ask: str, **fields: Any) -> None:
        await self.add(ev.AskOpened(ask=ask, kind=AskKind.QUESTION, prompt=f"{ask}?", **fields))

    async def end(self) -> None:
        await self.add(ev.RunEnded(run=f"of {self.session}", reason=EndReason.ANSWERED))


def answer(ask: str, words: str = "so be it") -> ev.AskClosed:
    return ev.AskClosed(ask=ask, outcome=AskOutcome.ANSWERED, words=words)
