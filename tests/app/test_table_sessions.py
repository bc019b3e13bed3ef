"""Sessions of Handrail's own that stand in its database are sessions like any other, to every use case."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from handrail import Agent, Deny, FileJournal, RunOptions, ScriptedModel, Session, app, call, tool
from handrail.app import FollowedMessage, FollowEvent, FollowOptions, Machine
from handrail.errors import MalformedSession, StoreError
from handrail.harnesses.handrail.store import HandrailStore
from handrail.journal.port import Journal
from handrail.runs.journals.session_table import NAME, SqliteSessions
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Text


@tool(destructive=True)
async def wipe() -> str:
    """Wipes."""
    raise AssertionError


def _run(journal: Journal, name: str, *, more: bool = False) -> None:
    """A run with a denial, and one that goes on from it."""

    async def story() -> None:
        session = Session(name, journal)
        agent = Agent(model=ScriptedModel([call("wipe"), "done"]), tools=[wipe], clock=ManualClock())
        await agent.run("clean up", RunOptions(approver=lambda request: Deny("not now")), session=session)
        if more:
            await Agent(model=ScriptedModel(["as you like"]), clock=ManualClock()).run("then not", session=session)

    asyncio.run(story())


def _in_table(root: Path, name: str = "0199aaaa", *, more: bool = False) -> Path:
    journal = SqliteJournal(root / NAME)
    _run(journal, name, more=more)
    journal.close()
    return root


def _machine(root: Path) -> Machine:
    return app.open_machine({"handrail": root}, only_given=True)


def _store(machine: Machine) -> HandrailStore:
    store = machine.stores["handrail"]
    assert isinstance(store, HandrailStore)
    return store


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return _in_table(tmp_path / "table")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    journal = FileJournal(tmp_path / "file")
    _run(journal, "0199aaaa")
    journal.close()
    return tmp_path / "file"


def _rows(root: Path) -> list[bytes]:
    """What ``ls`` says of the sessions of ``root``, but where they are."""
    rows = app.list_sessions(_machine(root)).sessions
    return [msgspec.json.encode(msgspec.structs.replace(row, locator="", updated_at=None)) for row in rows]


def test_a_listing_says_the_same_of_a_session_in_a_table_as_of_one_in_a_file(table: Path, file: Path) -> None:
    assert _rows(table) == _rows(file)
    (ref,) = _store(_machine(table)).discover()
    assert ref.updated_at == ManualClock().now()
    assert ref.locator == f"{table / NAME}/0199aaaa"


@pytest.mark.parametrize(
    "use",
    [
        lambda machine: app.show(machine, "0199").messages,
        lambda machine: app.moments(machine, references=("0199",)).moments,
        lambda machine: app.convert(machine, "0199", "codex").parts,
        lambda machine: app.crop(machine, "0199#1-1").parts,
        lambda machine: app.open_session(machine, "0199aaaa").session,
    ],
    ids=["show", "moments", "convert", "crop", "open"],
)
def test_a_use_case_gives_the_same_of_both(use: Callable[[Machine], object], table: Path, file: Path) -> None:
    of_table = use(_machine(table))
    assert of_table == use(_machine(file))
    assert of_table


def test_a_session_that_grows_in_a_table_is_followed(table: Path) -> None:
    told: list[FollowEvent] = []
    steps = iter([lambda: _in_table(table, more=True)])

    def rest(_seconds: float) -> None:
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    with pytest.raises(KeyboardInterrupt):
        for event in app.follow(_machine(table), "0199aaaa", FollowOptions(), sleeper=rest, clock=ManualClock()):
            told.append(event)
    blocks = [block for event in told if isinstance(event, FollowedMessage) for block in event.content]
    words = [block.text for block in blocks if isinstance(block, Text)]
    assert [words[0], words[-1]] == ["clean up", "as you like"]


def test_files_and_a_table_are_one_store_and_where_an_id_stands_in_both_the_table_goes_on(table: Path) -> None:
    journal = FileJournal(table)
    _run(journal, "0199bbbb")
    _run(journal, "0199aaaa", more=True)
    journal.close()
    found = {ref.id: ref for ref in _store(_machine(table)).discover()}
    assert sorted(found) == ["0199aaaa", "0199bbbb"]
    assert found["0199aaaa"].locator.startswith(str(table / NAME))
    assert found["0199bbbb"].locator == str(table / "0199bbbb.jsonl")


def test_a_table_that_cannot_be_read_is_reported_and_hides_no_file(table: Path) -> None:
    journal = FileJournal(table)
    _run(journal, "0199bbbb")
    journal.close()
    (table / NAME).write_bytes(b"no database at all, but long enough to be looked at as if it were one" * 99)
    machine = _machine(table)
    listed = app.list_sessions(machine)
    assert [row.id for row in listed.sessions] == ["0199bbbb"]
    assert [NAME in unread.message for unread in listed.unread] == [True]
    assert [NAME in unread.message for unread in app.doctor(machine).unread] == [True]


def test_a_named_session_of_a_table_is_not_diagnosed_and_the_reason_is_its_harness(table: Path) -> None:
    with pytest.raises(MalformedSession, match="not diagnosed"):
        app.doctor(_machine(table), "0199aaaa")


def test_a_listing_makes_no_database(tmp_path: Path) -> None:
    assert list(_store(_machine(tmp_path)).discover()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_fingerprint_changes_with_every_event_and_a_deleted_session_is_gone(table: Path) -> None:
    _in_table(table, "0199cccc")
    store = _store(_machine(table))
    ref, other = store.discover()
    before = store.fingerprint(ref)
    _in_table(table, more=True)
    assert store.fingerprint(ref) != before != ""
    store.delete(ref)
    assert store.fingerprint(ref) == ""
    assert [one.id for one in store.discover()] == [other.id]
    for use in (store.load, store.delete):
        with pytest.raises(StoreError, match="no session"):
            use(ref)
    journal = SqliteJournal(table / NAME)
    assert asyncio.run(journal.sessions()) == ("0199cccc",)
    assert len(asyncio.run(journal.asks(is_open=None))) == 1
    journal.close()


@pytest.mark.parametrize("name", ["", "..", "a/b", "nobody", "\ud800"])
def test_a_locator_that_names_nothing_in_the_table_is_refused(table: Path, name: str) -> None:
    store = _store(_machine(table))
    with pytest.raises(StoreError):
        store.load(f"{table / NAME}/{name}")


def test_what_is_saved_is_a_file(table: Path) -> None:
    store = _store(_machine(table))
    (ref,) = store.discover()
    saved = HandrailStore(table / "other", SqliteSessions(table / NAME)).save(store.load(ref))
    assert Path(saved.locator).is_file()
