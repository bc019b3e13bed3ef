"""Sending what the outbox holds: tried again with growing pauses where that can help, given up where it cannot."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from handrail.clock import Clock, SystemClock
from handrail.runs.journals.journal import SqlJournal
from handrail.runs.journals.outbox import News
from handrail.runs.webhooks.endpoints import Endpoint, shown
from handrail.runs.webhooks.notices import facts_of, notice_of
from handrail.runs.webhooks.signing import signature

if TYPE_CHECKING:
    import httpx2

FIRST_PAUSE_S = 0.5
"""The pause before the second try; each is twice as long as the one before it."""

LONGEST_PAUSE_S = 600.0
MAX_TRIES = 20
"""After so many tries, about two hours and a half, a notice is given up."""

TIMEOUT_S = 10.0
LEASE = timedelta(seconds=60)
AT_ONCE = 4
"""How many notices are sent side by side; all of them are done long before the lease on them is over."""

LOOK_S = 1.0
"""How often, in seconds, one looks whether there is something to send."""

KEPT_FOR = timedelta(days=7)
"""For how long it is kept that something was told."""

_PASSING = (408, 429)

Outcome: TypeAlias = Literal["delivered", "again", "given_up"]


class Delivery(Struct, frozen=True, kw_only=True):
    """What came of one try to send a notice to ``url``. ``status`` is the answer's, None where there was none."""

    delivery_id: str
    url: str
    attempt: int
    outcome: Outcome
    status: int | None = None
    detail: str | None = None


class Sender:
    """Sends the news of ``journal`` to ``endpoints``; ``tell`` hears what came of each try.

    At least once: a process that dies between sending and noting so sends the same id again. Several may run at once.
    """

    def __init__(
        self,
        journal: SqlJournal,
        endpoints: Sequence[Endpoint],
        tell: Callable[[Delivery], None] = lambda delivery: None,
        *,
        clock: Clock | None = None,
        first_pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        self._journal = journal
        self._endpoints = tuple(endpoints)
        self._tell = tell
        self._clock = clock or SystemClock()
        self._first_pause_s = first_pause_s
        self._done: dict[str, set[str]] = {}

    async def send_again_and_again(self, is_over: asyncio.Event, look_s: float = LOOK_S) -> None:
        """Send until ``is_over``; nothing is looked for where nobody wants to hear."""
        if not self._endpoints:
            return
        async with _client() as client:
            while not is_over.is_set():
                if await self.send(client):
                    continue
                await self._journal.forget_told(self._clock.now() - KEPT_FOR)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(look_s):
                        await is_over.wait()

    async def send(self, client: httpx2.AsyncClient) -> int:
        """Send what is due now; how many notices those were."""
        due = await self._journal.take_news(limit=AT_ONCE, lease=LEASE)
        sessions: dict[str, list[News]] = {}
        for news in due:
            sessions.setdefault(news.session, []).append(news)
        await asyncio.gather(*(self._send_in_order(client, one) for one in sessions.values()))
        return len(due)

    async def _send_in_order(self, client: httpx2.AsyncClient, news: Sequence[News]) -> None:
        """What happened in one session is told in the order it happened, but for what has to be tried again."""
        for one in news:
            await self._send(client, one)

    async def _send(self, client: httpx2.AsyncClient, news: News) -> None:
        facts = await facts_of(self._journal, news)
        wanting = [one for one in self._endpoints if news.topic in one.topics]
        if facts is None or not facts.is_worth_telling(self._clock.now()) or not wanting:
            await self._journal.told(news)
            return
        reached = self._done.setdefault(news.id, set())
        pauses: list[float] = []
        for one in wanting:
            if one.url in reached:
                continue
            pause_s = await self._post(client, one, news, notice_of(facts, redacts=one.redacts))
            if pause_s is None:
                reached.add(one.url)
            else:
                pauses.append(pause_s)
        if not pauses:
            self._done.pop(news.id, None)
            await self._journal.told(news)
        else:
            await self._journal.tell_again(news, self._clock.now() + timedelta(seconds=min(pauses)))

    async def _post(self, client: httpx2.AsyncClient, to: Endpoint, news: News, body: bytes) -> float | None:
        """Send ``body`` once; after how many seconds to try again, None where it arrived or never will."""
        import httpx2

        timestamp = str(int(self._clock.now().timestamp()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "handrail-webhook",
            "Handrail-Event": news.topic,
            "Handrail-Delivery": news.id,
            "Handrail-Timestamp": timestamp,
            "Handrail-Signature": signature(to.secret, timestamp, body),
        }
        status, wait_s, detail = None, None, None
        try:
            answer = await client.post(to.url, content=body, headers=headers)
            status, wait_s = answer.status_code, _asked_for_s(answer)
        except (httpx2.HTTPError, httpx2.InvalidURL) as problem:
            detail = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
        outcome = _outcome(status, news.attempt)
        self._tell(
            Delivery(
                delivery_id=news.id,
                url=shown(to.url),
                attempt=news.attempt,
                outcome=outcome,
                status=status,
                detail=detail,
            )
        )
        if outcome != "again":
            return None
        doubled_s: float = min(self._first_pause_s * 2 ** (news.attempt - 1), LONGEST_PAUSE_S)
        return doubled_s if wait_s is None else max(doubled_s, wait_s)


def _outcome(status: int | None, attempt: int) -> Outcome:
    if status is not None and 200 <= status < 300:
        return "delivered"
    may_pass = status is None or status >= 500 or status in _PASSING
    return "again" if may_pass and attempt < MAX_TRIES else "given_up"


def _asked_for_s(answer: httpx2.Response) -> float | None:
    """How long the other side wants to be left alone, in seconds."""
    given = answer.headers.get("Retry-After", "")
    return min(float(given), LONGEST_PAUSE_S) if given.isascii() and given.isdigit() else None


def _client() -> httpx2.AsyncClient:
    import httpx2

    # What an address answers with is not followed elsewhere, and its proxy is nobody's guess.
    return httpx2.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False)
