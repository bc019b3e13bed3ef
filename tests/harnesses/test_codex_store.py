"""Codex's folders: found by heads and tails, written whole or not at all, nothing outside touched."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from handrail.errors import StoreError, UnsafeId
from handrail.harnesses.codex import HARNESS, open_store
from handrail.harnesses.codex.recognise import recognises
from handrail.harnesses.codex.store import HEAD_BYTES, CodexStore, default_roots
from handrail.testing.examples import PLAIN
from handrail.transcripts.codec import SessionRef
from handrail.transcripts.model import Meta, Transcript
from tests.harnesses.rollouts import lines, meta, output, said, shell, typed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


def put(root: Path, name: str, data: bytes) -> Path:
    path = root / "2026" / "01" / "05" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_the_environment_says_where_the_sessions_are() -> None:
    assert default_roots({"CODEX_HOME": "/x"}) == (Path("/x/sessions"), Path("/x/archived_sessions"))
    assert default_roots({"HOME": "/h"})[0] == Path("/h/.codex/sessions")
    assert default_roots({}) == ()


def test_a_session_saved_is_found_and_loaded(root: Path) -> None:
    store = open_store(root)
    native = HARNESS.codec.from_common(PLAIN)
    ref = store.save(native)
    assert [found.id for found in store.discover()] == [PLAIN.meta.id]
    assert store.load(ref) == HARNESS.codec.parse(HARNESS.codec.render(native))
    assert Path(ref.locator).relative_to(root).as_posix().startswith("2026/01/05/rollout-2026-01-05T09-00-00-")
    assert stat.S_IMODE(Path(ref.locator).stat().st_mode) == 0o600


def test_saving_twice_leaves_the_first_alone(root: Path) -> None:
    store = open_store(root)
    native = HARNESS.codec.from_common(PLAIN)
    store.save(native)
    with pytest.raises(StoreError):
        store.save(native)


@pytest.mark.parametrize("session", ["../../x", "a/b", "..", "", "/tmp/x"])
def test_a_hostile_id_writes_nothing(root: Path, session: str) -> None:
    native = HARNESS.codec.from_common(Transcript(Meta(id=session), PLAIN.body))
    with pytest.raises(UnsafeId):
        open_store(root).save(native)
    assert not root.exists()


def test_delete_removes_one_session_once(root: Path) -> None:
    store = open_store(root)
    ref = store.save(HARNESS.codec.from_common(PLAIN))
    assert store.fingerprint(ref)
    store.delete(ref)
    assert list(store.discover()) == []
    assert store.fingerprint(ref) == ""
    with pytest.raises(StoreError):
        store.delete(ref)


def test_delete_leaves_what_is_not_the_stores(root: Path, tmp_path: Path) -> None:
    victim = tmp_path / "rollout-victim.jsonl"
    victim.write_bytes(lines(meta()))
    root.mkdir()
    with pytest.raises(StoreError):
        open_store(root).delete(SessionRef(harness="codex", id="x", locator=str(victim), meta=Meta()))
    assert victim.exists()


def test_a_first_line_longer_than_the_first_stretch_is_read_on(root: Path) -> None:
    long = meta(base_instructions={"text": "x" * (2 * HEAD_BYTES)})
    put(root, "rollout-a.jsonl", lines(long, *typed("go"), said("ok")))
    assert [ref.id for ref in open_store(root).discover()] == ["s-1"]


def test_the_middle_of_a_long_file_is_not_read_for_a_listing(root: Path) -> None:
    rows = [row for number in range(400) for row in (shell(f"c{number}"), output(f"c{number}", "x" * 1000))]
    data = lines(meta(), *rows, {**said("end"), "timestamp": "2026-01-06T00:00:00.000Z"})
    hurt = data.replace(b"c200", b'c"0', 1)
    put(root, "rollout-a.jsonl", hurt)
    [ref] = open_store(root).discover()
    assert ref.is_whole
    assert ref.updated_at is not None
    assert ref.updated_at.isoformat() == "2026-01-06T00:00:00+00:00"


def test_a_torn_tail_shows_in_the_listing(root: Path) -> None:
    put(root, "rollout-a.jsonl", lines(meta(), said("ok")) + b'{"timestamp":"20')
    assert [ref.is_whole for ref in open_store(root).discover()] == [False]


def test_a_rollout_without_its_header_is_listed_by_the_id_in_its_name_as_damaged(root: Path) -> None:
    put(root, "rollout-2026-01-05T09-00-00-019b8d1a-0000-7000-8000-00000000abcd.jsonl", lines(*typed("hello")))
    (found,) = open_store(root).discover()
    assert ("019b8d1a-0000-7000-8000-00000000abcd", False) == (found.id, found.is_whole)


def test_other_files_are_no_sessions(root: Path) -> None:
    put(root, "history.jsonl", b'{"session_id":"a"}\n')
    put(root, "rollout-b.jsonl", b"\n")
    put(root, "rollout-c.jsonl", b"\xff\x00")
    assert list(open_store(root).discover()) == []


def test_links_that_lead_round_and_round_end(root: Path) -> None:
    path = put(root, "rollout-a.jsonl", lines(meta(), said("ok")))
    (path.parent / "loop").symlink_to(root, target_is_directory=True)
    assert len(list(open_store(root).discover())) == 1


def test_archived_sessions_are_found_too(tmp_path: Path) -> None:
    put(tmp_path / "archived_sessions", "rollout-a.jsonl", lines(meta()))
    store = CodexStore(default_roots({"CODEX_HOME": str(tmp_path)}))
    assert [ref.id for ref in store.discover()] == ["s-1"]


def test_no_home_holds_nothing_and_takes_nothing() -> None:
    store = CodexStore(())
    assert list(store.discover()) == []
    with pytest.raises(StoreError):
        store.save(HARNESS.codec.from_common(PLAIN))


@pytest.mark.parametrize(
    ("data", "least", "most"),
    [
        (lines(meta(), *typed("go"), said("ok")), 1.0, 1.0),
        (lines(said("ok")), 0.5, 0.9),
        (b'{"type":"user","message":{"role":"user","content":"x"},"sessionId":"s","uuid":"u"}\n', 0.0, 0.0),
        (b"", 0.0, 0.0),
    ],
)
def test_a_rollout_is_known_by_its_envelope(data: bytes, least: float, most: float) -> None:
    assert least <= recognises(data) <= most


def test_a_pipe_with_the_name_of_a_rollout_is_passed_over(root: Path) -> None:
    store = open_store(root)
    store.save(HARNESS.codec.from_common(PLAIN))
    os.mkfifo(put(root, "rollout-x.txt", b"").with_suffix(".jsonl"))
    assert [found.id for found in store.discover()] == [PLAIN.meta.id]
