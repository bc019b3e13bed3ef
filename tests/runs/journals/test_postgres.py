"""The journal in PostgreSQL: a server that goes away, others that wake, and what is said when it cannot be used."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator

import psycopg
import pytest

from handrail.errors import MissingExtra, StoreError
from handrail.journal import events as ev
from handrail.journal.port import Wakes, number
from handrail.journal.vocabulary import DRIVER
from handrail.runs.journals import postgres as door
from handrail.runs.journals.database import Transaction
from handrail.runs.journals.postgres import PostgresJournal
from handrail.testing.postgres import PostgresServer, postgres_server
from handrail.testing.tape import ADA, Tape, answer

GUARD_S = 60.0
"""What is waited for comes long before; without it a failure would be a hang."""


@pytest.fixture
def journal(postgres_url: str) -> Iterator[PostgresJournal]:
    made = PostgresJournal(postgres_url)
    yield made
    made.close()


@pytest.fixture
def own_server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """A server that may be stopped: nobody else's."""
    if not postgres.may_restart:
        pytest.skip("the server is not ours to stop")
    with postgres_server() as server:
        assert server is not None
        yield server


def test_a_server_that_is_restarted_in_the_middle_loses_and_doubles_nothing(own_server: PostgresServer) -> None:
    count = 300
    journal = PostgresJournal(own_server.url)
    is_under_way = threading.Event()

    async def story() -> None:
        tape = Tape(journal)
        await tape.begin()
        for index in range(count):
            await tape.add(ev.SessionTitled(str(index)))
            await journal.post("s1", ev.StopRequested(str(index)), ADA, f"k{index}")
            if index == 20:
                is_under_way.set()
        titles = [event.body.title for event in await journal.read("s1") if isinstance(event.body, ev.SessionTitled)]
        assert titles == [str(index) for index in range(count)]
        assert [entry.key for entry in await journal.inbox("s1")] == [f"k{index}" for index in range(count)]

    def restart() -> None:
        for _ in range(3):
            assert is_under_way.wait(GUARD_S)
            own_server.restart()

    restarter = threading.Thread(target=restart)
    restarter.start()
    asyncio.run(story())
    restarter.join()
    journal.close()


def test_a_connection_that_is_cut_while_it_commits_leaves_one_append(
    journal: PostgresJournal, postgres_url: str
) -> None:
    """The work is run again; whether its first attempt was committed is looked up, not guessed."""
    attempts: list[bool] = []

    async def story() -> tuple[ev.Event, ...]:
        from handrail.journal.wire import encode_event
        from handrail.runs.journals import transactions

        tape = Tape(journal)
        await tape.begin()
        events = number([ev.SessionTitled("once")], after=2, by=DRIVER)
        cells = [encode_event(event) for event in events]

        def cut_off(made: Transaction) -> None:
            attempts.append(made.is_again)
            if len(attempts) == 1:
                # Somebody else's hand does what this attempt did and was not told of.
                other = PostgresJournal(postgres_url)
                other.database.write(
                    lambda theirs: transactions.append(theirs, "s1", 2, tape.epoch, events, cells), is_durable=True
                )
                other.close()
                pid = made.run("SELECT pg_backend_pid()")[0][0]
                with psycopg.connect(postgres_url, autocommit=True) as connection:
                    connection.execute("SELECT pg_terminate_backend(%s)", (pid,))
            transactions.append(made, "s1", 2, tape.epoch, events, cells)

        journal.database.write(cut_off, is_durable=True)
        return await journal.read("s1")

    assert [event.seq for event in asyncio.run(story())] == [1, 2, 3]
    assert attempts == [False, True]


def test_a_server_that_stays_away_is_an_error_in_the_end_and_one_that_never_was_at_once(
    own_server: PostgresServer,
) -> None:
    journal = PostgresJournal(own_server.url, patience_s=0.0, connect_s=1.0)
    never = PostgresJournal(own_server.url)
    try:
        asyncio.run(Tape(journal).begin())
        own_server.stop()
        for away in (journal, never):
            with pytest.raises(StoreError, match="PostgreSQL at"):
                asyncio.run(away.read("s1"))
        own_server.start()
        assert len(asyncio.run(journal.read("s1"))) == 2
    finally:
        journal.close()
        never.close()


def test_a_post_of_another_process_wakes_who_listens(journal: PostgresJournal, postgres_url: str) -> None:
    assert isinstance(journal, Wakes)
    post = """
import asyncio, sys
from handrail.journal import events as ev
from handrail.journal.vocabulary import DRIVER
from handrail.runs.journals.postgres import PostgresJournal
journal = PostgresJournal(sys.argv[1])
asyncio.run(journal.post("s1", ev.StopRequested("from afar"), DRIVER, "k"))
journal.close()
"""

    async def story() -> None:
        await Tape(journal).begin()
        with journal.listen("s1") as wait:
            await wait(GUARD_S)
            child = subprocess.Popen([sys.executable, "-c", post, postgres_url])
            async with asyncio.timeout(GUARD_S):
                while not await journal.inbox("s1"):
                    await wait(10 * GUARD_S)
            assert await asyncio.to_thread(child.wait) == 0

    asyncio.run(story())


def test_an_answer_and_its_journalling_wake_who_listens_and_nobody_else(journal: PostgresJournal) -> None:
    async def story() -> None:
        tape = Tape(journal)
        await tape.begin()
        await tape.ask("q1")
        with journal.listen("s1") as wait, journal.listen("s2") as other:
            # The first wait ends when the connection stands: then nothing is missed any more.
            await wait(GUARD_S)
            await other(GUARD_S)
            deaf = asyncio.ensure_future(other(10 * GUARD_S))
            for step in (journal.post("s1", answer("q1"), ADA, "k"), tape.add(answer("q1"), by=ADA, inbox=1)):
                async with asyncio.timeout(GUARD_S):
                    await step
                    await wait(10 * GUARD_S)
            assert not deaf.done()
            deaf.cancel()

    asyncio.run(story())


def test_an_error_names_the_database_and_keeps_its_password() -> None:
    journal = PostgresJournal("postgresql://ada:s3cret@127.0.0.1:9/runs", patience_s=0.0)
    with pytest.raises(StoreError, match=r"PostgreSQL at 127\.0\.0\.1:9/runs") as caught:
        asyncio.run(journal.sessions())
    assert "s3cret" not in str(caught.value)
    journal.close()


def test_a_user_who_may_not_make_a_schema_is_told_what_is_needed(postgres: PostgresServer, postgres_url: str) -> None:
    if not postgres.may_restart:
        pytest.skip("whether a guest may log in is for the server's owner to say")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS handrail_guest")
        connection.execute("CREATE ROLE handrail_guest LOGIN")
    guest = psycopg.conninfo.make_conninfo(postgres_url, user="handrail_guest")
    journal = PostgresJournal(guest)
    try:
        with pytest.raises(StoreError, match="permission denied") as caught:
            asyncio.run(journal.sessions())
        assert caught.value.hint is not None
        assert "make a schema" in caught.value.hint
    finally:
        journal.close()
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            connection.execute("DROP ROLE handrail_guest")


def test_without_its_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra) as caught:
        PostgresJournal("postgresql://localhost/runs")
    assert caught.value.hint == "pip install 'handrail[postgres]'"
