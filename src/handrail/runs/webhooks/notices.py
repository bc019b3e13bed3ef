"""What is said of a piece of news: one JSON object, redacted unless somebody wants it whole."""

from __future__ import annotations

from datetime import datetime, timedelta

from handrail import jsonio
from handrail.journal.board import AskNotFound, AskRow, RunNotFound, RunRow
from handrail.journal.events import Event
from handrail.runs.asks.offers import offers_of
from handrail.runs.journals.journal import SqlJournal
from handrail.runs.journals.outbox import News
from handrail.transcripts.model import Json
from handrail.transcripts.redact import redact

SCHEMA_VERSION = 1

STALE_AFTER = timedelta(days=1)
"""News that nobody sent for so long is told no more, unless it is of a question that is open yet."""


class Facts:
    """What a notice is made from, read once for all addresses."""

    def __init__(self, news: News, event: Event, ask: AskRow | None, run: RunRow | None) -> None:
        self.news = news
        self.event = event
        self.ask = ask
        self.run = run

    def is_worth_telling(self, now: datetime) -> bool:
        """Whether it is of interest now: not of a question that is closed by now, nor of an agent within a run."""
        is_open = self.ask is not None and self.ask.status == "open"
        if self.news.topic == "run.finished":
            return (self.run is None or self.run.root == self.news.session) and not self._is_stale(now)
        if self.news.topic == "ask.due":
            return is_open
        return is_open or not self._is_stale(now)

    def _is_stale(self, now: datetime) -> bool:
        return self.event.at is not None and now - self.event.at > STALE_AFTER


async def facts_of(journal: SqlJournal, news: News) -> Facts | None:
    """What there is to say of ``news``; None where its event is gone."""
    events = await journal.read(news.session, news.seq - 1)
    if not events or events[0].seq != news.seq:
        return None
    try:
        ask = None if news.ask is None else await journal.ask(news.ask)
    except AskNotFound:
        ask = None
    try:
        run = await journal.run(news.session)
    except RunNotFound:
        run = None
    return Facts(news, events[0], ask, run)


def notice_of(facts: Facts, *, redacts: bool) -> bytes:
    """The body to send. The same for the same news, whatever the try."""
    news, at = facts.news, facts.event.at
    notice: dict[str, Json] = {
        "schema_version": SCHEMA_VERSION,
        "event": news.topic,
        "delivery_id": news.id,
        "at": None if at is None else at.isoformat().replace("+00:00", "Z"),
        "session": news.session,
        "run": _run(facts),
        "ask": _ask(facts.ask, whole=not redacts),
    }
    return jsonio.canonical(_redacted(notice) if redacts else notice)


def _run(facts: Facts) -> Json:
    row = facts.run
    if row is None:
        return {"id": facts.news.run}
    return {
        "id": facts.news.run,
        "root": row.root,
        "status": row.status,
        "reason": None if row.reason is None else row.reason.value,
        "detail": row.detail,
        "title": row.title,
        "blueprint": row.blueprint,
        "stage": row.stage,
    }


def _ask(row: AskRow | None, *, whole: bool) -> Json:
    if row is None:
        return None
    opened, closed = row.opened, row.closed
    found: dict[str, Json] = {
        "id": row.ask,
        "kind": row.kind.value,
        "status": row.status,
        "title": opened.title,
        "prompt": opened.prompt,
        "options": [offer.word for offer in offers_of(opened)],
        "stage": opened.stage,
        "point": opened.point,
        "origin": list(opened.origin),
        "deadline": None if opened.deadline is None else opened.deadline.isoformat().replace("+00:00", "Z"),
    }
    if closed is not None:
        by = row.closed_by
        found["closed"] = {
            "outcome": closed.outcome.value,
            "choice": closed.choice,
            "is_allowed": closed.is_allowed,
            "by": None if by is None else {"kind": by.kind.value, "name": by.name},
        }
    if whole:
        found["shown"] = opened.shown
        if closed is not None and isinstance(found["closed"], dict):
            found["closed"] |= {"comment": closed.comment, "words": closed.words}
    return found


def _redacted(value: Json) -> Json:
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, dict):
        return {name: _redacted(held) for name, held in value.items()}
    return [_redacted(held) for held in value] if isinstance(value, list) else value
