"""Where Codex keeps its sessions: ``sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl``, archived ones in a folder beside.

Listing reads the first line of each file, however long its instructions are (up to a bound), and a stretch of its
end; nothing between.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG

from msgspec.structs import replace

from handrail import files, ids
from handrail.errors import StoreError
from handrail.harnesses.codex.bare import is_bare, read_part
from handrail.harnesses.codex.codec import CodexCodec
from handrail.harnesses.codex.drafts import read_time
from handrail.harnesses.codex.native import Rollout
from handrail.harnesses.codex.sources import read_meta
from handrail.harnesses.families.unreadable import closed_error, entries_of, unreadable_ref
from handrail.transcripts.codec import SessionRef
from handrail.transcripts.model import Transcript

HEAD_BYTES = 1 << 16
TAIL_BYTES = 1 << 14
_BARE_HEAD_BYTES = 1 << 18
_LONG_HEAD_BYTES = 1 << 22
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?P<id>[0-9A-Za-z-]{8,64})\.jsonl$", re.IGNORECASE)


def default_roots(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """``sessions`` and ``archived_sessions`` below ``CODEX_HOME``, else below ``~/.codex``; none without a home."""
    named = environment.get("CODEX_HOME")
    home = files.home(environment)
    base = Path(named) if named else home / ".codex" if home else None
    return (base / "sessions", base / "archived_sessions") if base else ()


class CodexStore:
    """The sessions below one or more roots; new ones are saved below the first."""

    def __init__(self, roots: tuple[Path, ...]) -> None:
        self.roots = roots
        self._codec = CodexCodec()

    def discover(self) -> Iterator[SessionRef]:
        """Every rollout below the roots; one that cannot be read is skipped.

        Folders that may not be read raise ``StoreError`` once all else has been given.
        """
        closed: list[str] = []
        for root in self.roots:
            for path in _walk(str(root), closed):
                ref = _read_ref(path)
                if ref is not None:
                    yield ref
        if (problem := closed_error(closed)) is not None:
            raise problem

    def load(self, ref: SessionRef | str) -> Transcript[Rollout]:
        """The session behind ``ref``."""
        return self._codec.parse(files.read_bytes(Path(ref if isinstance(ref, str) else ref.locator)))

    def save(self, native: Transcript[Rollout]) -> SessionRef:
        """Write ``native`` as a new session below the first root, in the folder of the day it started."""
        if not self.roots:
            raise StoreError("there is no place to save to", hint="set HOME or CODEX_HOME")
        session = ids.check_id(native.meta.id)
        start = native.meta.timestamp or _EPOCH
        name = f"rollout-{start:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"
        path = self.roots[0] / f"{start:%Y}" / f"{start:%m}" / f"{start:%d}" / name
        files.write_atomically(path, native.body.main.data)
        ref = _read_ref(str(path))
        if ref is None:
            raise StoreError(f"cannot read {path} back")
        return ref

    def delete(self, ref: SessionRef) -> None:
        """Remove one rollout of this store."""
        path = Path(ref.locator)
        if not _is_rollout(path.name) or not self._holds(path):
            raise StoreError(f"{path} is no session of this store")
        try:
            path.unlink()
        except OSError as problem:
            raise StoreError(f"cannot delete {path}: {problem.strerror or problem}") from problem

    def _holds(self, path: Path) -> bool:
        try:
            real = path.parent.resolve(strict=True)
        except OSError:
            return False
        return path.is_file() and any(real.is_relative_to(root.resolve()) for root in self.roots)

    def fingerprint(self, ref: SessionRef) -> str:
        """Size, times and place on disk of the file; ``""`` when there is none."""
        try:
            stat = Path(ref.locator).stat()
        except OSError:
            return ""
        return ids.short_hash(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


def _is_rollout(name: str) -> bool:
    return name.startswith("rollout-") and name.lower().endswith(".jsonl")


def _walk(folder: str, closed: list[str]) -> Iterator[str]:
    """Every rollout below ``folder``, in order of name; folders behind links are not entered.

    Those that may not be read are put into ``closed``.
    """
    for entry in entries_of(folder, closed):
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:
            continue
        if is_folder:
            yield from _walk(entry.path, closed)
        elif _is_rollout(entry.name):
            yield entry.path


def _read_ref(path: str) -> SessionRef | None:
    """The session in ``path``; None when it cannot be read or holds no record.

    A file that lost its ``session_meta`` is found under the id in its name, as damaged.
    """
    try:
        # Not waiting: a pipe of that name would be waited for without end.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except PermissionError:
        return unreadable_ref("codex", path, _id_in_name(path))
    except OSError:
        return None
    try:
        stat = os.fstat(handle)
        if not S_ISREG(stat.st_mode):
            return None
        head = _read_head(handle, stat.st_size)
        tail = os.pread(handle, TAIL_BYTES, max(len(head), stat.st_size - TAIL_BYTES))
    except OSError:
        return None
    finally:
        os.close(handle)
    is_all = stat.st_size == len(head) + len(tail)
    if not is_all:
        tail = tail[tail.find(b"\n") + 1 :]
        head = head[: head.rfind(b"\n") + 1]
    rows = read_part(head + tail)
    meta = read_meta(rows.rows)
    has_header = bool(meta.id)
    if not has_header:
        meta = replace(meta, id=_id_in_name(path) if rows.rows else "")
    if not meta.id:
        return None
    times = (read_time(row.timestamp) for row in reversed(rows.rows))
    return SessionRef(
        harness="codex",
        id=meta.id,
        locator=path,
        meta=meta,
        size_bytes=stat.st_size,
        updated_at=next((time for time in times if time is not None), datetime.fromtimestamp(stat.st_mtime, UTC)),
        is_whole=has_header and not rows.faults,
        parent=meta.parent,
    )


def _id_in_name(path: str) -> str:
    """The id that ``rollout-TIME-ID.jsonl`` ends in; ``""`` when the name is not of that form."""
    found = _NAME.search(path)
    return found["id"] if found else ""


def _read_head(handle: int, size: int) -> bytes:
    """The first stretch of a file, longer where its first line is (it holds the base instructions).

    Before the envelope the folder stands behind instructions too, twice the same, up to 32 KiB each.
    """
    head = os.pread(handle, min(size, HEAD_BYTES), 0)
    if b"\n" not in head:
        head = os.pread(handle, min(size, _LONG_HEAD_BYTES), 0)
    if len(head) < size and is_bare(head):
        head = os.pread(handle, min(size, max(len(head), _BARE_HEAD_BYTES)), 0)
    return head
