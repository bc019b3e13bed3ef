"""Damage in the inbox of a session file costs the lines that are damaged, is said with its bytes, and stops no run."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Agent, Author, RunOptions, ScriptedModel, Session, Text
from handrail.journal import events as ev
from handrail.journal.broken import BrokenJournal, DamagedInbox
from handrail.journal.file import FileJournal
from handrail.journal.port import Entry, NoSuchAsk, from_entry, number
from handrail.journal.vocabulary import DRIVER, AskKind, AskOutcome
from handrail.journal.wire import encode_event

from .driver import PERSON, begin, steer

_ENDED = encode_event(ev.Event(seq=9, by=PERSON, body=ev.SessionTitled("x")))
GARBAGE = {
    "words": b"nonsense",
    "nothing": b"",
    "a power cut": b"\x00" * 40,
    "no UTF-8": b"\xff\xfe\x80",
    "other JSON": b"[1,2]",
    "no key": b'{"entry":{}}',
    "no event": b'{"entry":{"seq":2},"key":"k"}',
    "nobody may send it": b'{"entry":%b,"key":"k"}' % _ENDED,
    "half a line": b'{"entry":{"at":null,"body":{"in',
    "too deep": b"[" * 100_000,
}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[FileJournal]:
    made = FileJournal(tmp_path)
    yield made
    made.close()


def posted(folder: Path, *names: str) -> list[int]:
    """Post a steer of each name, as a process of its own would; the numbers they were given."""

    journal = FileJournal(folder)

    async def story() -> list[int]:
        return [(await journal.post("s1", steer(name), PERSON, name)).number for name in names]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamagedInbox)
        numbers = asyncio.run(story())
    journal.close()
    return numbers


def read(journal: FileJournal, after: int = 0) -> tuple[list[str], list[DamagedInbox]]:
    """The keys in the inbox after a number, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        entries = asyncio.run(journal.inbox("s1", after))
    told = [warning.message for warning in caught]
    assert all(isinstance(message, DamagedInbox) for message in told)
    return [entry.key for entry in entries], [message for message in told if isinstance(message, DamagedInbox)]


def written(folder: Path, data: bytes) -> tuple[int, int]:
    """Add ``data`` to the inbox behind everybody's back; where it stands."""
    path = folder / "s1.inbox"
    start = path.stat().st_size if path.exists() else 0
    with path.open("ab") as stream:
        stream.write(data)
    return start, start + len(data)


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_a_line_that_is_no_entry_costs_that_line_and_is_told_with_its_bytes(
    journal: FileJournal, garbage: bytes
) -> None:
    folder = journal.folder
    assert posted(folder, "one") == [1]
    start, _ = written(folder, garbage + b"\n")
    assert posted(folder, "two") == [3]
    before = (folder / "s1.inbox").read_bytes()
    keys, (told,) = read(journal)
    assert (keys, told.start, told.end) == (["one", "two"], start, start + len(garbage))
    assert f"{folder / 's1.inbox'}: bytes {start:,}-{start + len(garbage):,} " in str(told)
    assert read(journal) == (["one", "two"], []), "it was told twice"
    assert (folder / "s1.inbox").read_bytes() == before


def test_a_number_that_a_damaged_line_may_have_had_is_given_to_nobody_else(journal: FileJournal) -> None:
    """The driver may have taken that entry: what had its number again would never be taken."""
    folder = journal.folder
    posted(folder, "one", "two", "three")
    path = folder / "s1.inbox"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((*lines[:2], b"?" * (len(lines[2]) - 1) + b"\n")))
    assert posted(folder, "four") == [4]
    assert read(journal, 3)[0] == ["four"]


def test_an_entry_that_stands_twice_counts_once(journal: FileJournal) -> None:
    posted(journal.folder, "one", "two")
    path = journal.folder / "s1.inbox"
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    keys, (told,) = read(journal)
    assert keys == ["one", "two"]
    assert "it says that it is entry 1, and stands behind entry 2" in str(told)


def test_a_line_without_an_end_is_not_damage_and_counts_once_it_is_whole(journal: FileJournal) -> None:
    folder = journal.folder
    posted(folder, "one", "two")
    path = folder / "s1.inbox"
    whole = path.read_bytes()
    for cut in (1, 2, 30, len(whole.splitlines()[1])):
        path.write_bytes(whole[:-cut])
        assert read(FileJournal(folder)) == (["one"], [])
    assert read(journal) == (["one"], [])
    path.write_bytes(whole)
    assert read(journal) == (["one", "two"], [])


def test_what_a_killed_writer_left_is_cut_away_by_the_next_post_without_a_word(journal: FileJournal) -> None:
    posted(journal.folder, "one")
    written(journal.folder, b'{"entry":{"at":nu')
    assert read(journal) == (["one"], [])
    assert posted(journal.folder, "two") == [2]
    assert read(journal) == (["one", "two"], [])


@pytest.mark.parametrize("way", ["in place", "as another file"])
def test_an_inbox_that_somebody_mended_by_hand_is_read_anew(journal: FileJournal, way: str) -> None:
    folder = journal.folder
    posted(folder, "one")
    written(folder, b"nonsense\n")
    posted(folder, "two")
    read(journal)
    path = folder / "s1.inbox"
    mended = path.read_bytes().replace(b"nonsense\n", b"")
    if way == "in place":
        path.write_bytes(mended)
    else:
        (folder / "copy").write_bytes(mended)
        (folder / "copy").replace(path)
    assert read(journal) == (["one", "two"], [])
    assert posted(folder, "three") == [4]
    assert read(journal, 3) == (["three"], [])


def test_numbers_are_not_given_again_by_who_saw_them_once_the_inbox_is_gone(journal: FileJournal) -> None:
    posted(journal.folder, "one", "two")
    read(journal)
    (journal.folder / "s1.inbox").unlink()
    assert read(journal) == ([], [])
    assert asyncio.run(journal.post("s1", steer("three"), PERSON, "three")).number == 3


def test_an_entry_of_a_later_release_is_not_passed_over(journal: FileJournal) -> None:
    posted(journal.folder, "one")
    later = ev.Event(seq=2, by=PERSON, body=ev.Unknown(type="wished", v=1, fields={}))
    written(journal.folder, b'{"entry":%b,"key":"k"}\n' % encode_event(later))
    with pytest.raises(BrokenJournal, match="wished"):
        asyncio.run(journal.inbox("s1"))


def test_the_same_key_is_posted_once_and_an_answer_is_held_to_its_question_beside_damage(journal: FileJournal) -> None:
    opened = number([ev.AskOpened(ask="q1", kind=AskKind.QUESTION, prompt="Which?")], after=3, by=DRIVER)

    async def story() -> tuple[Entry, Entry]:
        epoch = await journal.take_over("s1")
        await journal.append("s1", 0, epoch, (*begin().events, *opened))
        written(journal.folder, b"nonsense\n")
        answer = ev.AskClosed(ask="q1", outcome=AskOutcome.ANSWERED, words="red")
        with pytest.warns(DamagedInbox):
            first = await journal.post("s1", answer, PERSON, "k1")
        again = await FileJournal(journal.folder).post("s1", answer, PERSON, "k1")
        with pytest.raises(NoSuchAsk):
            await journal.post("s1", ev.AskVoted(ask="q2"), PERSON, "k2")
        await journal.append("s1", 4, epoch, [from_entry(first, after=4)])
        assert (await journal.ask("q1")).status == "closed"
        return first, again

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamagedInbox)
        first, again = asyncio.run(story())
    assert (first.number, again) == (2, first)


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_a_run_is_driven_past_damage_and_hears_what_was_sent_around_it(journal: FileJournal, garbage: bytes) -> None:
    agent = Agent(model=ScriptedModel(["One.", "Two.", "Three.", "Four."]))

    async def story() -> list[str]:
        begun = await agent.run("go", RunOptions(journal=journal))
        session = begun.session.id
        other = FileJournal(journal.folder)
        await other.post(session, steer("before"), PERSON, "before")
        with (journal.folder / f"{session}.inbox").open("ab") as stream:
            stream.write(garbage + b"\n")
        await other.post(session, steer("after"), PERSON, "after")
        other.close()
        result = await agent.run("and on", session=Session(session, journal))
        assert result.end_reason == "answered"
        return [
            block.text
            for message in result.transcript.body
            for block in message.content
            if isinstance(block, Text) and block.author is Author.PERSON
        ]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        said = asyncio.run(story())
    assert [text for text in said if text.startswith("words")] == ["words of before", "words of after"]
    assert {type(warning.message) for warning in caught} == {DamagedInbox}


@given(
    st.lists(
        st.one_of(st.none(), st.binary(max_size=30), st.sampled_from(sorted(GARBAGE.values(), key=len)[:-1])),
        max_size=8,
    )
)
def test_whatever_stands_between_entries_they_are_read_in_order(
    tmp_path_factory: pytest.TempPathFactory, lines: Sequence[bytes | None]
) -> None:
    """None is an entry, everything else a line of somebody else's."""
    folder = tmp_path_factory.mktemp("inbox")
    names: list[str] = []
    numbers: list[int] = []
    for line in lines:
        if line is None:
            names.append(f"n{len(names)}")
            numbers += posted(folder, names[-1])
        else:
            written(folder, line + b"\n")
    assert numbers == sorted(set(numbers))
    journal = FileJournal(folder)
    keys, told = read(journal)
    journal.close()
    assert keys == names
    assert len(told) + len(keys) == sum(1 if line is None else line.count(b"\n") + 1 for line in lines)
