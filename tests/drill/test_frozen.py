"""A process that is frozen in the middle of a transaction does not keep its session from others for ever."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

from handrail.journal import events as ev
from handrail.journal.port import StaleEpoch, number
from handrail.journal.vocabulary import DRIVER
from handrail.journal.wire import encode_event
from handrail.runs.journals import transactions
from handrail.runs.journals.database import Transaction
from handrail.runs.journals.postgres import PostgresJournal
from handrail.testing.contracts.journal import OPENING, SESSION
from handrail.testing.drill import children

PATIENCE_S = 60.0


def test_a_server_takes_its_locks_from_a_frozen_process(postgres_url: str, tmp_path: Path) -> None:
    epoch = asyncio.run(_begin(postgres_url))
    child = children.fork("frozen", tmp_path, lambda: _freeze_in_a_transaction(postgres_url, epoch))
    ends = []
    try:
        ends.append(_end_of(child))
        assert asyncio.run(_take_over(postgres_url)) == epoch + 1
        children.wake(child)
        ends.append(_end_of(child))
    finally:
        if "failed" not in ends:
            children.kill(child)
    assert ends == ["stopped", "failed"]
    assert StaleEpoch.__name__ in child.raised
    assert asyncio.run(_read(postgres_url)) == OPENING


def _end_of(child: children.Child) -> children.End | None:
    ended = children.wait((child,), PATIENCE_S)
    return None if ended is None else ended.end


def _freeze_in_a_transaction(url: str, epoch: int) -> None:
    """Append something, and stand still before it is committed."""
    events = number([ev.SessionTitled("late")], after=len(OPENING), by=DRIVER)

    def append_and_freeze(transaction: Transaction) -> None:
        cells = [encode_event(event) for event in events]
        transactions.append(transaction, SESSION, len(OPENING), epoch, events, cells)
        os.kill(os.getpid(), signal.SIGSTOP)

    with contextlib.closing(PostgresJournal(url)) as journal:
        journal.database.write(append_and_freeze, is_durable=True)


async def _begin(url: str) -> int:
    with contextlib.closing(PostgresJournal(url)) as journal:
        epoch = await journal.take_over(SESSION)
        await journal.append(SESSION, 0, epoch, OPENING)
        return epoch


async def _take_over(url: str) -> int:
    with contextlib.closing(PostgresJournal(url)) as journal:
        return await journal.take_over(SESSION)


async def _read(url: str) -> tuple[ev.Event, ...]:
    with contextlib.closing(PostgresJournal(url)) as journal:
        return await journal.read(SESSION)
