"""The end of a file that somebody else is writing: whole lines as they come, and word when it is not the same file.

A line counts once its line feed is there; what stands after the last one is held back. Writers do more than append:
a file is cut short, written anew in its place, or replaced by another under its name. Before anything is handed out
the first and the last stretch of what was handed out before are looked at again, together with the file's identity.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from handrail.errors import StoreError

PROOF_BYTES = 1 << 12
"""How much of each end is compared on every look."""

_CHUNK_BYTES = 1 << 20


class Restart(StrEnum):
    """Why a file is read from its beginning again."""

    TRUNCATED = "truncated"
    REPLACED = "replaced"
    REWRITTEN = "rewritten"


class Growth(Struct, frozen=True, kw_only=True, gc=False):
    """What one look found.

    ``data`` holds the whole lines that were not handed out before, ``b""`` for none; with ``restarted`` it begins at
    the start of the file again. ``held_bytes`` counts what stands after the last line feed. ``is_missing``: there is
    no file of that name now.
    """

    data: bytes = b""
    restarted: Restart | None = None
    held_bytes: int = 0
    is_missing: bool = False


class Tail:
    """Follows the file at ``path`` and remembers what it handed out; every look opens the file afresh."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None
        self._changed_ns = 0
        self._size = 0
        self._forget()

    def _forget(self) -> None:
        self._offset = 0
        self._head = b""
        self._end = b""
        self._digest = blake2b(digest_size=16)

    def look(self) -> Growth:
        """What is new since the last look; ``StoreError`` when the file cannot be read or is none."""
        try:
            if not stat.S_ISREG(self._path.stat().st_mode):
                raise StoreError(f"{self._path} is no plain file, so it cannot be followed")
            handle = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return Growth(is_missing=True)
        except (OSError, ValueError) as problem:
            raise self._unreadable(problem) from problem
        try:
            return self._read(handle)
        except OSError as problem:
            raise self._unreadable(problem) from problem
        finally:
            os.close(handle)

    def _unreadable(self, problem: OSError | ValueError) -> StoreError:
        reason = problem.strerror if isinstance(problem, OSError) else None
        return StoreError(f"cannot read {self._path}: {reason or problem}")

    def _read(self, handle: int) -> Growth:
        status = os.fstat(handle)
        restarted = self._restart(handle, status)
        if restarted is not None:
            self._forget()
        self._identity = (status.st_dev, status.st_ino)
        self._changed_ns, self._size = status.st_mtime_ns, status.st_size
        found = b"".join(_stretches(handle, self._offset, status.st_size))
        lines = found[: found.rfind(b"\n") + 1]
        self._take(lines)
        return Growth(data=lines, restarted=restarted, held_bytes=len(found) - len(lines))

    def _restart(self, handle: int, status: os.stat_result) -> Restart | None:
        if self._identity is None:
            return None
        if (status.st_dev, status.st_ino) != self._identity:
            return Restart.REPLACED
        if status.st_size < self._offset:
            return Restart.TRUNCATED
        return None if self._has_kept_what_it_had(handle, status) else Restart.REWRITTEN

    def _has_kept_what_it_had(self, handle: int, status: os.stat_result) -> bool:
        """Whether both ends of what was handed out stand where they stood; all of it where a write added nothing."""
        if os.pread(handle, len(self._head), 0) != self._head:
            return False
        if os.pread(handle, len(self._end), self._offset - len(self._end)) != self._end:
            return False
        if status.st_mtime_ns == self._changed_ns or status.st_size > self._size:
            return True
        now = blake2b(digest_size=16)
        for stretch in _stretches(handle, 0, self._offset):
            now.update(stretch)
        return now.digest() == self._digest.digest()

    def _take(self, lines: bytes) -> None:
        self._offset += len(lines)
        self._digest.update(lines)
        if len(self._head) < PROOF_BYTES:
            self._head = (self._head + lines[:PROOF_BYTES])[:PROOF_BYTES]
        self._end = (self._end + lines[-PROOF_BYTES:])[-PROOF_BYTES:]


def _stretches(handle: int, start: int, end: int) -> Iterator[bytes]:
    """The bytes from ``start`` to ``end``, or to where the file ends now."""
    while start < end:
        stretch = os.pread(handle, min(_CHUNK_BYTES, end - start), start)
        if not stretch:
            return
        yield stretch
        start += len(stretch)
