"""The journal in SQLite when things go wrong: private, whole whenever its process dies, clear about what is amiss."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import StoreError, UnsafeId
from handrail.journal import events as ev
from handrail.journal.broken import BrokenJournal
from handrail.journal.port import number
from handrail.journal.vocabulary import DRIVER
from handrail.journal.wire import encode_event
from handrail.runs.journals.database import Done, Transaction, Value
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.runs.journals.sqlite_database import SqliteDatabase
from handrail.testing.tape import ADA, Tape, answer


def test_its_files_are_the_owners_alone(sqlite_journal: SqliteJournal) -> None:
    async def story() -> None:
        tape = Tape(sqlite_journal)
        await tape.begin()

    old = os.umask(0)
    try:
        asyncio.run(story())
    finally:
        os.umask(old)
    folder = sqlite_journal.path.parent
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    name = sqlite_journal.path.name
    assert modes == {name + suffix: 0o600 for suffix in ("", "-wal", "-shm", ".lock")}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_row_holds_the_canonical_bytes_of_an_event(sqlite_journal: SqliteJournal) -> None:
    async def story() -> list[bytes]:
        await Tape(sqlite_journal).begin()
        return [encode_event(event) for event in await sqlite_journal.read("s1")]

    canonical = asyncio.run(story())
    with sqlite3.connect(sqlite_journal.path) as connection:
        found = connection.execute("SELECT event FROM events ORDER BY seq").fetchall()
    connection.close()
    assert [cell for (cell,) in found] == canonical


def test_what_people_said_and_what_tools_did_is_synced_and_the_rest_is_not(tmp_path: Path) -> None:
    synced: list[bool] = []

    class Watched(SqliteDatabase):
        def write(self, work: Callable[[Any], Value], *, is_durable: bool) -> Value:
            synced.append(is_durable)
            return super().write(work, is_durable=is_durable)

        def at_once(self, work: Callable[[Any], Value], *, writes: bool) -> Done[Value] | None:
            done = super().at_once(work, writes=writes)
            if writes and done is not None:
                synced.append(False)
            return done

    journal = SqliteJournal(tmp_path / "journal.sqlite")
    journal.database = Watched(journal.path)

    async def story() -> None:
        tape = Tape(journal)
        await tape.begin()
        synced.clear()
        await tape.add(ev.SessionTitled("trace"))
        await tape.ask("q1")
        await journal.post("s1", answer("q1"), ADA, "k")
        await tape.add(ev.ToolStarted(call="c1"))
        await tape.add(ev.ToolFinished(call="c1"))

    asyncio.run(story())
    journal.close()
    assert synced == [False, True, True, True, True]


@pytest.mark.parametrize(("is_durable", "level"), [(True, 2), (False, 1)])
def test_a_transaction_is_as_durable_as_it_was_wanted(tmp_path: Path, is_durable: bool, level: int) -> None:
    database = SqliteDatabase(tmp_path / "journal.sqlite")
    for wanted in (not is_durable, is_durable):
        found = database.write(lambda made: made.run("PRAGMA synchronous"), is_durable=wanted)
    assert found == [(level,)]
    at_once = database.at_once(lambda made: made.run("PRAGMA synchronous"), writes=True)
    assert at_once == ([(1,)],)
    database.close()


def test_a_file_that_is_no_database_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"these are not the bytes of a database" * 200)
    journal = SqliteJournal(path)
    with pytest.raises(StoreError, match=r"journal\.sqlite") as caught:
        asyncio.run(journal.sessions())
    assert caught.value.hint is not None
    assert "no SQLite database" in caught.value.hint
    journal.close()


def test_a_damaged_database_is_said_to_be_damaged_and_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    journal = SqliteJournal(path)

    async def write() -> None:
        tape = Tape(journal)
        await tape.begin()
        for index in range(200):
            await tape.add(ev.SessionTitled(f"{index}" * 200))

    asyncio.run(write())
    journal.close()
    data = bytearray(path.read_bytes())
    # Every page but the first, which says what tables there are.
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    damaged = SqliteJournal(path)
    for work in (damaged.read("s1"), damaged.take_over("s1"), damaged.asks()):
        with pytest.raises(StoreError, match=r"journal\.sqlite"):
            asyncio.run(work)
    damaged.close()
    assert path.read_bytes() == bytes(data)


def test_a_row_that_is_no_event_is_damage_and_named(sqlite_journal: SqliteJournal) -> None:
    asyncio.run(Tape(sqlite_journal).begin())
    sqlite_journal.database.write(lambda made: made.run("UPDATE events SET event = x'00'"), is_durable=True)
    with pytest.raises(BrokenJournal, match="session s1"):
        asyncio.run(sqlite_journal.read("s1"))


@pytest.mark.parametrize("name", ["../s1", "", "a/b", "..", "a\x00b", "\ud800"])
def test_an_id_is_checked_as_in_any_journal(sqlite_journal: SqliteJournal, name: str) -> None:
    async def story() -> None:
        with pytest.raises(UnsafeId):
            await sqlite_journal.take_over(name)
        with pytest.raises(UnsafeId):
            await sqlite_journal.post(name, ev.StopRequested(), ADA, "k")

    asyncio.run(story())


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    journal = SqliteJournal(tmp_path / "file" / "journal.sqlite")
    with pytest.raises(StoreError):
        asyncio.run(journal.sessions())
    journal.close()


def test_what_a_transaction_did_before_it_failed_is_undone(sqlite_journal: SqliteJournal) -> None:
    def half(transaction: Transaction) -> None:
        transaction.run("DELETE FROM events")
        raise ValueError("halfway")

    async def story() -> int:
        await Tape(sqlite_journal).begin()
        with pytest.raises(ValueError, match="halfway"):
            sqlite_journal.database.write(half, is_durable=True)
        return len(await sqlite_journal.read("s1"))

    assert asyncio.run(story()) == 2


def test_an_append_whose_outcome_nobody_heard_is_not_doubled(sqlite_journal: SqliteJournal) -> None:
    """Row of the database that lost its connection while it committed."""
    from handrail.runs.journals import transactions

    class Again:
        """The transaction of a further attempt."""

        is_again = True

        def __init__(self, made: Transaction) -> None:
            self.run, self.run_locked, self.run_many, self.announce = (
                made.run,
                made.run_locked,
                made.run_many,
                made.announce,
            )

    async def story() -> tuple[ev.Event, ...]:
        tape = Tape(sqlite_journal)
        await tape.begin()
        events = number([ev.SessionTitled("once")], after=2, by=DRIVER)
        cells = [encode_event(event) for event in events]
        for _ in range(3):
            sqlite_journal.database.write(
                lambda made: transactions.append(Again(made), "s1", 2, tape.epoch, events, cells), is_durable=True
            )
        return await sqlite_journal.read("s1")

    assert [event.seq for event in asyncio.run(story())] == [1, 2, 3]


# Processes --------------------------------------------------------------------------------------------------

_PREAMBLE = """
import asyncio, os, sys, signal
from pathlib import Path
from handrail.journal import events as ev
from handrail.journal.port import number
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.transcripts.model import Author, Meta, Text

journal = SqliteJournal(Path(sys.argv[1]))

async def begun():
    epoch = await journal.take_over("s1")
    opened = [ev.SessionOpened(Meta(id="s1")), ev.RunStarted(run="r1")]
    await journal.append("s1", 0, epoch, number(opened, after=0, by=DRIVER))
    return epoch
"""


def _child(script: str, path: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _PREAMBLE + script, str(path), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _line(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout is not None
    return child.stdout.readline()


def _end(child: subprocess.Popen[bytes]) -> tuple[int, str]:
    out, err = child.communicate()
    return child.returncode, (out + err).decode()


_ENDLESS = """
async def story():
    epoch, seq = await begun(), 2
    while True:
        pair = [ev.AskOpened(ask=f"q{seq}", kind=AskKind.QUESTION, prompt="x" * 3000), ev.SessionTitled("y" * 3000)]
        await journal.append("s1", seq, epoch, number(pair, after=seq, by=DRIVER))
        seq += 2
        if seq == int(sys.argv[2]):
            print("ready", flush=True)

asyncio.run(story())
"""


@pytest.mark.parametrize("seq", [4, 20, 60])
def test_a_process_that_is_killed_while_it_writes_leaves_whole_appends(sqlite_journal: SqliteJournal, seq: int) -> None:
    child = _child(_ENDLESS, sqlite_journal.path, str(seq))
    assert _line(child) == b"ready\n"
    os.kill(child.pid, signal.SIGKILL)
    _end(child)

    async def story() -> None:
        events = await sqlite_journal.read("s1")
        assert len(events) >= seq
        assert len(events) % 2 == 0, "half an append is there"
        asks = await sqlite_journal.asks(limit=10_000)
        assert [row.seq for row in asks] == [event.seq for event in events if isinstance(event.body, ev.AskOpened)]
        epoch = await sqlite_journal.take_over("s1")
        title = number([ev.SessionTitled("on")], after=len(events), by=DRIVER)
        await sqlite_journal.append("s1", len(events), epoch, title)

    asyncio.run(story())


_KILLED_INSIDE = """
def half(transaction):
    transaction.run("UPDATE sessions SET seq = 99, epoch = 99")
    transaction.run("DELETE FROM events")
    os.kill(os.getpid(), signal.SIGKILL)

async def story():
    await begun()
    journal.database.write(half, is_durable=True)

asyncio.run(story())
"""


def test_a_process_that_is_killed_inside_a_transaction_changed_nothing(sqlite_journal: SqliteJournal) -> None:
    child = _child(_KILLED_INSIDE, sqlite_journal.path)
    code, told = _end(child)
    assert code == -signal.SIGKILL, told

    async def story() -> tuple[int, int]:
        return len(await sqlite_journal.read("s1")), await sqlite_journal.take_over("s1")

    assert asyncio.run(story()) == (2, 2)


_FULL = """
import resource
from handrail.errors import StoreError

async def story():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    epoch, seq = await begun(), 2
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        while True:
            title = number([ev.SessionTitled("x" * 5000)], after=seq, by=DRIVER)
            await journal.append("s1", seq, epoch, title)
            seq += 1
    except StoreError as problem:
        print("full:", problem)
    try:
        await journal.post("s1", ev.StopRequested(), DRIVER, "k" * 100_000)
    except StoreError:
        print("still full")
    assert len(await journal.read("s1")) == seq
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await journal.append("s1", seq, epoch, title)
    print("kept", seq + 1, (await journal.run("s1")).title == "x" * 5000)

asyncio.run(story())
journal.close()
"""


def test_a_full_disk_loses_nothing_and_is_gone_on_with_once_there_is_room(sqlite_journal: SqliteJournal) -> None:
    code, told = _end(_child(_FULL, sqlite_journal.path))
    assert code == 0, told
    assert told.startswith("full: the journal"), told
    kept = int(told.rsplit("kept ", 1)[1].split()[0])
    assert told.endswith("True\n")
    assert len(asyncio.run(sqlite_journal.read("s1"))) == kept > 3


_POSTING = """
async def story():
    who = Actor(ActorKind.PERSON, sys.argv[2])
    for index in range(60):
        text = Text(f"{sys.argv[2]} {index}", Author.PERSON)
        entry = ev.InputReceived(input=f"{sys.argv[2]}{index}", via="steer", content=(text,))
        await journal.post("s1", entry, who, f"{sys.argv[2]}{index}")

asyncio.run(story())
journal.close()
"""


def test_processes_that_post_and_append_at_once_lose_nothing(sqlite_journal: SqliteJournal) -> None:
    """None of them has made the file yet: they do it at once, too."""
    names = ["Ada", "Bo"]
    children = [_child(_POSTING, sqlite_journal.path, name) for name in names]

    async def story() -> None:
        tape = Tape(sqlite_journal)
        await tape.begin()
        while any(child.poll() is None for child in children):
            await tape.add(ev.SessionTitled("meanwhile"))
        assert [_end(child) for child in children] == [(0, ""), (0, "")]
        entries = await sqlite_journal.inbox("s1")
        assert [entry.number for entry in entries] == list(range(1, 121))
        for name in names:
            assert [entry.key for entry in entries if entry.by.name == name] == [f"{name}{i}" for i in range(60)]
        assert [event.seq for event in await sqlite_journal.read("s1")] == list(range(1, tape.seq + 1))

    asyncio.run(story())


def test_a_journal_that_is_opened_again_in_one_process_takes_no_lock_from_the_first(
    sqlite_journal: SqliteJournal,
) -> None:
    """A process loses its locks on a file with the first handle on it that it closes, whoever had taken them.

    Another process would then take itself for the last to leave, and clear away a log that is in use.
    """

    async def story() -> None:
        await Tape(sqlite_journal).begin()
        with closing(SqliteJournal(sqlite_journal.path)) as again:
            await again.read("s1")
        assert _end(_child(_POSTING, sqlite_journal.path, "Ada")) == (0, "")
        assert len(await sqlite_journal.inbox("s1")) == 60

    log = sqlite_journal.path.with_name(sqlite_journal.path.name + "-wal")
    asyncio.run(story())
    assert log.exists()


def test_a_writer_waits_for_its_turn_and_says_when_it_never_comes(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    first, impatient = SqliteDatabase(path), SqliteDatabase(path, busy_s=0.0)
    is_inside, may_end = threading.Event(), threading.Event()

    def long(transaction: Transaction) -> None:
        transaction.run("INSERT INTO sessions (session) VALUES ('s1')")
        is_inside.set()
        assert may_end.wait(60)

    impatient.read(lambda made: None)
    writer = threading.Thread(target=lambda: first.write(long, is_durable=True))
    writer.start()
    assert is_inside.wait(60)
    try:
        with pytest.raises(StoreError, match="locked") as caught:
            impatient.write(lambda made: None, is_durable=True)
        assert impatient.at_once(lambda made: made.run("DELETE FROM events"), writes=True) is None
        assert caught.value.hint is not None
        assert impatient.read(lambda made: made.run("SELECT count(*) FROM sessions")) == [(0,)]
    finally:
        may_end.set()
        writer.join()
    assert impatient.read(lambda made: made.run("SELECT count(*) FROM sessions")) == [(1,)]
    first.close()
    impatient.close()


def test_it_serves_one_loop_after_another_and_several_threads(sqlite_journal: SqliteJournal) -> None:
    def run(name: str) -> None:
        asyncio.run(Tape(sqlite_journal, name).begin())

    threads = [threading.Thread(target=run, args=(f"s{index}",)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(asyncio.run(sqlite_journal.sessions())) == [f"s{index}" for index in range(6)]
