"""A session written into a journal event by event, as a driver would, without a run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from handrail.journal import events as ev
from handrail.journal.board import JournalWithBoard, RunRow
from handrail.journal.port import Entry, from_entry, number
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind, AskOutcome, EndReason
from handrail.transcripts.model import Meta, Parent

ADA = Actor(ActorKind.PERSON, "Ada")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Tape:
    """Appends to ``session``; every append is a second later than the one before."""

    def __init__(self, journal: JournalWithBoard, session: str = "s1") -> None:
        self.journal = journal
        self.session = session
        self.epoch = 0
        self.seq = 0
        self.now = NOON

    async def add(self, *bodies: ev.Known, by: Actor = DRIVER, inbox: int | None = None) -> None:
        """Append ``bodies`` as one; the session is taken over before the first."""
        if not self.epoch:
            self.epoch = await self.journal.take_over(self.session)
        self.now += timedelta(seconds=1)
        events = number(bodies, after=self.seq, by=by, at=self.now, inbox=inbox)
        await self.journal.append(self.session, self.seq, self.epoch, events)
        self.seq += len(events)

    async def begin(self, parent: str | None = None, **started: Any) -> None:
        """Open the session, as an agent of ``parent`` where there is one, and start a run."""
        origin = None if parent is None else Parent(session=parent, kind="subagent", at="c1")
        meta = Meta(id=self.session, cwd="/srv", title="Tidy", parent=origin)
        await self.add(ev.SessionOpened(meta), ev.RunStarted(run=f"run of {self.session}", **started))

    async def ask(self, ask: str, kind: AskKind = AskKind.QUESTION, **fields: Any) -> None:
        """Open a question."""
        await self.add(ev.AskOpened(ask=ask, kind=kind, prompt=f"{ask}?", **fields))

    async def end(self, reason: EndReason = EndReason.ANSWERED) -> None:
        """End the run."""
        await self.add(ev.RunEnded(run=f"run of {self.session}", reason=reason))

    async def row(self) -> RunRow:
        """The run as the board shows it."""
        return await self.journal.run(self.session)

    async def next_entry(self) -> Entry | None:
        """The inbox entry that a driver would take next."""
        events = await self.journal.read(self.session)
        taken = max((event.inbox or 0 for event in events), default=0)
        return next(iter(await self.journal.inbox(self.session, taken)), None)

    async def take_inbox(self) -> None:
        """Journal the next entry, if there is one."""
        entry = await self.next_entry()
        if entry is not None:
            await self.journal.append(self.session, self.seq, self.epoch, [from_entry(entry, after=self.seq)])
            self.seq += 1


def answer(ask: str, words: str = "so be it") -> ev.AskClosed:
    """An answer in words."""
    return ev.AskClosed(ask=ask, outcome=AskOutcome.ANSWERED, words=words)
