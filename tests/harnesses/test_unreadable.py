"""A file that may not be read is listed as damaged and counted as unread, never passed over in silence."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import handrail
from handrail.app.diagnosing import doctor
from handrail.app.machine import open_machine
from handrail.errors import StoreError
from tests.privileges import without_privileges

_FILES = {
    "claude_code": "-srv-shop/00000000-0000-4000-8000-000000000001.jsonl",
    "codex": "2026/01/05/rollout-2026-01-05T09-00-00-019b8d1a-0000-7000-8000-00000000abcd.jsonl",
}


@pytest.fixture(params=sorted(_FILES))
def place(request: pytest.FixtureRequest) -> Iterator[tuple[str, Path]]:
    """A harness and a store's root that holds one file nobody may read; everybody may enter the folders."""
    root = Path(tempfile.mkdtemp())
    path = root / _FILES[request.param]
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"type":"user"}\n')
    root.chmod(0o755)
    path.chmod(0)
    yield request.param, root
    shutil.rmtree(root)


def test_it_is_listed_as_damaged(place: tuple[str, Path]) -> None:
    harness, root = place
    store = handrail.harness(harness).store
    assert store is not None
    with without_privileges():
        refs = list(store(root).discover())
    assert [False] == [ref.is_whole for ref in refs]
    assert [refs[0].id in refs[0].locator] == [True]


def test_a_diagnosis_says_that_it_could_not_be_read(place: tuple[str, Path]) -> None:
    harness, root = place
    machine = open_machine({harness: root}, only_given=True)
    with without_privileges():
        report = doctor(machine)
    assert 1 == report.unreadable


@pytest.mark.parametrize("harness", [*_FILES, "handrail"])
def test_a_folder_that_may_not_be_read_is_told_of(harness: str) -> None:
    root = Path(tempfile.mkdtemp())
    closed = root if harness == "handrail" else root / "closed"
    if harness != "handrail":
        path = root / _FILES[harness]
        path.parent.mkdir(parents=True)
        path.write_bytes(b'{"type":"user","sessionId":"s","uuid":"u"}\n')
        path.chmod(0)
        closed.mkdir()
        root.chmod(0o755)
    closed.chmod(0)
    store = handrail.harness(harness).store
    assert store is not None
    found = []
    with without_privileges(), pytest.raises(StoreError, match=str(closed)):
        for ref in store(root).discover():
            found.append(ref)
    assert (0 if harness == "handrail" else 1) == len(found)
    closed.chmod(0o755)
    shutil.rmtree(root)
