"""How the rows of the board follow from a session's events and from what was posted to it. Pure.

Everything that keeps or folds rows goes through ``run_after``, ``asks_after`` and ``posted``, one event at a time, so
that rows kept in a database and rows made anew from its events cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from handrail.journal import events as ev
from handrail.journal.board import AskRow, RunRow, RunStatus, Vote
from handrail.journal.port import AskTaken, Entry, NoSuchAsk
from handrail.journal.vocabulary import DRIVER, AskOutcome, EndReason

SETTLING = (ev.AskClosed, ev.AskVoted)
"""What is posted about a question; only one that is open takes it."""


def root_of(meta_of: ev.SessionOpened, session: str, known_root: Callable[[str], str | None]) -> str:
    """The session at the top of the tree that ``session`` belongs to.

    ``known_root`` gives the root of a session that was opened before, None for one that is not there.
    """
    parent = parent_of(meta_of)
    return session if parent is None else known_root(parent) or parent


def parent_of(opened: ev.SessionOpened) -> str | None:
    """The session that started this one as its agent."""
    parent = opened.meta.parent
    return parent.session if parent is not None and parent.kind == "subagent" else None


# Runs -------------------------------------------------------------------------------------------------------


def run_after(row: RunRow, event: ev.Event) -> RunRow:
    """``row`` after one more event of its session."""
    handler = _RUN_HANDLERS.get(type(event.body))
    moved = row if handler is None else handler(row, event, event.body)
    return moved if event.at is None else replace(moved, progress_at=event.at)


def _opened(row: RunRow, event: ev.Event, body: ev.SessionOpened) -> RunRow:
    meta = body.meta
    return replace(row, title=meta.title, cwd=meta.cwd, model=meta.model, parent=parent_of(body))


def _titled(row: RunRow, event: ev.Event, body: ev.SessionTitled) -> RunRow:
    return replace(row, title=body.title)


def _started(row: RunRow, event: ev.Event, body: ev.RunStarted) -> RunRow:
    return replace(
        row,
        run=body.run,
        status=_standing(row.waits_for),
        reason=None,
        detail=None,
        stage=None,
        blueprint=body.blueprint,
        model=body.model or row.model,
        started_at=event.at,
        ended_at=None,
    )


def _frozen(row: RunRow, event: ev.Event, body: ev.BlueprintFrozen) -> RunRow:
    return replace(row, blueprint=body.name)


def _ended(row: RunRow, event: ev.Event, body: ev.RunEnded) -> RunRow:
    row = replace(row, reason=body.reason, detail=body.detail, ended_at=event.at, stage=None)
    return replace(row, status=_over(row))


def _asked(row: RunRow, event: ev.Event, body: ev.AskOpened) -> RunRow:
    return _waiting_for(row, (*row.waits_for, body.ask))


def _answered(row: RunRow, event: ev.Event, body: ev.AskClosed) -> RunRow:
    return _waiting_for(row, tuple(ask for ask in row.waits_for if ask != body.ask))


def _waiting_for(row: RunRow, asks: tuple[str, ...]) -> RunRow:
    row = replace(row, waits_for=asks)
    if row.status == "paused":
        return row
    return replace(row, status=_standing(asks) if row.reason is None and row.run else _over(row))


def _standing(asks: Sequence[str]) -> RunStatus:
    return "waiting" if asks else "running"


def _over(row: RunRow) -> RunStatus:
    """A run that a strategy paused has ended, and is waiting for as long as its question is open."""
    return "waiting" if row.reason is EndReason.WAITING and row.waits_for else "ended"


def _paused(row: RunRow, event: ev.Event, body: ev.PauseRequested) -> RunRow:
    return replace(row, status="paused") if row.status in ("running", "waiting") and row.reason is None else row


def _resumed(row: RunRow, event: ev.Event, body: ev.ResumeRequested) -> RunRow:
    return replace(row, status=_standing(row.waits_for)) if row.status == "paused" else row


def _entered(row: RunRow, event: ev.Event, body: ev.StageEntered) -> RunRow:
    return replace(row, stage=body.stage)


def _left(row: RunRow, event: ev.Event, body: ev.StageLeft) -> RunRow:
    return replace(row, stage=None)


def _spawned(row: RunRow, event: ev.Event, body: ev.ChildSpawned) -> RunRow:
    return replace(row, children=(*row.children, body.child))


def _child_ended(row: RunRow, event: ev.Event, body: ev.ChildEnded) -> RunRow:
    return replace(row, children=tuple(child for child in row.children if child != body.child))


_RUN_HANDLERS: dict[type, Callable[[RunRow, ev.Event, Any], RunRow]] = {
    ev.SessionOpened: _opened,
    ev.SessionTitled: _titled,
    ev.RunStarted: _started,
    ev.BlueprintFrozen: _frozen,
    ev.RunEnded: _ended,
    ev.AskOpened: _asked,
    ev.AskClosed: _answered,
    ev.PauseRequested: _paused,
    ev.ResumeRequested: _resumed,
    ev.StageEntered: _entered,
    ev.StageLeft: _left,
    ev.ChildSpawned: _spawned,
    ev.ChildEnded: _child_ended,
}


# Questions --------------------------------------------------------------------------------------------------


def asks_after(open_rows: Iterable[AskRow], event: ev.Event, session: str, root: str) -> AskRow | None:
    """The row that ``event`` makes or changes, given those of its session that are not closed; None where none is."""
    body = event.body
    if isinstance(body, ev.AskOpened):
        return AskRow(
            ask=body.ask,
            session=session,
            root=root,
            kind=body.kind,
            opened=body,
            seq=event.seq,
            key=body.key,
            opened_at=event.at,
        )
    if isinstance(body, ev.EntryRefused) and event.inbox is not None:
        number = event.inbox
        return next((released for row in open_rows if (released := _without(row, number)) is not row), None)
    if not isinstance(body, SETTLING):
        return None
    row = next((row for row in open_rows if row.ask == body.ask), None)
    if row is None:
        return None
    if isinstance(body, ev.AskVoted):
        return _voted(row, body, event)
    return replace(row, status="closed", closed=body, closed_by=event.by, closed_at=event.at, entry=event.inbox)


def _voted(row: AskRow, body: ev.AskVoted, event: ev.Event) -> AskRow:
    vote = _vote(body, Entry(number=event.inbox or 0, body=body, by=event.by, key="", at=event.at))
    known = event.inbox is not None and any(one.entry == event.inbox for one in row.votes)
    return row if known else replace(row, votes=(*row.votes, vote))


def _vote(body: ev.AskVoted, entry: Entry) -> Vote:
    return Vote(
        by=entry.by,
        choice=body.choice,
        comment=body.comment,
        digest=body.digest,
        at=entry.at,
        entry=entry.number or None,
    )


def _without(row: AskRow, number: int) -> AskRow:
    """``row`` without what the inbox entry ``number`` did to it, for the driver refused that entry."""
    if row.entry == number:
        return replace(row, status="open", closed=None, closed_by=None, closed_at=None, entry=None)
    votes = tuple(vote for vote in row.votes if vote.entry != number)
    return row if len(votes) == len(row.votes) else replace(row, votes=votes)


def posted(row: AskRow, entry: Entry) -> AskRow:
    """``row`` once ``entry``, an answer to it or a vote on it, stands in the inbox."""
    body = entry.body
    if isinstance(body, ev.AskVoted):
        return replace(row, votes=(*row.votes, _vote(body, entry)))
    if not isinstance(body, ev.AskClosed):
        return row
    return replace(row, status="taken", closed=body, closed_by=entry.by, closed_at=entry.at, entry=entry.number)


def overtaking(events: Iterable[ev.Event]) -> tuple[str, ...]:
    """The questions that ``events`` close other than by an entry or by withdrawing them: a posted answer goes first."""
    closings = [event.body for event in events if type(event.body) is ev.AskClosed and event.inbox is None]
    return tuple([one.ask for one in closings if one.outcome is not AskOutcome.WITHDRAWN]) if closings else ()


def check_not_taken(rows: Iterable[AskRow], asks: Iterable[str], winner: Callable[[int], Entry | None]) -> None:
    """``AskTaken`` when an answer to one of ``asks`` stands in the inbox; ``rows`` are those not closed."""
    for ask in asks:
        row = next((row for row in rows if row.ask == ask and row.status == "taken"), None)
        if row is not None:
            check_open(row, ask, winner)


def check_open(row: AskRow | None, ask: str, winner: Callable[[int], Entry | None]) -> AskRow:
    """``row`` when an answer to it may be posted; ``NoSuchAsk`` or ``AskTaken`` with the entry that has won.

    ``winner`` gives the inbox entry of a number. Where the driver itself closed the question there is none, and the
    error carries one with number 0 in its place.
    """
    if row is None:
        raise NoSuchAsk(f"there is no question {ask!r} in this session")
    if row.status == "open" or row.closed is None:
        return row
    won = None if row.entry is None else winner(row.entry)
    if won is None:
        won = Entry(number=0, body=row.closed, by=row.closed_by or DRIVER, key="", at=row.closed_at)
    raise AskTaken(won)


# A session whole --------------------------------------------------------------------------------------------


class Rows(Struct, frozen=True):
    """The rows of one session: its run and its questions in the order they were opened."""

    run: RunRow
    asks: tuple[AskRow, ...] = ()


KnownRoot: TypeAlias = Callable[[str], str | None]


def rows_of(session: str, events: Sequence[ev.Event], entries: Iterable[Entry], known_root: KnownRoot) -> Rows:
    """The rows of ``session``, folded from all its events and from what was posted and is not journalled yet."""
    root = session
    if events and isinstance(events[0].body, ev.SessionOpened):
        root = root_of(events[0].body, session, known_root)
    run, asks, taken = RunRow(session=session, root=root), dict[tuple[str, int], AskRow](), 0
    unsettled: dict[str, AskRow] = {}
    for event in events:
        run, taken = run_after(run, event), max(taken, event.inbox or 0)
        changed = asks_after(unsettled.values(), event, session, root)
        if changed is None:
            continue
        asks[changed.ask, changed.seq] = changed
        if changed.status == "closed":
            unsettled.pop(changed.ask, None)
        else:
            unsettled[changed.ask] = changed
    for entry in entries:
        if entry.number > taken and isinstance(entry.body, SETTLING) and entry.body.ask in unsettled:
            row = posted(unsettled[entry.body.ask], entry)
            asks[row.ask, row.seq] = unsettled[row.ask] = row
    return Rows(run, tuple(asks.values()))


def check_answer(ask: str, session: str, events: Sequence[ev.Event], entries: Sequence[Entry]) -> None:
    """``NoSuchAsk`` or ``AskTaken`` unless an answer to ``ask`` may be posted to ``session`` now."""
    asks = _asks_of(session, events, entries)
    row = next((row for row in reversed(asks) if row.ask == ask), None)
    check_open(row, ask, _by_number(entries))


def check_closings(
    added: Sequence[ev.Event], session: str, events: Sequence[ev.Event], entries: Sequence[Entry]
) -> None:
    """``AskTaken`` when ``added`` would overtake an answer that stands in the inbox of ``session``."""
    asks = overtaking(added)
    if asks:
        check_not_taken(_asks_of(session, events, entries), asks, _by_number(entries))


def _asks_of(session: str, events: Sequence[ev.Event], entries: Sequence[Entry]) -> tuple[AskRow, ...]:
    return rows_of(session, events, entries, lambda parent: None).asks


def _by_number(entries: Iterable[Entry]) -> Callable[[int], Entry | None]:
    return {entry.number: entry for entry in entries}.get
