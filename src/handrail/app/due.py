"""Which runs that nobody drives have something to do, told from their journals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from handrail.journal.board import JournalWithBoard
from handrail.journal.effects import WaitUntil
from handrail.journal.events import DriverTookOver, Event, RunStarted
from handrail.journal.fold import apply, fold
from handrail.journal.port import Journal
from handrail.journal.rounds import next_effects
from handrail.journal.state import State
from handrail.journal.vocabulary import DRIVER
from handrail.runs.journals.board_tables import Left


def by_tree(left: Iterable[Left]) -> Mapping[str, tuple[Left, ...]]:
    """Sessions with those below them, by the session at the top: a run is carried with all that it started."""
    trees: dict[str, list[Left]] = {}
    for one in left:
        trees.setdefault(one.root, []).append(one)
    return {root: tuple(tree) for root, tree in trees.items()}


async def is_due(journal: Journal, root: str, tree: Sequence[Left], now: datetime) -> bool:
    """Whether the run of ``root`` has more to do than to wait for a person, and was begun by an order.

    What a Python program runs is its own business: it holds no lock that would say that it is at it.
    """
    events = await journal.read(root)
    starts = [event.body for event in events if isinstance(event.body, RunStarted)]
    if not starts or starts[-1].order is None:
        return False
    state = fold(events)
    return _is_at_work(state, now) or await has_unread(journal, tree)


def _is_at_work(state: State, now: datetime) -> bool:
    """Whether the open run of ``state`` would do anything but wait, if somebody took it over now."""
    if state.run is None:
        return False
    took = Event(seq=state.seq + 1, by=DRIVER, body=DriverTookOver(state.epoch + 1))
    effects = next_effects(apply(state, took), now)
    return any(not isinstance(effect, WaitUntil) or effect.overdue or effect.remind for effect in effects)


async def has_unread(journal: Journal, tree: Iterable[Left]) -> bool:
    """Whether anything stands in an inbox of ``tree`` that no driver has journalled yet."""
    for one in tree:
        if one.entries and await _has_unread(journal, one.session):
            return True
    return False


async def has_news(journal: JournalWithBoard, session: str) -> bool:
    """Whether anything came for a run, or one below it, that whoever left it did not hear any more.

    To be asked once its lock is let go of: what is posted later finds that nobody drives it.
    """
    if await _has_unread(journal, session):
        return True
    children = (await journal.run(session)).children
    return any([await has_news(journal, child) for child in children])


async def _has_unread(journal: Journal, session: str) -> bool:
    return bool(await journal.inbox(session, fold(await journal.read(session)).inbox))
