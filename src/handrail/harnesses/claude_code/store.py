"""Where Claude Code keeps its sessions: ``projects/<folder>/<id>.jsonl``, sub-agents beside or below.

A folder stands for a working directory with every character that is no letter or digit turned into ``-``, so a
name cannot be turned back: the rows say where a session ran. Listing reads the first and last stretch of each
file and nothing between.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG

from handrail import files, ids
from handrail.errors import StoreError
from handrail.harnesses.claude_code.codec import ClaudeCodeCodec
from handrail.harnesses.claude_code.head import HARNESS_NAME, read_head, read_meta
from handrail.harnesses.claude_code.native import Session, main_part
from handrail.harnesses.claude_code.wire import Row, in_utc, read_rows
from handrail.harnesses.families.jsonl import Rows
from handrail.harnesses.families.unreadable import closed_error, entries_of, unreadable_ref
from handrail.transcripts.codec import Parts, SessionRef
from handrail.transcripts.model import Parent, Transcript

HEAD_BYTES = 1 << 16
TAIL_BYTES = 1 << 16
_LONG_HEAD_BYTES = 1 << 21
_MAX_FOLDER_CHARS = 200
_NO_SESSIONS = frozenset({"tool-results", "artifacts", "memory"})
_NOT_PLAIN = re.compile(r"[^a-zA-Z0-9]")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")


def project_folder(cwd: str) -> str:
    """The name of the folder for sessions that ran in ``cwd``; ``""`` (the root itself) when that is unknown."""
    name = _NOT_PLAIN.sub("-", cwd)
    return name if len(name) <= _MAX_FOLDER_CHARS else f"{name[:_MAX_FOLDER_CHARS]}-{ids.short_hash(cwd)}"


def default_roots(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """``projects`` below each folder of ``CLAUDE_CONFIG_DIR`` (separated by commas), else below ``~/.claude``."""
    named = [part.strip() for part in environment.get("CLAUDE_CONFIG_DIR", "").split(",")]
    if folders := [Path(part) for part in named if part]:
        return tuple(folder / "projects" for folder in folders)
    home = files.home(environment)
    return (home / ".claude" / "projects",) if home else ()


class ClaudeCodeStore:
    """The sessions below one or more roots; new ones are saved below the first."""

    def __init__(self, roots: Iterable[Path]) -> None:
        self.roots = tuple(roots)
        self._codec = ClaudeCodeCodec()

    def discover(self) -> Iterator[SessionRef]:
        """Every session and sub-agent file below the roots; one that cannot be read is skipped.

        Folders that may not be read raise ``StoreError`` once all else has been given.
        """
        seen: set[tuple[int, int]] = set()
        closed: list[str] = []
        for root in self.roots:
            for path, name, parent in _walk(str(root), seen, closed):
                ref = _read_ref(path, name, parent)
                if ref is not None:
                    yield ref
        if (problem := closed_error(closed)) is not None:
            raise problem

    def load(self, ref: SessionRef | str) -> Transcript[Session]:
        """The session behind ``ref``, the files of its sub-agents as parts beside its own."""
        locator = ref if isinstance(ref, str) else ref.locator
        return self._codec.parse(gather_parts(locator, files.read_bytes(Path(locator))))

    def save(self, native: Transcript[Session]) -> SessionRef:
        """Write ``native`` as a new session below the first root.

        The files of sub-agents come first, so that a session is whole once it has its name. A save that died before
        that is made good by saving again.
        """
        if not self.roots:
            raise StoreError("there is no place to save to", hint="set HOME or CLAUDE_CONFIG_DIR")
        session = ids.check_id(native.meta.id)
        folder = self.roots[0] / project_folder(native.meta.cwd or "")
        path = folder / f"{session}.jsonl"
        given = native.body.parts
        main = main_part(given)
        if files.look_at(path):
            raise StoreError(f"{path} exists already", hint="nothing was overwritten")
        for name in sorted(given):
            if name != main:
                _write_side(folder / _side_name(name, main, session), given[name])
        files.write_atomically(path, given[main])
        ref = _read_ref(str(path), path.name, native.meta.parent)
        if ref is None:
            raise StoreError(f"cannot read {path} back")
        return ref

    def delete(self, ref: SessionRef) -> None:
        """Remove a session and the folder that goes with it."""
        path = Path(ref.locator)
        if path.suffix != ".jsonl" or not self._holds(path):
            raise StoreError(f"{path} is no session of this store")
        try:
            path.unlink()
            beside = path.with_suffix("")
            if beside.is_dir() and not beside.is_symlink():
                shutil.rmtree(beside)
        except OSError as problem:
            raise StoreError(f"cannot delete {path}: {problem.strerror or problem}") from problem

    def _holds(self, path: Path) -> bool:
        try:
            real = path.parent.resolve(strict=True)
        except OSError:
            return False
        return path.is_file() and any(real.is_relative_to(root.resolve()) for root in self.roots)

    def fingerprint(self, ref: SessionRef) -> str:
        """Size, times and place on disk of the session's file and of those of its sub-agents."""
        path = Path(ref.locator)
        try:
            marks = [_mark(path)]
            beside = path.with_suffix("")
            if beside.is_dir():
                marks += [_mark(Path(side)) for side, _, _ in _walk(str(beside), set(), [])]
        except OSError:
            return ""
        return ids.short_hash(*marks)


def _write_side(path: Path, data: bytes) -> None:
    """Write a sub-agent's file; one that holds ``data`` already was left by a save that died."""
    try:
        files.write_atomically(path, data)
    except StoreError:
        if not files.look_at(path) or files.read_bytes(path) != data:
            raise


def gather_parts(locator: str, data: bytes) -> Parts | bytes:
    """``data``, the session file at ``locator``, with the files of its sub-agents as parts where it has any."""
    path = Path(locator)
    if path.suffix != ".jsonl" or path.name.startswith("agent-"):
        return data
    sides = _side_files(path, data)
    if not sides:
        return data
    return {path.name: data, **{name: files.read_bytes(side) for name, side in sides}}


def _mark(path: Path) -> str:
    stat = path.stat()
    return f"{path.name}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}:{stat.st_ino}"


def _walk(
    folder: str, seen: set[tuple[int, int]], closed: list[str], parent: Parent | None = None
) -> Iterator[tuple[str, str, Parent | None]]:
    """``(path, name, parent)`` of every session file below ``folder``; a folder is entered once, whatever links to it.
    Those that may not be read are put into ``closed``.

    What a file is follows from where it lies: below ``<id>/subagents`` only ``agent-*.jsonl`` are sessions, and
    ``<id>`` is their parent.
    """
    try:
        stat = os.stat(folder)  # noqa: PTH116 - a listing of thousands of files, where paths as objects cost most
        if (stat.st_dev, stat.st_ino) in seen:
            return
        seen.add((stat.st_dev, stat.st_ino))
    except PermissionError:
        closed.append(folder)
        return
    except OSError:
        return
    for entry in entries_of(folder, closed):
        name = entry.name
        if name.endswith(".jsonl"):
            if parent is None or name.startswith("agent-"):
                yield entry.path, name, parent
        elif name not in _NO_SESSIONS and _is_folder(entry):
            below = parent
            if name == "subagents" and parent is None:
                below = Parent(session=os.path.basename(folder), kind="subagent")  # noqa: PTH119
            yield from _walk(entry.path, seen, closed, below)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _read_ref(path: str, name: str, parent: Parent | None) -> SessionRef | None:
    try:
        # Not waiting: a pipe of that name would be waited for without end.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb", buffering=0) as stream:  # noqa: PTH123
            stat = os.fstat(stream.fileno())
            if not S_ISREG(stat.st_mode):
                return None
            ends = _read_ends(stream.fileno(), stat.st_size)
    except PermissionError:
        return unreadable_ref(HARNESS_NAME, path, name.removesuffix(".jsonl"), parent)
    except (OSError, ValueError):
        return None
    rows = read_rows(ends, "")
    meta = read_meta(rows, read_head(rows))
    stem = name.removesuffix(".jsonl")
    identity = stem if _UUID.match(stem) or stem.startswith("agent-") or not meta.id else meta.id
    return SessionRef(
        harness=HARNESS_NAME,
        id=identity,
        locator=path,
        meta=meta,
        size_bytes=stat.st_size,
        updated_at=_last_time(rows) or datetime.fromtimestamp(stat.st_mtime, UTC),
        is_whole=not rows.faults,
        parent=parent or meta.parent,
    )


def _read_ends(handle: int, size: int) -> bytes:
    """The whole lines of the first and last stretch of a file, all of it when it is small."""
    if size <= HEAD_BYTES + TAIL_BYTES:
        return os.pread(handle, size, 0)
    head = os.pread(handle, HEAD_BYTES, 0)
    if b"\n" not in head:
        head = os.pread(handle, min(size, _LONG_HEAD_BYTES), 0)
    start = max(len(head), size - TAIL_BYTES)
    tail = os.pread(handle, size - start, start)
    # Without a line feed the tail is the middle of one long row, which nothing here can judge.
    _, _, whole = tail.partition(b"\n")
    return head[: head.rfind(b"\n") + 1] + whole


def _last_time(rows: Rows[Row]) -> datetime | None:
    for row in reversed(rows.rows):
        if row.timestamp is not None:
            return in_utc(row.timestamp)
    return None


def _side_files(path: Path, data: bytes) -> list[tuple[str, Path]]:
    """``(part name, path)`` of the sub-agent files of the session in ``path``: below its folder, or beside it."""
    beside = path.with_suffix("")
    found = []
    for side, name, parent in _walk(str(beside), set(), []):
        if parent is not None or name.startswith("agent-"):
            found.append(Path(side))
            described = Path(side).with_suffix(".meta.json")
            if described.is_file():
                found.append(described)
    rows = read_rows(data, "")
    session = read_meta(rows, read_head(rows)).id
    for sibling in sorted(path.parent.glob("agent-*.jsonl")):
        ref = _read_ref(str(sibling), sibling.name, None)
        if ref is not None and ref.parent is not None and ref.parent.session == session:
            found.append(sibling)
    return [(side.relative_to(path.parent).as_posix(), side) for side in found]


def _side_name(name: str, main: str, session: str) -> str:
    """The name of a side part in the folder of the session's new id; no part leaves that folder."""
    old = main.removesuffix(".jsonl")
    parts = [ids.check_id(part) for part in name.split("/")]
    if len(parts) > 1 and parts[0] == old:
        parts[0] = session
    return "/".join(parts)
