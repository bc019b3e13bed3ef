"""What a look at a growing file hands out, and how it notices that the file is not what it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import StoreError
from handrail.library.tail import PROOF_BYTES, Growth, Restart, Tail


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def write_later(path: Path, data: bytes) -> None:
    """Write ``data`` in place, a second after what was written before."""
    before = path.stat().st_mtime_ns
    path.write_bytes(data)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_line_is_handed_out_once_and_only_when_its_line_feed_is_there(path: Path) -> None:
    path.write_bytes(b"one\ntw")
    tail = Tail(path)
    assert tail.look() == Growth(data=b"one\n", held_bytes=2)
    append(path, b"o")
    assert tail.look() == Growth(held_bytes=3)
    append(path, b"\nthree\n")
    assert tail.look() == Growth(data=b"two\nthree\n")
    assert tail.look() == Growth()


@given(st.lists(st.binary(max_size=40), max_size=12))
def test_what_is_handed_out_is_the_file_up_to_its_last_line_feed_however_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, writes: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("tail") / "session.jsonl"
    path.touch()
    tail = Tail(path)
    found = []
    for data in writes:
        append(path, data)
        found.append(tail.look())
    whole = b"".join(writes)
    assert b"".join(growth.data for growth in found) == whole[: whole.rfind(b"\n") + 1]
    assert [growth.restarted for growth in found] == [None] * len(writes)


def test_a_file_that_is_cut_short_is_read_from_its_beginning_again(path: Path) -> None:
    path.write_bytes(b"one\ntwo\n")
    tail = Tail(path)
    tail.look()
    path.write_bytes(b"one\n")
    assert tail.look() == Growth(data=b"one\n", restarted=Restart.TRUNCATED)
    assert tail.look() == Growth()


def test_losing_only_what_was_held_back_is_no_restart(path: Path) -> None:
    path.write_bytes(b"one\ntorn")
    tail = Tail(path)
    tail.look()
    os.truncate(path, 4)
    assert tail.look() == Growth()


def test_another_file_under_the_same_name_is_read_from_its_beginning(path: Path) -> None:
    path.write_bytes(b"one\n")
    tail = Tail(path)
    tail.look()
    other = path.with_suffix(".new")
    other.write_bytes(b"one\ntwo\n")
    other.replace(path)
    assert tail.look() == Growth(data=b"one\ntwo\n", restarted=Restart.REPLACED)


@pytest.mark.parametrize("place", [0, PROOF_BYTES * 2, PROOF_BYTES * 4 - 2])
def test_a_file_written_anew_at_the_same_length_is_noticed_wherever_it_differs(path: Path, place: int) -> None:
    before = b"x" * (PROOF_BYTES * 4 - 1) + b"\n"
    path.write_bytes(before)
    tail = Tail(path)
    tail.look()
    after = before[:place] + b"y" + before[place + 1 :]
    write_later(path, after)
    assert tail.look() == Growth(data=after, restarted=Restart.REWRITTEN)


@pytest.mark.parametrize("place", [0, PROOF_BYTES * 4 - 2])
def test_a_file_written_anew_and_longer_is_noticed_at_both_ends_of_what_it_held(path: Path, place: int) -> None:
    before = b"x" * (PROOF_BYTES * 4 - 1) + b"\n"
    path.write_bytes(before)
    tail = Tail(path)
    tail.look()
    after = before[:place] + b"y" + before[place + 1 :] + b"more\n"
    write_later(path, after)
    assert tail.look() == Growth(data=after, restarted=Restart.REWRITTEN)


def test_a_file_that_is_only_touched_is_the_same_file(path: Path) -> None:
    path.write_bytes(b"one\n")
    tail = Tail(path)
    tail.look()
    write_later(path, b"one\n")
    assert tail.look() == Growth()


def test_a_file_may_go_and_come_back(path: Path) -> None:
    path.write_bytes(b"one\n")
    tail = Tail(path)
    tail.look()
    aside = path.with_suffix(".aside")
    path.rename(aside)
    assert tail.look() == Growth(is_missing=True)
    aside.rename(path)
    append(path, b"two\n")
    assert tail.look() == Growth(data=b"two\n")


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", tmp_path):
        with pytest.raises(StoreError, match="no plain file"):
            Tail(name).look()
