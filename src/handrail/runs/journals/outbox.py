"""What has to be told outside: written with the event it tells of, taken under a lease, kept until it was told.

A row stands in the transaction of its event, so that nothing is told that did not happen and nothing that happened is
forgotten, whatever dies. Questions that fall due have a row from the start, ready at that time; it goes when the
question is closed first. Who tells (a webhook) takes rows for a while: one that dies in the middle gives them back by
the passing of that while, so a row may be told twice, under the same ``id``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from handrail.journal.events import AskClosed, AskOpened, Event, RunEnded
from handrail.runs.journals.cells import instant_cell
from handrail.runs.journals.database import Transaction

Topic: TypeAlias = Literal["ask.opened", "ask.due", "ask.closed", "run.finished"]

LONGEST = timedelta(hours=1)
"""For how long a row may be held or put off. One that is for longer is free: the clock was put back since."""

_AT_ONCE = 0


class News(Struct, frozen=True, kw_only=True, gc=False):
    """One thing to tell: what happened with event ``seq`` of ``session``, in ``run``, to the question ``ask``.

    ``attempt`` counts from 1 how often it was taken, this time included; it is also what tells this lease from a
    later one.
    """

    number: int
    topic: Topic
    session: str
    seq: int
    attempt: int
    run: str | None = None
    ask: str | None = None

    @property
    def id(self) -> str:
        """The same however often it is told, and for nothing else."""
        return f"{self.topic}:{self.session}:{self.seq}:{self.number}"


def write_news(transaction: Transaction, session: str, run: str, events: Sequence[Event]) -> None:
    """Write the rows of what ``events`` of ``session`` tell, and drop those of questions that fall due no more."""
    rows: list[dict[str, Any]] = []
    for event in events:
        body = event.body
        if isinstance(body, AskClosed):
            transaction.run(
                "DELETE FROM outbox WHERE session = :session AND ask = :ask AND topic = 'ask.due' AND sent_at IS NULL",
                session=session,
                ask=body.ask,
            )
        for topic, ask, due_at in _news_of(event):
            place = {"session": session, "seq": event.seq, "run": run or None}
            rows.append({"topic": topic, "ask": ask, "due_at": due_at, **place})
    if rows:
        transaction.run_many(
            """INSERT INTO outbox (topic, session, seq, run, ask, due_at)
            VALUES (:topic, :session, :seq, :run, :ask, :due_at)""",
            rows,
        )


def _news_of(event: Event) -> Iterator[tuple[Topic, str | None, int]]:
    body = event.body
    if isinstance(body, AskOpened):
        yield "ask.opened", body.ask, _AT_ONCE
        for instant in (body.remind_at, body.deadline):
            if instant is not None:
                yield "ask.due", body.ask, instant_cell(instant)
    elif isinstance(body, AskClosed):
        yield "ask.closed", body.ask, _AT_ONCE
    elif isinstance(body, RunEnded):
        yield "run.finished", None, _AT_ONCE


def take(transaction: Transaction, now: datetime, *, lease: timedelta, limit: int) -> tuple[News, ...]:
    """The oldest rows that are ready and that nobody holds, for the length of ``lease``; ``ValueError`` if too long."""
    if lease > LONGEST:
        raise ValueError(f"a lease is for {LONGEST} at most")
    found = transaction.run_locked(
        """SELECT number, topic, session, seq, attempts, run, ask FROM outbox
        WHERE sent_at IS NULL AND due_at <= :now
        AND (leased_until IS NULL OR leased_until <= :now OR leased_until > :longest)
        ORDER BY number LIMIT :limit""",
        now=instant_cell(now),
        longest=instant_cell(now + LONGEST),
        limit=limit,
    )
    transaction.run_many(
        "UPDATE outbox SET leased_until = :until, attempts = attempts + 1 WHERE number = :number",
        [{"number": row[0], "until": instant_cell(now + lease)} for row in found],
    )
    return tuple(
        News(number=number, topic=topic, session=session, seq=seq, attempt=attempts + 1, run=run, ask=ask)
        for number, topic, session, seq, attempts, run, ask in found
    )


def settle(transaction: Transaction, news: News, *, sent_at: datetime | None, again_at: datetime | None) -> bool:
    """Say what became of ``news``: it was told at ``sent_at``, or is to be told again from ``again_at`` on.

    False, with nothing changed, when its lease ran out and somebody else holds it.
    """
    found = transaction.run(
        """UPDATE outbox SET sent_at = :sent_at, leased_until = :again_at
        WHERE number = :number AND attempts = :attempt AND sent_at IS NULL RETURNING number""",
        number=news.number,
        attempt=news.attempt,
        sent_at=None if sent_at is None else instant_cell(sent_at),
        again_at=None if again_at is None else instant_cell(again_at),
    )
    return bool(found)


def forget(transaction: Transaction, before: datetime) -> int:
    """Drop what was told before that instant; how many rows those were."""
    found = transaction.run("DELETE FROM outbox WHERE sent_at < :before RETURNING number", before=instant_cell(before))
    return len(found)
