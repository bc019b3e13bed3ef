"""The book on disk: what was not touched keeps its bytes, and what cannot be read costs itself only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import jsonio
from handrail.errors import StoreError
from handrail.learning.rules.model import Life, RuleBook
from handrail.learning.rules.operations import Add, Amend, Retire, apply
from handrail.learning.rules.store import FILE, OWN, RuleStore, parse, render
from tests.learning.rules.build import AT, HERE, book_of, source


def _store(tmp_path: Path) -> RuleStore:
    store = RuleStore(tmp_path / "learning")
    store.update(lambda _: book_of("Run the tests first.", "Never push to main."))
    return store


def test_looking_creates_nothing(tmp_path: Path) -> None:
    store = RuleStore(tmp_path / "learning")

    assert store.load().book == RuleBook()
    assert store.owners() == ()
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_is_read(tmp_path: Path) -> None:
    store = _store(tmp_path)

    assert [rule.text for rule in store.load().book] == ["Run the tests first.", "Never push to main."]
    assert store.file.stat().st_mode & 0o777 == 0o600


def test_a_line_that_cannot_be_read_costs_that_line_and_stays(tmp_path: Path) -> None:  # J 34
    store = _store(tmp_path)
    first, second = store.file.read_bytes().splitlines(keepends=True)
    torn = b'{"id":"r1","text":"half a ru\xff\n'
    store.file.write_bytes(first + torn + b"\n" + second)

    loaded = store.load()
    assert [line.line for line in loaded.bad] == [2]
    store.update(lambda book: apply(book, Retire(rule=book.rules[1].id, reason="x"), by="owner", at=AT))

    lines = store.file.read_bytes().splitlines(keepends=True)
    assert lines[:3] == [first, torn, b"\n"]
    assert store.load().book.rules[1].life is Life.RETIRED


def test_fields_of_a_newer_release_survive_a_change(tmp_path: Path) -> None:  # J 34
    store = _store(tmp_path)
    first, second = store.file.read_bytes().splitlines()
    newer = first[:-1] + b',"mood":{"is":"good"}}'
    store.file.write_bytes(newer + b"\n" + second + b"\n")

    store.update(lambda book: apply(book, Amend(rule=book.rules[0].id, text="Test first."), by="owner", at=AT))

    changed = jsonio.decode(store.file.read_bytes().splitlines()[0])
    assert (changed["text"], changed["mood"]) == ("Test first.", {"is": "good"})


def test_a_change_that_changes_nothing_does_not_touch_the_file(tmp_path: Path) -> None:  # J 34
    store = _store(tmp_path)
    before = store.file.stat().st_mtime_ns, store.file.stat().st_ino

    store.update(lambda book: book)

    assert (store.file.stat().st_mtime_ns, store.file.stat().st_ino) == before


def test_a_change_that_raises_leaves_the_file(tmp_path: Path) -> None:
    store = _store(tmp_path)
    before = store.file.read_bytes()

    with pytest.raises(ZeroDivisionError):
        store.update(lambda book: RuleBook(book.rules[: 1 // 0]))

    assert store.file.read_bytes() == before


def test_a_rule_cannot_vanish(tmp_path: Path) -> None:
    store = _store(tmp_path)
    before = store.file.read_bytes()

    with pytest.raises(StoreError, match="would be lost"):
        store.update(lambda book: RuleBook(book.rules[1:]))

    assert store.file.read_bytes() == before


def test_of_two_lines_with_one_id_the_later_counts_and_is_the_one_that_changes(tmp_path: Path) -> None:
    store = _store(tmp_path)
    first, second = store.file.read_bytes().splitlines(keepends=True)
    store.file.write_bytes(first + second + first)

    store.update(lambda book: apply(book, Amend(rule=book.rules[0].id, text="Test first."), by="owner", at=AT))

    assert store.file.read_bytes().startswith(first + second)
    assert store.load().book.rules[0].text == "Test first."


def test_two_writers_take_turns(tmp_path: Path) -> None:  # J 32
    folder = tmp_path / "learning"
    program = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from handrail.learning.rules.model import Source
from handrail.learning.rules.operations import Add, apply
from handrail.learning.rules.store import RuleStore
for number in range(20):
    text = f"Rule {sys.argv[2]} number {number}."
    source = Source(harness="h", session=sys.argv[2], uid="u", moment=str(number))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    RuleStore(Path(sys.argv[1])).update(lambda book: apply(book, Add(text=text, sources=(source,)), by="model", at=at))
"""
    writers = [subprocess.Popen([sys.executable, "-c", program, str(folder), name]) for name in ("one", "two")]

    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(RuleStore(folder).load().book) == 40


def test_the_owners_file_is_read_and_never_written(tmp_path: Path) -> None:
    store = _store(tmp_path)
    store.own.write_text("# Mine\n\n- Speak German.\n<!-- not\nthis -->\n* Be brief.\nNo emoji.\n")
    before = store.own.read_bytes()

    store.update(lambda book: apply(book, Add(text="More.", sources=(source("m8"),)), by="model", at=AT))

    assert store.owners() == ("Speak German.", "Be brief.", "No emoji.")
    assert store.own.read_bytes() == before
    assert (FILE, OWN) == (store.file.name, store.own.name)


@given(st.lists(st.binary(max_size=30), max_size=8))
def test_any_bytes_are_kept_where_they_stand(junk: list[bytes]) -> None:
    rules = render(book_of("Run the tests first.", "Ask before deleting.", scope=HERE), parse(b""))
    first, second = rules.splitlines(keepends=True)
    data = b"".join((first, *(one.replace(b"\n", b"") + b"\n" for one in junk), second))

    loaded = parse(data)

    assert render(loaded.book, loaded) == data
