"""Tables of other releases: older ones are brought up with nothing lost, newer ones are left alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail.runs.journals import schema
from handrail.runs.journals.database import NewerSchema, Transaction
from handrail.runs.journals.journal import SqlJournal
from handrail.testing.tape import ADA, Tape, answer

from .conftest import Open


async def _written(journal: SqlJournal) -> None:
    top, child = Tape(journal, "top"), Tape(journal, "child")
    await top.begin()
    await top.ask("q1", quorum=2)
    await child.begin("top")
    await child.ask("q2")
    await child.ask("q3")
    await child.add(answer("q3"))
    await top.ask("q4")
    await journal.post("child", answer("q2"), ADA, "k")


async def _shown(journal: SqlJournal) -> tuple[Any, ...]:
    events = [await journal.read(session) for session in await journal.sessions()]
    return await journal.asks(is_open=None), await journal.runs(), events, await journal.inbox("child")


def _made_as_of(version: int) -> tuple[str, ...]:
    """What takes the tables back to ``version``."""
    columns = tuple(f"ALTER TABLE sessions DROP COLUMN {column}" for column in ("root", "status", "run"))
    undone = {
        2: ("DROP TABLE outbox",),
        1: ("DROP TABLE asks", "DROP INDEX sessions_by_status", *columns),
    }
    steps = [statement for back, made in undone.items() if back >= version for statement in made]
    return (*steps, f"UPDATE schema_version SET version = {version}")


@pytest.mark.parametrize("version", range(1, schema.VERSION))
def test_a_database_of_an_older_release_is_brought_up_and_shows_the_same(open_journal: Open, version: int) -> None:
    def go_back(transaction: Transaction) -> None:
        for statement in _made_as_of(version):
            transaction.run(statement)

    async def story() -> None:
        journal = open_journal()
        await _written(journal)
        shown = await _shown(journal)
        journal.database.write(go_back, is_durable=True)
        journal.close()
        again = open_journal()
        assert await _shown(again) == shown
        assert again.database.read(schema.version_of) == schema.VERSION
        await again.post("top", answer("q4"), ADA, "k")

    asyncio.run(story())


def test_a_database_of_a_newer_release_is_left_alone(open_journal: Open) -> None:
    def go_on(transaction: Transaction) -> None:
        transaction.run("UPDATE schema_version SET version = :version", version=schema.VERSION + 1)

    async def story() -> None:
        journal = open_journal()
        await _written(journal)
        journal.database.write(go_on, is_durable=True)
        journal.close()
        for _ in range(2):
            with pytest.raises(NewerSchema, match="later release"):
                await open_journal().sessions()

    asyncio.run(story())


def test_the_board_made_anew_is_the_board_that_was_kept(open_journal: Open) -> None:
    async def story() -> None:
        journal = open_journal()
        await _written(journal)
        kept = await _shown(journal)
        await journal.rebuild_board()
        assert await _shown(journal) == kept

    asyncio.run(story())
