"""Journals that releases wrote stay as they were written: readable, foldable, the same bytes, and to be gone on with.

The folders beside this file are never edited. A new release adds one: ``python -m tests.journal_compat.writing``.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from handrail import find_interventions, harness
from handrail.journal import events as ev
from handrail.journal.file import HEAD, JOURNAL, FileJournal
from handrail.journal.fold import fold
from handrail.journal.transcript import project
from handrail.journal.wire import KIND_OF, decode_event, encode_event, type_of
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.transcripts.spans import tool_pairs

from .driving import driven
from .writing import DATABASE, DIGESTS, EVERY_KIND, HERE, digests

WRITTEN = {"0.1.0": "f341dea1f22aa53be91d9e005bd7598b129068650070c0db62ef7432d778bd62"}
"""SHA-256 of each release's list of digests: neither a file nor the list is edited in silence."""

JOURNALS = sorted(path for path in HERE.glob(f"*/*/*{JOURNAL}"))


def named(path: Path) -> str:
    return path.relative_to(HERE).as_posix()


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def events_of(path: Path) -> list[ev.Event]:
    return [decode_event(line) for line in lines(path)]


def test_there_is_a_corpus_of_every_release_and_no_other() -> None:
    assert sorted(WRITTEN) == sorted(path.name for path in HERE.iterdir() if (path / DIGESTS).exists())


@pytest.mark.parametrize("release", WRITTEN)
def test_a_corpus_is_never_edited(release: str) -> None:
    listed = (HERE / release / DIGESTS).read_bytes()
    assert hashlib.sha256(listed).hexdigest() == WRITTEN[release]
    known = dict(line.split("  ")[::-1] for line in listed.decode().splitlines())
    assert known == digests(HERE / release)


@pytest.mark.parametrize("release", WRITTEN)
def test_every_kind_that_was_ever_written_is_known_and_keeps_its_bytes(release: str) -> None:
    path = HERE / release / EVERY_KIND
    assert [encode_event(event) for event in events_of(path)] == lines(path)
    assert not any(isinstance(event.body, ev.Unknown) for event in events_of(path))


def test_the_newest_corpus_has_every_kind() -> None:
    newest = HERE / list(WRITTEN)[-1] / EVERY_KIND
    assert {type_of(event.body) for event in events_of(newest)} == set(KIND_OF)


@pytest.mark.parametrize("path", JOURNALS, ids=named)
def test_a_journal_keeps_its_bytes(path: Path) -> None:
    assert [encode_event(event) for event in events_of(path)] == lines(path)
    codec = harness("handrail").codec
    assert codec.render(codec.parse(path.read_bytes())) == path.read_bytes()


@pytest.mark.parametrize("path", JOURNALS, ids=named)
def test_a_journal_folds_and_is_a_session(path: Path) -> None:
    events = events_of(path)
    state = fold(events)
    assert state.unknown == ()
    assert (state.run is not None) == path.parent.name.startswith("open")
    transcript = project(events)
    assert transcript.body
    tool_pairs(transcript.body)
    find_interventions(transcript)


@pytest.mark.parametrize("path", JOURNALS, ids=named)
def test_a_journal_is_gone_on_with_from_wherever_its_driver_died(path: Path, tmp_path: Path) -> None:
    """Each of its prefixes in which a run is open is driven to an end by today's loop.

    But for those that end within the append a run of a blueprint begins with: appends are whole or not there.
    """
    whole = lines(path)
    events = events_of(path)
    for count in range(1, len(events) + 1):
        if is_open(events[:count]):
            place = tmp_path / str(count)
            shutil.copytree(path.parent, place)
            (place / path.name).with_suffix(HEAD).unlink()
            (place / path.name).write_bytes(b"".join(line + b"\n" for line in whole[:count]))
            asyncio.run(_gone_on_with(place, path.stem, events))


def is_open(events: list[ev.Event]) -> bool:
    run = fold(events).run
    is_frozen = any(isinstance(event.body, ev.BlueprintFrozen) for event in events)
    return run is not None and (run.started.blueprint is None or is_frozen)


async def _gone_on_with(place: Path, session: str, whole: list[ev.Event]) -> None:
    with closing(FileJournal(place, poll_s=0.01)) as journal:
        before = await journal.read(session)
        result = await driven(journal, session, whole)
        after = await journal.read(session)
    assert after[: len(before)] == before
    assert fold(after).run is None
    tool_pairs(result.transcript.body)


@pytest.mark.parametrize("release", WRITTEN)
def test_a_database_is_read_and_gone_on_with(release: str, tmp_path: Path) -> None:
    async def story() -> dict[str, bool]:
        shutil.copy(HERE / release / DATABASE, tmp_path)
        is_over: dict[str, bool] = {}
        with closing(SqliteJournal(tmp_path / DATABASE)) as journal:
            for session in await journal.sessions():
                events = await journal.read(session)
                if fold(events).run is not None:
                    await driven(journal, session, events)
                is_over[session] = fold(await journal.read(session)).run is None
                assert (await journal.run(session)).status == "ended"
        return is_over

    assert asyncio.run(story()) == dict.fromkeys(
        ("drill", "wishes", "interrupted", "cancelled", "died", "chosen"), True
    )
