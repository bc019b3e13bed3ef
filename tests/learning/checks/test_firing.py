"""What checks did, on record: rows that are added to, and the last call of a host."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from handrail.learning.checks.firing import (
    FORGOTTEN_AFTER,
    FRESH,
    MAX_BYTES,
    Firing,
    FiringStore,
    Installed,
    LastFired,
    lets_pass,
)
from handrail.learning.checks.force import MAX_REFUSALS

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def _row(rule: str = "r1", session: str = "s", did: str = "refused", at: datetime = NOW, what: str = "") -> Firing:
    return Firing(at=at, host="codex", event="PreToolUse", session=session, did=did, rule=rule, what=what)  # type: ignore[arg-type]


def _add(store: FiringStore, *rows: Firing) -> None:
    store.add(lambda _: rows)


def _last(at: datetime = NOW, **more: str) -> LastFired:
    return LastFired(**{"at": at, "host": "codex", "event": "Stop", "session": "s", "version": "1", **more})  # type: ignore[arg-type]


def test_rows_are_kept_private_and_in_order(tmp_path: Path) -> None:
    store = FiringStore(tmp_path)

    _add(store, _row("a"))
    _add(store, _row("b"))

    assert [row.rule for row in store.rows()] == ["a", "b"]
    assert stat.S_IMODE(store.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700


def test_a_torn_row_costs_that_row(tmp_path: Path) -> None:
    store = FiringStore(tmp_path)
    _add(store, _row("a"))
    with store.file.open("ab") as stream:
        stream.write(b'{"at":"2026-05-01T12:0')

    _add(store, _row("b"))

    assert [row.rule for row in store.rows()] == ["a", "b"]


def test_looking_creates_nothing(tmp_path: Path) -> None:
    store = FiringStore(tmp_path)

    assert (store.rows(), store.last("codex", "Stop"), store.installed("codex")) == ((), None, None)
    assert list(tmp_path.iterdir()) == []


def test_the_older_half_goes_before_the_rows_grow_too_long(tmp_path: Path) -> None:
    store = FiringStore(tmp_path)
    filler = "x" * 1000
    count = MAX_BYTES // 1000 + 50

    _add(store, *(_row(f"r{number}", what=filler) for number in range(count - 1)))
    _add(store, _row("newest"))

    rules = [row.rule for row in store.rows()]
    assert rules[-1] == "newest"
    assert 0 < len(rules) < count
    assert store.file.stat().st_size <= MAX_BYTES


def test_a_rule_lets_pass_after_so_many_refusals_in_a_session() -> None:
    others = [_row("other"), _row(session="another"), _row(did="noted")]
    rows = [*others, *(_row() for _ in range(MAX_REFUSALS - 1))]
    assert not lets_pass(rows, "s", "r1", NOW)

    rows.append(_row())

    assert lets_pass(rows, "s", "r1", NOW)
    assert not lets_pass(rows, "s", "r1", NOW + FORGOTTEN_AFTER + timedelta(seconds=1))


def test_what_is_made_of_the_rows_is_made_while_nobody_adds(tmp_path: Path) -> None:
    store = FiringStore(tmp_path)
    counted: list[int] = []

    def one_more(before: tuple[Firing, ...]) -> list[Firing]:
        counted.append(len(before))
        return [_row()]

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(store.add, one_more) for _ in range(24)]:
            done.result()

    assert counted == list(range(24))


def test_a_fresh_record_of_the_same_is_left_as_it_is(tmp_path: Path) -> None:
    store = FiringStore(tmp_path)
    store.note_last(_last())

    store.note_last(_last(NOW + FRESH / 2))
    assert store.last("codex", "Stop") == _last()

    store.note_last(_last(NOW + FRESH))
    assert store.last("codex", "Stop") == _last(NOW + FRESH)


def test_what_went_wrong_is_noted_at_once(tmp_path: Path) -> None:
    store = FiringStore(tmp_path)
    store.note_last(_last())

    store.note_last(_last(why="it broke"))

    found = store.last("codex", "Stop")
    assert found is not None
    assert found.why == "it broke"


def test_a_name_of_an_event_becomes_no_path(tmp_path: Path) -> None:
    store = FiringStore(tmp_path)

    store.note_last(_last(event="../../etc/passwd"))

    assert [file.name for file in store.folder.iterdir()] == ["last-codex-other.json"]


def test_what_was_installed_is_remembered_and_forgotten(tmp_path: Path) -> None:
    store = FiringStore(tmp_path)
    store.note_installed(Installed(at=NOW, host="codex", file="/x"))
    assert store.installed("codex") == Installed(at=NOW, host="codex", file="/x")

    store.forget_installed("codex")
    store.forget_installed("codex")

    assert store.installed("codex") is None
