"""The desk: where people find the questions that wait for them, over all runs of a journal, and answer.

It works on rows and an inbox, whatever process drives the run, or none. An answer is checked before it is posted and
posted by compare-and-set: the first one wins, whoever comes later is told who did, and the same answer sent twice is
one answer. The run takes it from the inbox and looks at it once more.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from handrail import ids, jsonio
from handrail.blueprints.labels import AnswerRefused
from handrail.errors import HandrailError
from handrail.journal.answers import Ballot, is_approving, voters, who_may_not, why_refused, why_vote_refused
from handrail.journal.board import AskRow, JournalWithBoard
from handrail.journal.events import AskClosed, AskReminded, AskVoted
from handrail.journal.port import AskTaken, Entry
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind, AskOutcome
from handrail.runs.asks.identity import this_person
from handrail.runs.asks.offers import offers_of, shown
from handrail.runs.asks.replies import Reply, answer_to
from handrail.runs.asks.wording import told

DEADLINE = Actor(ActorKind.DRIVER, "deadline")
"""Who closes a question whose time is over: nobody."""


class AnswerForbidden(HandrailError, PermissionError):
    """Whoever answered may not answer this question; it stays open."""

    code = "answer_forbidden"
    exit_code = 2


class Accepted(Struct, frozen=True, kw_only=True):
    """What became of a reply: it closed the question, or it is one ``vote`` of the ``needed`` ones (``cast`` so far).

    ``entry`` is what was posted, now or the first time this reply was sent. ``also`` are the others that were
    answered with it.
    """

    ask: str
    status: Literal["closed", "voted"]
    entry: Entry
    cast: int = 1
    needed: int = 1
    also: tuple[Accepted, ...] = ()


class Desk:
    """Answers the questions of one journal. ``person`` is who answers unless a call says otherwise."""

    def __init__(self, journal: JournalWithBoard, person: Actor | None = None) -> None:
        self._journal = journal
        self._person = person

    # Answering

    async def answer(
        self, ask: str, reply: Reply, *, by: Actor | None = None, key: str | None = None, alike: bool = False
    ) -> Accepted:
        """Answer the question ``ask`` (its id, or the beginning of it).

        Raises ``AnswerRefused`` with all that does not fit, ``AnswerForbidden`` for one who may not answer,
        ``AskTaken`` with the winner's entry when somebody was first, ``AskNotFound`` and ``AmbiguousAsk``. ``key`` is
        the sender's own for sending once; without one the same answer by the same person is sent once. ``alike``
        answers every open approval of the same call with the same arguments in the run's tree as well.
        """
        by = by or self._person or this_person()
        row = await self._journal.ask(ask)
        accepted = await self._answer(row, reply, by, key)
        if not alike:
            return accepted
        others = [await self._answer_too(one, reply, by, key) for one in await self.alike(row)]
        return msgspec.structs.replace(accepted, also=tuple(one for one in others if one is not None))

    async def decline(
        self, ask: str, reason: str | None = None, *, by: Actor | None = None, key: str | None = None
    ) -> Accepted:
        """Refuse to answer. A call is denied by it; an interaction point has options for that, and takes none of it."""
        by = by or self._person or this_person()
        row = await self._journal.ask(ask)
        return await self._post(row, AskClosed(ask=row.ask, outcome=AskOutcome.DENIED, comment=reason), by, key)

    async def withdraw(self, ask: str, reason: str, *, by: Actor | None = None, key: str | None = None) -> Accepted:
        """Take a question back, for ``reason``: nobody has answered it then, and nobody has refused."""
        by = by or self._person or this_person()
        row = await self._journal.ask(ask)
        return await self._post(row, AskClosed(ask=row.ask, outcome=AskOutcome.WITHDRAWN, comment=reason), by, key)

    async def alike(self, row: AskRow) -> tuple[AskRow, ...]:
        """The other open approvals of the same call with the same arguments, in the tree of runs that ``row`` is of."""
        if row.kind is not AskKind.APPROVAL or row.opened.digest is None:
            return ()
        same = [
            one
            async for one in self._open(root=row.root, kind=AskKind.APPROVAL)
            if one.opened.digest == row.opened.digest and one.ask != row.ask
        ]
        return tuple(same)

    # What time does

    async def expire_due(self, now: datetime, asks: Sequence[str] | None = None) -> tuple[AskRow, ...]:
        """Close every open question whose deadline has passed; the rows as they were. An answer that is in has won.

        ``asks`` are those to look at (None: all), for one who knows which fall due, as the outbox of a database does.
        """
        rows = await self._standing(asks)
        due = [row for row in rows if _is_past(row.opened.deadline, now) and row.opened.may_expire]
        return tuple([row for row in due if await self._expire(row)])

    async def remind_due(self, now: datetime, asks: Sequence[str] | None = None) -> tuple[AskRow, ...]:
        """Record of every open question whose reminder is due that somebody is reminded; those rows, each once."""
        due = [row for row in await self._standing(asks) if _is_past(row.opened.remind_at, now)]
        return tuple([row for row in due if await self._remind(row)])

    async def count_votes(self) -> tuple[Accepted, ...]:
        """Close the questions whose votes are complete: whoever cast the last one may have died before closing it."""
        rows = [row async for row in self._open() if row.opened.quorum > 1 and row.votes]
        return tuple([done for row in rows if (done := await self._close_by_votes(row)) is not None])

    # How

    async def _answer(self, row: AskRow, reply: Reply, by: Actor, key: str | None) -> Accepted:
        try:
            closed = answer_to(row.opened, reply)
        except AnswerRefused:
            if row.status == "open":
                raise
            raise _lost(await self._winner(row)) from None
        if row.opened.quorum > 1 and is_approving(row.opened, closed.choice):
            return await self._vote(row, closed, by, key)
        return await self._post(row, closed, by, key)

    async def _answer_too(self, row: AskRow, reply: Reply, by: Actor, key: str | None) -> Accepted | None:
        """``_answer`` for one that is answered along with another; None where somebody else was first."""
        try:
            return await self._answer(row, reply, by, None if key is None else f"{key}/{row.ask}")
        except AskTaken:
            return None

    async def _post(self, row: AskRow, closed: AskClosed, by: Actor, key: str | None) -> Accepted:
        if row.status == "open":
            _check(row, closed, by)
        # The run may have refused an entry of this key before; sent under a fresh one it is looked at anew.
        for sent_as in (key or _key(closed, by), ids.new_uuid4()):
            entry = await self._send(row, closed, by, sent_as)
            if row.status != "open" or (await self._journal.ask(row.ask)).status != "open":
                return Accepted(ask=row.ask, status="closed", entry=entry)
        raise AnswerRefused(("the run has refused this answer",), shown(offers_of(row.opened)))

    async def _send(self, row: AskRow, body: AskClosed | AskVoted, by: Actor, key: str) -> Entry:
        try:
            entry = await self._journal.post(row.session, body, by, key)
        except AskTaken as taken:
            raise _lost(taken.winner) from taken
        if not isinstance(entry.body, AskClosed | AskVoted) or entry.body.ask != row.ask:
            raise AnswerRefused((f"the key {key!r} was used for something else before",))
        return entry

    async def _vote(self, row: AskRow, closed: AskClosed, by: Actor, key: str | None) -> Accepted:
        vote = AskVoted(ask=row.ask, choice=closed.choice, comment=closed.comment, digest=row.opened.digest)
        key = key or _key(vote, by)
        if row.status == "open" and not await self._has_sent(row.session, key):
            _check_vote(row, vote, by)
        entry = await self._send(row, vote, by, key)
        row = await self._journal.ask(row.ask)
        if (closing := await self._close_by_votes(row)) is not None:
            return closing
        cast = len(voters(_ballots(row), closed.choice, row.opened.digest))
        if row.status == "open":
            return Accepted(ask=row.ask, status="voted", entry=entry, cast=cast, needed=row.opened.quorum)
        winner = await self._winner(row)
        return Accepted(ask=row.ask, status="closed", entry=winner, cast=cast, needed=row.opened.quorum)

    async def _has_sent(self, session: str, key: str) -> bool:
        return any(entry.key == key for entry in await self._journal.inbox(session))

    async def _close_by_votes(self, row: AskRow) -> Accepted | None:
        """Close ``row`` by its votes where they are enough; once, whoever counts them."""
        if row.status != "open":
            return None
        ballots = _ballots(row)
        for vote, _ in ballots:
            names = voters(ballots, vote.choice, row.opened.digest)
            if len(names) >= row.opened.quorum:
                closed = AskClosed(
                    ask=row.ask, outcome=AskOutcome.ANSWERED, choice=vote.choice, comment=_comments(ballots, vote)
                )
                last = next(who for said, who in reversed(ballots) if said.choice == vote.choice)
                entry = await self._journal.post(row.session, closed, last, f"{row.ask}/votes")
                return Accepted(ask=row.ask, status="closed", entry=entry, cast=len(names), needed=row.opened.quorum)
        return None

    async def _expire(self, row: AskRow) -> bool:
        closed = AskClosed(ask=row.ask, outcome=AskOutcome.TIMED_OUT)
        try:
            await self._journal.post(row.session, closed, DEADLINE, f"{row.ask}/deadline")
        except AskTaken:
            return False
        return True

    async def _remind(self, row: AskRow) -> bool:
        key = f"{row.ask}/reminder"
        events = await self._journal.read(row.session, row.seq)
        if any(isinstance(event.body, AskReminded) and event.body.ask == row.ask for event in events):
            return False
        if await self._has_sent(row.session, key):
            return False
        await self._journal.post(row.session, AskReminded(row.ask), DEADLINE, key)
        return True

    async def _winner(self, row: AskRow) -> Entry:
        """The entry that closed ``row``; one with number 0 where the run itself did."""
        if row.entry is not None:
            for entry in await self._journal.inbox(row.session, row.entry - 1):
                if entry.number == row.entry:
                    return entry
        closed = row.closed or AskClosed(ask=row.ask, outcome=AskOutcome.WITHDRAWN)
        return Entry(number=0, body=closed, by=row.closed_by or DRIVER, key="", at=row.closed_at)

    async def _standing(self, asks: Sequence[str] | None) -> list[AskRow]:
        """The open ones of ``asks``, of all questions where that is None."""
        if asks is None:
            return [row async for row in self._open()]
        rows = [await self._journal.ask(name) for name in asks]
        return [row for row in rows if row.status == "open"]

    async def _open(self, *, root: str | None = None, kind: AskKind | None = None) -> AsyncIterator[AskRow]:
        """All open questions, page by page, in the order they were opened."""
        after = None
        while rows := await self._journal.asks(root=root, kind=kind, after=after):
            for row in rows:
                yield row
            after = rows[-1].ask


def _lost(winner: Entry) -> AskTaken:
    """What is raised for who comes too late: with what became of the question, in words."""
    return AskTaken(winner, hint=told(winner.body, winner.by) if isinstance(winner.body, AskClosed) else None)


def _check(row: AskRow, closed: AskClosed, by: Actor) -> None:
    """The look the run itself takes at an answer, taken before it is posted."""
    if closed.outcome in (AskOutcome.ANSWERED, AskOutcome.DENIED):
        problem = who_may_not(row.opened, by)
        if problem is not None:
            raise AnswerForbidden(problem)
    problem = why_refused(row.opened, closed, by, _ballots(row))
    if problem is not None:
        raise AnswerRefused((problem,), shown(offers_of(row.opened)))


def _check_vote(row: AskRow, vote: AskVoted, by: Actor) -> None:
    if (problem := who_may_not(row.opened, by)) is not None:
        raise AnswerForbidden(problem)
    if (problem := why_vote_refused(row.opened, vote, by, _ballots(row))) is not None:
        raise AnswerRefused((problem,), shown(offers_of(row.opened)))


def _ballots(row: AskRow) -> Sequence[Ballot]:
    return [
        (AskVoted(ask=row.ask, choice=vote.choice, comment=vote.comment, digest=vote.digest), vote.by)
        for vote in row.votes
    ]


def _comments(ballots: Sequence[Ballot], vote: AskVoted) -> str | None:
    """What those who voted like ``vote`` had to say, each with their name."""
    said = [f"{by.name}: {one.comment}" for one, by in ballots if one.choice == vote.choice and one.comment]
    return "\n".join(said) or None


def _key(body: AskClosed | AskVoted, by: Actor) -> str:
    """What makes the same answer by the same person one answer."""
    digest = hashlib.sha256(jsonio.canonical([body, by])).hexdigest()
    return f"{body.ask}/{digest[:32]}"


def _is_past(instant: datetime | None, now: datetime) -> bool:
    return instant is not None and instant <= now
