"""Proposals on disk: one file each, readable, and every other left alone."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from handrail.errors import StoreError
from handrail.learning.proposals.drafting import Known
from handrail.learning.proposals.learner import Drafted
from handrail.learning.proposals.model import NoSuchProposal, Proposal, Status
from handrail.learning.proposals.store import ProposalStore
from handrail.learning.rules.model import RuleBook
from tests.learning.proposals.build import LATER, lesson, proposed_from


def _proposal(number: int = 1) -> Proposal:
    text = f"Do the thing that is called number {number}."
    change = Drafted(do="add", lessons=("L1",), text=text)
    return proposed_from(Known(book=RuleBook()), (lesson(text, number),), change)


def _kept(root: Path, *proposals: Proposal) -> ProposalStore:
    store = ProposalStore(root)
    with store.writing():
        store.put(*proposals)
    return store


def test_a_proposal_comes_back_as_it_was(tmp_path: Path) -> None:
    store = _kept(tmp_path, _proposal())

    assert store.load().proposals == (_proposal(),)
    assert {stat.S_IMODE(file.stat().st_mode) for file in store.folder.iterdir()} == {0o600}


def test_resolving_one_rewrites_one_file(tmp_path: Path) -> None:  # J 37
    store = _kept(tmp_path, _proposal(1), _proposal(2))
    before = {file: file.stat().st_mtime_ns for file in store.folder.iterdir()}

    with store.writing():
        store.put(replace(_proposal(1), status=Status.REJECTED))

    changed = [file.stem for file, time in before.items() if file.stat().st_mtime_ns != time]
    assert changed == [_proposal(1).id]


def test_an_id_may_be_begun_and_must_be_unique_and_not_empty(tmp_path: Path) -> None:  # J 37
    one, two = _proposal(1), _proposal(2)
    shelf = _kept(tmp_path, one, two).load()

    assert shelf.find(f" {one.id[:8].upper()} ").id == one.id
    for wrong in ("", "p", "nonesuch", " "):
        with pytest.raises(NoSuchProposal):
            shelf.find(wrong)


def test_a_file_that_is_no_proposal_costs_itself_and_is_not_written_over(tmp_path: Path) -> None:  # J 34
    one = _proposal(1)
    store = _kept(tmp_path, one, _proposal(2))
    torn = store.folder / f"{one.id}.json"
    torn.write_bytes(torn.read_bytes()[:50])

    shelf = store.load()

    assert ([bad.file for bad in shelf.bad], len(shelf.proposals)) == ([torn.name], 1)
    with store.writing(), pytest.raises(StoreError):
        store.put(one)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"id":"other","created_at":"2026-01-01T00:00:00Z"}',
        b'{"id":"pbad","created_at":"2026-01-01T00:00:00"}',
    ],
)
def test_hostile_files_are_reported(tmp_path: Path, raw: bytes) -> None:
    store = _kept(tmp_path, _proposal())
    (store.folder / "pbad.json").write_bytes(raw)

    assert [bad.file for bad in store.load().bad] == ["pbad.json"]


def test_fields_of_a_newer_release_survive(tmp_path: Path) -> None:  # J 34
    one = _proposal()
    store = _kept(tmp_path, one)
    file = store.folder / f"{one.id}.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "mood": {"x": 1}}))

    with store.writing():
        store.put(replace(one, status=Status.ACCEPTED, resolved_at=LATER))

    assert json.loads(file.read_text())["mood"] == {"x": 1}
    assert store.load().find(one.id).status is Status.ACCEPTED


def test_a_person_can_read_and_compare_it(tmp_path: Path) -> None:
    store = _kept(tmp_path, _proposal())

    lines = next(store.folder.iterdir()).read_text().splitlines()

    assert any('"text": "Do the thing that is called number 1."' in line for line in lines)
