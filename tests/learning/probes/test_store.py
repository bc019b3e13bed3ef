"""The ledger on disk."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handrail.errors import StoreError
from handrail.learning.probes.ledger import Arm, ProbeRow
from handrail.learning.probes.store import LedgerStore


def _row(moment: str, repeat: int = 0) -> ProbeRow:
    return ProbeRow(
        moment=moment,
        rule="r1",
        words="w",
        repeat=repeat,
        control=Arm.FAILED,
        treatment=Arm.PASSED,
        trigger="steer",
        model="m",
    )


def test_looking_at_a_ledger_that_is_not_there_creates_nothing(tmp_path: Path) -> None:
    assert LedgerStore(tmp_path / "learning").load().rows == ()
    assert list(tmp_path.iterdir()) == []


def test_adding_nothing_creates_nothing(tmp_path: Path) -> None:
    LedgerStore(tmp_path / "learning").add(())

    assert list(tmp_path.iterdir()) == []


def test_what_was_added_stands_there_for_its_owner_only(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path / "learning")
    store.add([_row("a")])
    store.add([_row("b")])

    assert [row.moment for row in store.load().rows] == ["a", "b"]
    assert stat.S_IMODE(store.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700


def test_a_line_that_was_torn_costs_itself_and_keeps_its_bytes(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path)
    store.add([_row("a")])
    torn = b'{"moment":"b","rule":'
    store.file.write_bytes(store.file.read_bytes() + torn)

    store.add([_row("c")])

    read = store.load()
    assert [row.moment for row in read.rows] == ["a", "c"]
    assert read.bad == (2,)
    assert torn in store.file.read_bytes()


def test_two_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: LedgerStore(tmp_path).add([_row("m", n)]), range(40)))

    assert sorted(row.repeat for row in LedgerStore(tmp_path).load().rows) == list(range(40))


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "learning").write_bytes(b"a file stands where the folder should")

    with pytest.raises(StoreError):
        LedgerStore(tmp_path / "learning").add([_row("a")])
