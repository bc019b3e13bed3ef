"""What others send to a run, from any task or thread, and what became of it.

Nobody but the driver appends to a journal: a message goes to the journal's inbox and has a receipt that ends
``delivered`` (with the round) or ``returned`` (with the reason), once.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any, Literal

from handrail.agents.containment import check_fits
from handrail.errors import HandrailError
from handrail.journal.events import Event, InputDelivered, InputReturned
from handrail.journal.port import Entry, Journal, Posted
from handrail.journal.receipts import Receipt as Outcome
from handrail.journal.vocabulary import Actor

OVER = "the run is over"


class Receipt:
    """What became of one message. Await it for its end, or ask ``status`` now; from other threads use ``wait``."""

    def __init__(self, id: str) -> None:
        self.id = id
        self._ended: Future[Outcome] = Future()

    def __repr__(self) -> str:
        return f"Receipt({self.id!r}, {self.status})"

    @property
    def outcome(self) -> Outcome:
        """How it stands now, as a value."""
        return self._ended.result() if self._ended.done() else Outcome(input=self.id)

    @property
    def status(self) -> Literal["queued", "delivered", "returned"]:
        return self.outcome.status

    @property
    def round(self) -> int | None:
        """The round it was delivered with; for a stop, a cancel or an interrupt: the round it was heard in."""
        return self.outcome.round

    @property
    def why(self) -> str | None:
        """Why it was returned."""
        return self.outcome.why

    def wait(self, timeout_s: float | None = None) -> Outcome:
        """The end, waited for by a thread that is not the run's own; ``TimeoutError`` when it takes longer."""
        return self._ended.result(timeout_s)

    def __await__(self) -> Generator[Any, None, Outcome]:
        # Shielded: who gives up waiting does not take the receipt from the others.
        return asyncio.shield(asyncio.wrap_future(self._ended)).__await__()

    def deliver(self, round: int) -> None:
        """It went to the model with ``round``."""
        self._end(Outcome(input=self.id, status="delivered", round=round))

    def give_back(self, why: str) -> None:
        """It will not be delivered."""
        self._end(Outcome(input=self.id, status="returned", why=why))

    def _end(self, outcome: Outcome) -> None:
        if not self._ended.done():
            self._ended.set_result(outcome)


class Mailbox:
    """Takes messages from any thread and posts them, in order, into the inbox of one session.

    ``heard`` is told of each entry once it stands in the inbox.
    """

    def __init__(self, journal: Journal, session: str, heard: Callable[[Entry], None]) -> None:
        self._journal = journal
        self._session = session
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Posted, Actor, Receipt]] = deque()
        self._receipts: dict[str, Receipt] = {}
        self._pump: asyncio.Task[None] | None = None
        self._is_pumping = False
        self._is_closed = False

    def send(self, body: Posted, by: Actor, key: str) -> Receipt:
        """Put ``body`` on its way; at once returned when the run is over. ``TypeError`` for what does not fit."""
        check_fits(body)
        receipt = Receipt(key)
        with self._lock:
            if self._is_closed:
                receipt.give_back(OVER)
                return receipt
            self._receipts[key] = receipt
            self._waiting.append((body, by, receipt))
            is_first, self._is_pumping = not self._is_pumping, True
        if is_first:
            self._loop.call_soon_threadsafe(self._start)
        return receipt

    def _start(self) -> None:
        self._pump = self._loop.create_task(self._post_all())

    async def _post_all(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._is_pumping = False
                    return
                body, by, receipt = self._waiting.popleft()
            try:
                entry = await self._journal.post(self._session, body, by, receipt.id)
            except HandrailError as problem:
                self.settle(receipt.id, why=f"it could not be posted: {problem}")
            else:
                self._heard(entry)

    def settle(self, key: str, *, round: int | None = None, why: str | None = None) -> None:
        """End a receipt: delivered with ``round``, or returned because of ``why``."""
        receipt = self._receipts.pop(key, None)
        if receipt is None:
            return
        if why is None:
            receipt.deliver(round or 0)
        else:
            receipt.give_back(why)

    def watch(self, event: Event) -> None:
        """End the receipts that ``event`` ends."""
        body = event.body
        if type(body) is InputDelivered:
            for name in body.inputs:
                self.settle(name, round=body.round)
        elif type(body) is InputReturned:
            self.settle(body.input, why=body.why)

    def has_sent(self, key: str) -> bool:
        """Whether ``key`` is of something that was sent through here and has not ended."""
        return key in self._receipts

    @property
    def has_open(self) -> bool:
        """Whether a receipt has not ended."""
        return bool(self._receipts)

    async def close(self) -> None:
        """Take nothing more, and post what was taken."""
        with self._lock:
            self._is_closed = True
        await self.posted()

    async def posted(self) -> None:
        """Wait until what was sent so far stands in the inbox."""
        while self._is_pumping:
            # Started from another thread, the pump may not have begun yet; it begins with the loop's next turn.
            await (self._pump or asyncio.sleep(0))
            await asyncio.sleep(0)

    def return_all(self, why: str) -> None:
        """End whatever is not ended."""
        for key in tuple(self._receipts):
            self.settle(key, why=why)
