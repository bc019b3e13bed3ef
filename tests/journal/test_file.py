"""The journal in files: private, readable by every command, and whole whenever its process dies."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail import find_interventions, harness
from handrail.errors import StoreError, UnsafeId
from handrail.harnesses.handrail.store import open_store
from handrail.journal import events as ev
from handrail.journal.broken import BrokenJournal
from handrail.journal.file import HEAD, INBOX, JOURNAL, MAX_OPEN, FileJournal
from handrail.journal.port import number
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind
from handrail.journal.wire import encode_event
from handrail.transcripts.model import Author, Text

from .driver import PERSON, begin, reply, steer


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[FileJournal]:
    made = FileJournal(tmp_path)
    yield made
    made.close()


async def _begun(journal: FileJournal) -> int:
    epoch = await journal.take_over("s1")
    await journal.append("s1", 0, epoch, begin().events)
    return epoch


def test_its_files_are_the_owners_alone(journal: FileJournal) -> None:
    async def story() -> None:
        await _begun(journal)
        await journal.post("s1", steer("i1"), PERSON, "k1")

    asyncio.run(story())
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in journal.folder.iterdir()}
    assert modes == {f"s1{suffix}": 0o600 for suffix in (JOURNAL, HEAD, INBOX)}


def test_a_line_is_the_canonical_bytes_of_an_event(journal: FileJournal) -> None:
    asyncio.run(_begun(journal))
    lines = (journal.folder / "s1.jsonl").read_bytes().splitlines()
    assert lines == [encode_event(event) for event in begin().events]


def test_what_it_holds_is_a_session_of_the_handrail_harness(journal: FileJournal) -> None:
    async def story() -> None:
        epoch = await _begun(journal)
        tape = begin().add(ev.ModelRequested(request=1, round=1), reply())
        await journal.append("s1", 3, epoch, tape.events[3:])

    asyncio.run(story())
    store = open_store(journal.folder)
    refs = list(store.discover())
    assert [ref.id for ref in refs] == ["s1"]
    common = harness("handrail").codec.to_common(store.load(refs[0]))
    assert [message.role for message in common.body] == ["user", "assistant"]
    assert find_interventions(common) == ()


@pytest.mark.parametrize("cut", [1, 20])
def test_an_append_that_was_cut_off_is_not_there_and_is_cut_away(journal: FileJournal, cut: int) -> None:
    path = journal.folder / "s1.jsonl"

    async def story() -> None:
        epoch = await _begun(journal)
        kept = path.read_bytes()
        title = number([ev.SessionTitled("lost"), ev.SessionTitled("lost too")], after=3, by=DRIVER)
        torn = b"".join(encode_event(event) + b"\n" for event in title)
        path.write_bytes(kept + torn[:-cut])
        assert len(await journal.read("s1")) == 3
        again = number([ev.SessionTitled("kept")], after=3, by=DRIVER)
        await journal.append("s1", 3, epoch, again)
        assert path.read_bytes() == kept + encode_event(again[0]) + b"\n"

    asyncio.run(story())


def test_bytes_that_a_power_cut_took_are_missed_and_the_rest_is_read(journal: FileJournal) -> None:
    async def story() -> int:
        await _begun(journal)
        path = journal.folder / "s1.jsonl"
        path.write_bytes(path.read_bytes()[:-10])
        return len(await FileJournal(journal.folder).read("s1"))

    assert asyncio.run(story()) == 2


def test_a_journal_that_came_without_its_head_is_read_and_gone_on_with(journal: FileJournal, tmp_path: Path) -> None:
    async def story() -> int:
        (tmp_path / "s1.jsonl").write_bytes(b"".join(encode_event(event) + b"\n" for event in begin().events))
        epoch = await journal.take_over("s1")
        await journal.append("s1", 3, epoch, number([ev.SessionTitled("x")], after=3, by=DRIVER))
        return len(await journal.read("s1"))

    assert asyncio.run(story()) == 4


def test_a_post_that_was_cut_off_is_cut_away(journal: FileJournal) -> None:
    async def story() -> list[str]:
        await journal.post("s1", steer("one"), PERSON, "k1")
        path = journal.folder / "s1.inbox"
        path.write_bytes(path.read_bytes() + b'{"entry":{"at":nu')
        other = FileJournal(journal.folder)
        await other.post("s1", steer("two"), PERSON, "k2")
        other.close()
        return [entry.key for entry in await journal.inbox("s1")]

    assert asyncio.run(story()) == ["k1", "k2"]


def test_a_line_that_is_no_event_is_damage_and_named(journal: FileJournal) -> None:
    async def story() -> None:
        (journal.folder / "s1.jsonl").write_bytes(b"nonsense\n")
        await journal.read("s1")

    with pytest.raises(BrokenJournal, match=r"s1\.jsonl"):
        asyncio.run(story())


@pytest.mark.parametrize("way", ["replaced", "removed"])
def test_a_journal_that_is_replaced_while_it_is_driven_is_not_written_to_unseen(tmp_path: Path, way: str) -> None:
    path = tmp_path / f"s1{JOURNAL}"

    async def story() -> tuple[int, list[str]]:
        journal = FileJournal(tmp_path)
        epoch = await _begun(journal)
        events = begin().events
        copy = tmp_path / "copy"
        copy.write_bytes(path.read_bytes())
        if way == "replaced":
            copy.replace(path)
        else:
            path.unlink()
        more = number([ev.SessionTitled("x")], after=len(events), by=DRIVER)
        with pytest.raises(StoreError, match="replaced or removed"):
            await journal.append("s1", len(events), epoch, more)
        seen = len(await journal.read("s1"))
        if way == "replaced":
            await journal.append("s1", len(events), await journal.take_over("s1"), more)
        kinds = [type(event.body).__name__ for event in await FileJournal(tmp_path).read("s1")]
        journal.close()
        return seen, kinds[-1:]

    seen, last = asyncio.run(story())
    assert (seen, last) == ((len(begin().events), ["SessionTitled"]) if way == "replaced" else (0, []))


def _count_open(folder: Path) -> int:
    """How many files of ``folder`` this process has open."""
    return sum(
        1 for link in Path("/proc/self/fd").iterdir() if link.exists() and link.resolve().parent == folder.resolve()
    )


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this machine does not list what is open")
def test_more_sessions_than_files_may_be_open_are_all_gone_on_with(journal: FileJournal) -> None:
    names = [f"s{number}" for number in range(MAX_OPEN + 5)]
    begun = begin().events
    more = number([ev.SessionTitled("x")], after=len(begun), by=DRIVER)

    async def story() -> list[int]:
        epochs = {name: await journal.take_over(name) for name in names}
        for name in names:
            await journal.append(name, 0, epochs[name], begun)
        for name in names:
            await journal.append(name, len(begun), epochs[name], more)
        assert _count_open(journal.folder) <= 2 * MAX_OPEN
        return [len(await journal.read(name)) for name in names]

    assert set(asyncio.run(story())) == {len(begun) + 1}


def test_a_journal_that_is_replaced_while_its_files_are_closed_is_noticed_as_well(journal: FileJournal) -> None:
    begun = begin().events
    path = journal.folder / f"s1{JOURNAL}"

    async def story() -> None:
        epoch = await _begun(journal)
        for index in range(MAX_OPEN):
            await journal.take_over(f"other{index}")
        copy = journal.folder / "copy"
        copy.write_bytes(path.read_bytes())
        copy.replace(path)
        with pytest.raises(StoreError, match="replaced or removed"):
            await journal.append("s1", len(begun), epoch, number([ev.SessionTitled("x")], after=len(begun), by=DRIVER))

    asyncio.run(story())


@pytest.mark.parametrize("name", ["../s1", "", "a/b", ".."])
def test_an_id_never_leads_out_of_the_folder(journal: FileJournal, name: str) -> None:
    with pytest.raises(UnsafeId):
        asyncio.run(journal.take_over(name))


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        asyncio.run(FileJournal(tmp_path / "file").take_over("s1"))


_KILLED = """
import asyncio, os, sys
from pathlib import Path
from handrail.journal import events as ev
from handrail.journal.file import FileJournal
from handrail.journal.port import number
from handrail.journal.vocabulary import DRIVER
from handrail.transcripts.model import Meta

async def story():
    journal = FileJournal(Path(sys.argv[1]))
    epoch = await journal.take_over("s1")
    await journal.append("s1", 0, epoch, number([ev.SessionOpened(Meta(id="s1"))], after=0, by=DRIVER))
    seq = 1
    while True:
        pair = [ev.SessionTitled("a" * 5000), ev.SessionTitled("b" * 5000)]
        await journal.append("s1", seq, epoch, number(pair, after=seq, by=DRIVER))
        seq += 2
        if seq == 41:
            print("ready", flush=True)

asyncio.run(story())
"""


def test_a_process_that_is_killed_while_it_writes_leaves_whole_appends(journal: FileJournal) -> None:
    child = subprocess.Popen([sys.executable, "-c", _KILLED, str(journal.folder)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()

    async def story() -> int:
        count = len(await journal.read("s1"))
        epoch = await journal.take_over("s1")
        await journal.append("s1", count, epoch, number([ev.SessionTitled("x")], after=count, by=DRIVER))
        return count

    count = asyncio.run(story())
    assert count >= 41
    assert count % 2 == 1


def test_words_of_a_person_come_back_as_theirs(journal: FileJournal) -> None:
    async def story() -> object:
        await journal.post("s1", steer("i1"), Actor(ActorKind.PERSON, "Ada"), "k1")
        return (await FileJournal(journal.folder).inbox("s1"))[0].body

    body = asyncio.run(story())
    assert isinstance(body, ev.InputReceived)
    assert body.content == (Text("words of i1", Author.PERSON),)


def test_a_session_that_is_deleted_leaves_nothing_behind(journal: FileJournal) -> None:
    async def story() -> None:
        await _begun(journal)
        await journal.post("s1", steer("i1"), PERSON, "k1")

    asyncio.run(story())
    store = open_store(journal.folder)
    store.delete(next(iter(store.discover())))
    assert list(journal.folder.iterdir()) == []
