"""A run in progress: awaited for its result, iterated for what happens, steered from any task or thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Generator
from typing import Any, TypeAlias

from msgspec import Struct

from handrail import ids
from handrail.agents.approval import PERSON
from handrail.agents.cancellation import end
from handrail.agents.content import Content, blocks_of
from handrail.agents.opening import HOST
from handrail.agents.result import RunResult, Session
from handrail.agents.steering import Mailbox, Receipt
from handrail.agents.work import Activity, Progress
from handrail.journal.events import (
    CancelRequested,
    Event,
    InputReceived,
    Interrupted,
    PauseRequested,
    ResumeRequested,
    StopRequested,
)
from handrail.journal.port import Posted
from handrail.journal.refusals import author_of
from handrail.journal.vocabulary import Actor
from handrail.models.port import Delta
from handrail.transcripts.model import Via


class Relayed(Struct, frozen=True):
    """What happened in a sub-agent: ``origin`` are the sessions from the first child down to it."""

    origin: tuple[str, ...]
    item: Event | Delta | Progress


Happening: TypeAlias = Event | Delta | Progress | Relayed
"""What a run shows: recorded events, and what streams and is not recorded."""


class Feed:
    """Gives everybody who watches a run what happens in it; events from the beginning, deltas from when they came."""

    def __init__(self) -> None:
        self._events: list[Event | Relayed] = []
        self._queues: list[asyncio.Queue[Happening | None]] = []
        self._is_over = False

    def show(self, item: Happening) -> None:
        """Give ``item`` to all who watch."""
        if isinstance(item, Event) or (isinstance(item, Relayed) and isinstance(item.item, Event)):
            self._events.append(item)
        for queue in self._queues:
            queue.put_nowait(item)

    def end(self) -> None:
        """Nothing comes any more."""
        self._is_over = True
        for queue in self._queues:
            queue.put_nowait(None)

    async def watch(self) -> AsyncIterator[Happening]:
        """All of it, until the end."""
        queue: asyncio.Queue[Happening | None] = asyncio.Queue()
        for event in self._events:
            queue.put_nowait(event)
        if self._is_over:
            queue.put_nowait(None)
        self._queues.append(queue)
        try:
            while (item := await queue.get()) is not None:
                yield item
        finally:
            self._queues.remove(queue)


class Run:
    """The handle of a run. Made by ``Agent.start``; hold it while the run goes on, as one holds any task of a loop.

    ``await run`` gives the ``RunResult`` and raises ``RunFailed`` where the run failed. Whoever cancels the task
    that awaits it ends the run: what there is is committed first. ``run.steer`` and its kin are doors for a person;
    a program that uses them says so with ``by``.
    """

    def __init__(
        self,
        id: str,
        session: Session,
        feed: Feed,
        mailbox: Mailbox,
        activity: Activity,
        task: asyncio.Task[RunResult],
    ) -> None:
        self.id = id
        self.session = session
        self._feed = feed
        self._mailbox = mailbox
        self._activity = activity
        self._task = task
        # A failure is recorded as the end of the run; who only watches need not be told a second time.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.last_result: RunResult | None = None

    def __await__(self) -> Generator[Any, None, RunResult]:
        return self._result().__await__()

    async def _result(self) -> RunResult:
        """The result. A cancelling does not reach into what the driver is just doing, such as an append: it is a wish
        like any other, and raised once the run has ended by it."""
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if self._activity.is_let_go:
                await end(self._task)
            elif not self._task.done():
                await self._ended_by(self.cancel("the task was cancelled", by=HOST))
            raise

    async def _ended_by(self, wish: Receipt) -> None:
        """Wait for the end, however often the task that waits is cancelled."""
        heard = asyncio.ensure_future(wish)
        while not self._task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({self._task, heard}, return_when=asyncio.FIRST_COMPLETED)
                if heard.done() and wish.status == "returned":
                    # Nobody will hear it: it could not be posted.
                    self._task.cancel()
                await asyncio.wait({self._task})

    def __aiter__(self) -> AsyncIterator[Happening]:
        return self._feed.watch()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._task.done()

    def steer(self, content: Content, *, by: Actor = PERSON) -> Receipt:
        """Put ``content`` before the model with its next request; ``ValueError`` when there is nothing in it."""
        return self._input(content, "steer", by)

    def follow_up(self, content: Content, *, by: Actor = PERSON) -> Receipt:
        """Put ``content`` before the model when the run would otherwise end; ``ValueError`` when it is empty."""
        return self._input(content, "follow_up", by)

    def _input(self, content: Content, via: Any, by: Actor) -> Receipt:
        blocks = blocks_of(content, author_of(by), Via(via), by.name)
        if not blocks:
            raise ValueError("there is nothing to send")
        key = ids.new_uuid7()
        return self._mailbox.send(InputReceived(input=key, via=via, content=blocks), by, key)

    def interrupt(self, reason: str | None = None, *, by: Actor = PERSON) -> Receipt:
        """Stop the model or the tools now. What was sent along is delivered next; with nothing sent the run ends.

        The receipt is ``delivered`` once the run has heard it.
        """
        return self._send(Interrupted(reason), by)

    def stop(self, reason: str | None = None, *, by: Actor = PERSON) -> Receipt:
        """End at the next boundary; what runs is finished, an answer that is being given stands."""
        return self._send(StopRequested(reason), by)

    def cancel(self, reason: str | None = None, *, by: Actor = PERSON) -> Receipt:
        """End now; the result says ``CANCELLED``."""
        return self._send(CancelRequested(reason), by)

    def pause(self, reason: str | None = None, *, by: Actor = PERSON) -> Receipt:
        """Start nothing new until ``resume``: what runs lands, questions stay open, answers are kept for then."""
        return self._send(PauseRequested(reason), by)

    def resume(self, reason: str | None = None, *, by: Actor = PERSON) -> Receipt:
        """Go on after a ``pause``."""
        return self._send(ResumeRequested(reason), by)

    def park(self) -> None:
        """Stop driving, from any task or thread, once what runs has landed. The run stays open; resume it elsewhere.

        The result says ``WAITING``. Nothing is recorded of it: it is this process that leaves, not the run.
        """
        self._activity.park()

    def _send(self, body: Posted, by: Actor) -> Receipt:
        return self._mailbox.send(body, by, ids.new_uuid7())
