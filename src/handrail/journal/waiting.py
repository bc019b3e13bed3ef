"""Waiting for people: which open questions hold a run, which are overdue, and when to look again."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from handrail.journal.effects import WaitUntil
from handrail.journal.events import AskOpened
from handrail.journal.state import State


def wait_for(state: State, asks: Collection[AskOpened], now: datetime) -> WaitUntil:
    """The wait for one of ``asks`` to be closed, be reminded of, or run out."""
    due = [one for ask in asks for one in (_deadline(ask), _reminder(state, ask)) if one is not None]
    return WaitUntil(
        at=min(due, default=None),
        asks=tuple(ask.ask for ask in asks),
        overdue=tuple(ask.ask for ask in asks if _is_past(_deadline(ask), now)),
        remind=tuple(ask.ask for ask in asks if _is_past(_reminder(state, ask), now)),
    )


def _deadline(ask: AskOpened) -> datetime | None:
    return ask.deadline if ask.may_expire else None


def _reminder(state: State, ask: AskOpened) -> datetime | None:
    return None if ask.ask in state.reminded else ask.remind_at


def _is_past(instant: datetime | None, now: datetime) -> bool:
    return instant is not None and instant <= now
