"""A run seen from another process: it shares nothing with the run but the journal."""

from __future__ import annotations

from typing import Literal

from handrail import ids
from handrail.agents.approval import PERSON
from handrail.agents.containment import check_fits
from handrail.agents.content import Content, blocks_of
from handrail.agents.result import Session
from handrail.journal.events import (
    AskClosed,
    AskOpened,
    CancelRequested,
    EntryRefused,
    InputReceived,
    Interrupted,
    PauseRequested,
    ResumeRequested,
    StopRequested,
)
from handrail.journal.fold import fold
from handrail.journal.port import Posted
from handrail.journal.receipts import Receipt, receipts
from handrail.journal.refusals import author_of
from handrail.journal.vocabulary import Actor
from handrail.transcripts.model import Via


class RemoteRun:
    """Posts into the inbox of a session, whoever drives it. What is sent while nobody does waits for the next run.

    ``TypeError`` for what does not fit: nobody could read the inbox any more.

    Each message gives an id; ``receipt`` says what became of it.
    """

    def __init__(self, session: Session, by: Actor = PERSON) -> None:
        self.session = session
        self._by = by

    async def steer(self, content: Content) -> str:
        """Put ``content`` before the model with its next request; ``ValueError`` when there is nothing in it."""
        return await self._input(content, "steer")

    async def follow_up(self, content: Content) -> str:
        """Put ``content`` before the model when the run would otherwise end; ``ValueError`` when it is empty."""
        return await self._input(content, "follow_up")

    async def interrupt(self, reason: str | None = None) -> str:
        """Stop the model or the tools now."""
        return await self._post(Interrupted(reason))

    async def stop(self, reason: str | None = None) -> str:
        """End at the next boundary."""
        return await self._post(StopRequested(reason))

    async def cancel(self, reason: str | None = None) -> str:
        """End now."""
        return await self._post(CancelRequested(reason))

    async def pause(self, reason: str | None = None) -> str:
        """Start nothing new until ``resume``; what runs lands, what is answered is kept for then."""
        return await self._post(PauseRequested(reason))

    async def resume(self, reason: str | None = None) -> str:
        """Go on after a ``pause``."""
        return await self._post(ResumeRequested(reason))

    async def answer(self, closed: AskClosed) -> str:
        """Answer an open question; the first answer counts."""
        return await self._post(closed)

    async def open_questions(self) -> tuple[AskOpened, ...]:
        """What waits for an answer now."""
        return fold(await self.session.journal.read(self.session.id)).asks

    async def receipt(self, sent: str) -> Receipt:
        """What became of a message: queued, until a driver takes it; delivered with a round; returned, and why."""
        journal, name = self.session.journal, self.session.id
        events = await journal.read(name)
        known = receipts(events).get(sent)
        if known is not None:
            return known
        number = next((entry.number for entry in await journal.inbox(name) if entry.key == sent), None)
        taken = next((event for event in events if number is not None and event.inbox == number), None)
        if taken is None:
            return Receipt(input=sent)
        if isinstance(taken.body, EntryRefused):
            return Receipt(input=sent, status="returned", why=taken.body.why)
        run = fold(event for event in events if event.seq <= taken.seq).run
        return Receipt(input=sent, status="delivered", round=0 if run is None else run.spent.rounds)

    async def _input(self, content: Content, via: Literal["steer", "follow_up"]) -> str:
        blocks = blocks_of(content, author_of(self._by), Via(via), self._by.name)
        if not blocks:
            raise ValueError("there is nothing to send")
        key = ids.new_uuid7()
        return await self._post(InputReceived(input=key, via=via, content=blocks), key)

    async def _post(self, body: Posted, key: str | None = None) -> str:
        check_fits(body)
        sent = key or ids.new_uuid7()
        await self.session.journal.post(self.session.id, body, self._by, sent)
        return sent
