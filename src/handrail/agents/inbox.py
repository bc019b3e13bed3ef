"""What others sent, journalled as received, in order, each with its effect or the reason it has none."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import datetime
from functools import partial

from handrail import jsonio
from handrail.agents.asks import Asks
from handrail.agents.containment import spellable
from handrail.agents.receiving import why_without_effect
from handrail.agents.steering import OVER, Mailbox
from handrail.agents.taint import taint_of_input
from handrail.agents.work import Activity
from handrail.agents.writer import Writer
from handrail.errors import StoreError
from handrail.journal.events import (
    AskClosed,
    CancelRequested,
    EntryRefused,
    InputReceived,
    Interrupted,
    Known,
    TaintRaised,
)
from handrail.journal.port import Entry, Tells, Wakes
from handrail.journal.state import open_ask
from handrail.journal.vocabulary import AskKind

_URGENT = (Interrupted, CancelRequested)


class Inbox:
    """The inbox of one session as its driver sees it: taken at every step, and what wakes the driver."""

    def __init__(self, writer: Writer, mailbox: Mailbox, activity: Activity, max_queued: int) -> None:
        self._writer = writer
        self._mailbox = mailbox
        self._activity = activity
        self._max_queued = max_queued
        self._woken: asyncio.Future[None] | None = None
        self._is_awake = False
        self._poller: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] | None = None
        self.asks: Asks | None = None

    def heard(self, entry: Entry) -> None:
        """Something stands in the inbox: wake the driver, and end at once what an urgent entry ends."""
        if isinstance(entry.body, _URGENT):
            self._activity.cut(entry.body.reason or "interrupted", entry.number)
        self.wake()

    # Waking

    def wake(self) -> None:
        """Let the driver look again."""
        self._is_awake = True
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def woken(self, until: datetime | None = None) -> None:
        """Wait for ``wake``, or for the instant ``until``; at once when it was called since the last time."""
        if not self._is_awake:
            self._woken = asyncio.get_running_loop().create_future()
            if until is None:
                await self._woken
            else:
                left_s = max((until - self._writer.clock.now()).total_seconds(), 0.0)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left_s):
                        await self._woken
            self._woken = None
        self._is_awake = False

    def watch_others(self) -> None:
        """Hear of what others post: told by the journal, or by looking now and then where other processes can post."""
        journal, poll_s = self._writer.journal, self._writer.journal.poll_s
        if poll_s is None and isinstance(journal, Tells):
            self._forget = journal.tell(self._writer.session, partial(self._told, asyncio.get_running_loop()))
        if poll_s is not None:
            self._poller = asyncio.get_running_loop().create_task(self._poll(poll_s))

    def _told(self, loop: asyncio.AbstractEventLoop, entry: Entry) -> None:
        loop.call_soon_threadsafe(self.heard, entry)

    async def _poll(self, poll_s: float) -> None:
        seen = 0
        journal, session = self._writer.journal, self._writer.session
        listening = journal.listen(session) if isinstance(journal, Wakes) else contextlib.nullcontext(asyncio.sleep)
        with listening as wait:
            while True:
                await wait(poll_s)
                # A store that cannot be read now is tried again; the driver's own look at every step says what is
                # wrong.
                with contextlib.suppress(StoreError):
                    for entry in await journal.inbox(session, max(seen, self._writer.state.inbox)):
                        seen = entry.number
                        self.heard(entry)

    async def close(self, *, is_over: bool = True) -> None:
        """Take nothing more. What this process sent and no run heard is returned, unless the run is not over."""
        if self._forget is not None:
            self._forget()
        if self._poller is not None:
            self._poller.cancel()
            await asyncio.wait({self._poller})
        await self._mailbox.close()
        if self._mailbox.has_open:
            await self.take()
        if is_over:
            self._mailbox.return_all(OVER)

    # Taking

    async def take(self) -> None:
        """Journal every entry that is there."""
        for entry in await self._writer.journal.inbox(self._writer.session, self._writer.state.inbox):
            await self._take(entry)

    async def take_all(self) -> None:
        """``take``, with what this process has sent and is not posted yet."""
        await self._mailbox.posted()
        await self.take()

    async def take_before_run(self) -> None:
        """Journal what was posted while no run was open, up to what is for the run to come: a message, or whatever
        was sent to it already."""
        for entry in await self._writer.journal.inbox(self._writer.session, self._writer.state.inbox):
            if isinstance(entry.body, InputReceived) or self._mailbox.has_sent(entry.key):
                return
            await self._take(entry)

    async def _take(self, entry: Entry) -> None:
        refused: list[str] = []

        def bodies() -> tuple[Known, ...]:
            why = why_without_effect(self._writer.state, entry, self._max_queued)
            if why is None:
                return (entry.body, *self._edit(entry.body), *self._brought_in(entry))
            refused.append(why)
            return (EntryRefused(why),)

        await self._writer.record_entry(entry, bodies)
        if refused:
            self._mailbox.settle(entry.key, why=refused[0])
        elif not isinstance(entry.body, InputReceived):
            run = self._writer.state.run
            self._mailbox.settle(entry.key, round=0 if run is None else run.spent.rounds)

    def _brought_in(self, entry: Entry) -> tuple[Known, ...]:
        """What a message brings into the conversation besides its words."""
        known = self._writer.state.taint
        if not isinstance(entry.body, InputReceived) or known is None:
            return ()
        taint = taint_of_input(known, entry.body.content, entry.by)
        return () if taint == known else (TaintRaised(taint, "what was sent to the run"),)

    def _edit(self, body: Known) -> tuple[Known, ...]:
        """What follows when an approval is given with other arguments."""
        if not isinstance(body, AskClosed) or body.after is None or not body.is_allowed or self.asks is None:
            return ()
        opened = open_ask(self._writer.state, body.ask)
        if opened is None or opened.kind is not AskKind.APPROVAL or opened.call is None:
            return ()
        return (self.asks.edited(opened.call, spellable(jsonio.decode(body.after))),)
