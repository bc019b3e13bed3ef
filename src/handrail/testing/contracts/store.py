"""The contract of a store: it finds, reads and writes its own root, and touches nothing else.

``StoreCase`` gives a store an empty folder to live in. A store whose sessions are files is also tried with what
disks do to files: loops of links, strangers, torn tails.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from handrail.errors import HandrailError, StoreError, TranscriptError
from handrail.testing.contracts.rules import Rule
from handrail.testing.examples import EXAMPLES, PLAIN
from handrail.transcripts.codec import HarnessInfo, SessionRef, Store
from handrail.transcripts.model import Transcript

HOSTILE_IDS = (
    "",
    ".",
    "..",
    "../../pwned",
    "..\\pwned",
    "a/b",
    "a\\b",
    "C:pwned",
    "a\x00b",
    "a\nb",
    "-rf",
    "x" * 5000,
    "\ud83c",
    "~",
    "%2e%2e%2fpwned",
)
"""Ids that must not lead out of a root, whatever they are made into."""

_META = ("id", "timestamp", "cwd", "git_branch", "title", "cli_version", "model")

Tree = dict[str, tuple[str, bytes, int]]


@dataclass(frozen=True)
class StoreCase:
    """A harness and an empty folder; the store's root is a folder in it, the rest must stay as it is."""

    harness: HarnessInfo
    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def store(self) -> Store[Any]:
        assert self.harness.store is not None, "the harness has no store"
        return self.harness.store(self.root)

    def native(self, session_id: str = PLAIN.meta.id, example: int = 0) -> Transcript[Any]:
        """An example in this harness's form, under ``session_id``."""
        source = EXAMPLES[example]
        meta = msgspec.structs.replace(source.meta, id=session_id)
        return self.harness.codec.from_common(Transcript(meta, source.body))

    def tree(self, folder: Path | None = None) -> Tree:
        """Every path below ``folder`` with its kind, its bytes and its time of change."""
        start = folder or self.folder
        return {str(path.relative_to(start)): _state(path) for path in _walk(start)}


def has_store(harness: HarnessInfo, root: Path) -> bool:
    """Whether sessions of ``harness`` live anywhere at all."""
    try:
        return harness.store is not None and harness.store(root) is not None
    except TranscriptError:
        return False


def _walk(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        yield entry
        if entry.is_dir() and not entry.is_symlink():
            yield from _walk(entry)


def _state(path: Path) -> tuple[str, bytes, int]:
    if path.is_symlink():
        return "link", os.fsencode(path.readlink()), 0
    if path.is_dir():
        return "folder", b"", 0
    return "file", path.read_bytes(), path.stat().st_mtime_ns


def _path(ref: SessionRef) -> Path | None:
    """The file behind ``ref``; None where the store keeps no files."""
    path = Path(ref.locator)
    return path if path.is_file() else None


def _refs(case: StoreCase) -> list[SessionRef]:
    return list(case.store.discover())


def _missing_root_is_empty(case: StoreCase) -> None:
    assert _refs(case) == []
    assert case.tree() == {}, "looking made something"


def _saved_is_found(case: StoreCase) -> None:
    for number in range(len(EXAMPLES)):
        native = case.native(EXAMPLES[number].meta.id, number)
        saved = case.store.save(native)
        assert saved.id == EXAMPLES[number].meta.id
        found = {ref.id: ref for ref in _refs(case)}
        assert len(found) == number + 1
        ref = found[saved.id]
        assert (ref.harness, ref.locator, ref.is_whole) == (case.harness.name, saved.locator, True)
        assert ref.size_bytes > 0
        assert ref.updated_at is not None
        for handle in (ref, ref.locator):
            assert case.harness.codec.render(case.store.load(handle)) == case.harness.codec.render(native)


def _listing_agrees_with_reading(case: StoreCase) -> None:
    for number in range(len(EXAMPLES)):
        case.store.save(case.native(EXAMPLES[number].meta.id, number))
    for ref in _refs(case):
        read = case.harness.codec.to_common(case.store.load(ref)).meta
        listed = {field: getattr(ref.meta, field) for field in _META}
        assert listed == {field: getattr(read, field) for field in _META}


def _never_over_an_existing(case: StoreCase) -> None:
    case.store.save(case.native())
    before = case.tree()
    for example in (0, 1):
        try:
            case.store.save(case.native(example=example))
        except HandrailError:
            assert case.tree() == before
        else:
            assert before.items() <= case.tree().items(), "an existing session was written over"


def _files_are_private(case: StoreCase) -> None:
    case.store.save(case.native())
    for path in (case.root, *_walk(case.root)):
        assert path.stat().st_mode & 0o077 == 0, f"{path} may be read by others"


def _ids_stay_inside(case: StoreCase) -> None:
    for session_id in (*HOSTILE_IDS, str(case.folder / "pwned")):
        outside = {name: state for name, state in case.tree().items() if not name.startswith("root")}
        with contextlib.suppress(TranscriptError):
            ref = case.store.save(case.native(session_id))
            path = _path(ref)
            assert path is None or path.resolve().is_relative_to(case.root.resolve())
        now = {name: state for name, state in case.tree().items() if not name.startswith("root")}
        assert now == outside, f"saving under the id {session_id[:40]!r} wrote outside the root"


def _delete_takes_one(case: StoreCase) -> None:
    kept = case.store.save(case.native(EXAMPLES[1].meta.id, 1))
    gone = case.store.save(case.native())
    case.store.delete(gone)
    assert [ref.id for ref in _refs(case)] == [kept.id]
    assert not any(gone.id in name for name in case.tree(case.root)), "something of it was left"
    _expect_refusal(case, gone)


def _expect_refusal(case: StoreCase, ref: SessionRef) -> None:
    before = case.tree()
    try:
        case.store.delete(ref)
    except (StoreError, TranscriptError):
        assert case.tree() == before
    else:
        raise AssertionError(f"{ref.locator} was deleted")


def _delete_stays_inside(case: StoreCase) -> None:
    saved = case.store.save(case.native())
    path = _path(saved)
    if path is None:
        return
    victim = case.folder / "outside" / path.name
    victim.parent.mkdir()
    victim.write_bytes(path.read_bytes())
    link = path.with_name(f"linked-{path.name}")
    link.symlink_to(victim)
    detour = path.parent / "link"
    detour.symlink_to(victim.parent)
    up = [".."] * len(path.parent.relative_to(case.folder).parts)
    around = path.parent.joinpath(*up, "outside", path.name)
    for locator in (str(victim), str(around), str(detour / path.name), str(case.root), "", "no-such-file"):
        _expect_refusal(case, msgspec.structs.replace(saved, locator=locator))
    with contextlib.suppress(StoreError):
        case.store.delete(msgspec.structs.replace(saved, locator=str(link)))
    assert victim.read_bytes() == path.read_bytes()


def _discovery_survives_disks(case: StoreCase) -> None:
    saved = case.store.save(case.native())
    path = _path(saved)
    if path is None:
        return
    for name, data in {
        "empty": b"",
        "noise": b"\x00\xff{" * 99,
        "list": b"[]\n",
        "torn": path.read_bytes()[:40],
    }.items():
        path.with_name(f"{path.stem[:-4]}{name}{path.suffix}").write_bytes(data)
    path.with_name(f"folder{path.suffix}").mkdir()
    path.with_name(f"dangling{path.suffix}").symlink_to(case.folder / "nowhere")
    (path.parent / "loop-beside").symlink_to(case.root)
    (case.root / "loop").symlink_to(case.root)
    refs = _refs(case)
    assert [ref.id for ref in refs].count(saved.id) == 1
    for ref in refs:
        case.harness.codec.to_common(case.store.load(ref))


def _torn_tail_shows(case: StoreCase) -> None:
    path = _path(case.store.save(case.native()))
    if path is None:
        return
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    (ref,) = _refs(case)
    assert not ref.is_whole
    assert case.harness.codec.render(case.store.load(ref)) == data[:-20]


def _fingerprint_follows_bytes(case: StoreCase) -> None:
    ref = case.store.save(case.native())
    before = case.store.fingerprint(ref)
    assert before
    assert case.store.fingerprint(ref) == before
    path = _path(ref)
    if path is not None:
        path.write_bytes(path.read_bytes() + b"{}\n")
        assert case.store.fingerprint(ref) != before
    case.store.delete(ref)
    assert case.store.fingerprint(ref) == ""


def _reading_changes_nothing(case: StoreCase) -> None:
    case.store.save(case.native())
    before = case.tree()
    for ref in _refs(case):
        case.harness.codec.to_common(case.store.load(ref))
        case.store.fingerprint(ref)
    assert case.tree() == before


def _what_is_not_there(case: StoreCase) -> None:
    ref = case.store.save(case.native())
    case.store.delete(ref)
    for handle in (ref, ref.locator, "", "no-such-session"):
        try:
            case.store.load(handle)
        except HandrailError:
            continue
        raise AssertionError(f"{handle!r} was loaded")


STORE_RULES: tuple[Rule[StoreCase], ...] = (
    Rule(1, "a root that is not there holds nothing and is not made", _missing_root_is_empty),
    Rule(2, "what was saved is found and loads byte for byte", _saved_is_found),
    Rule(3, "a listing says what a full reading says", _listing_agrees_with_reading),
    Rule(4, "saving never writes over a session", _never_over_an_existing),
    Rule(5, "what is written is its owner's only", _files_are_private),
    Rule(6, "no id leads out of the root", _ids_stay_inside),
    Rule(7, "deleting takes one session and no other", _delete_takes_one),
    Rule(8, "nothing outside the root is deleted", _delete_stays_inside),
    Rule(9, "discovery ends, whatever lies under the root", _discovery_survives_disks),
    Rule(10, "a torn tail shows in the listing", _torn_tail_shows),
    Rule(11, "the fingerprint changes with the bytes", _fingerprint_follows_bytes),
    Rule(12, "reading changes nothing", _reading_changes_nothing),
    Rule(13, "what is not there is an error of ours", _what_is_not_there),
)
"""The suite; each rule wants an empty folder of its own."""
