"""Disk: atomic writes, private folders, locks. Nothing else in the ground touches files.

Transcripts are private: what is written here is readable by its owner only (0600, folders 0700), appears whole
or not at all, and replaces a file only when told to.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from handrail.errors import HandrailError, StoreError

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
CHUNK_BYTES = 1 << 20

_TEMPORARY = ".handrail-"
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK})


def make_private_folder(folder: Path) -> None:
    """Create ``folder`` and its missing parents, readable by the owner only; existing ones keep their mode."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def write_atomically(path: Path, data: bytes, *, replace: bool = False) -> None:
    """Write ``data`` to ``path`` so that a reader sees the old file, the whole new one, or none.

    The bytes reach the disk before the name does. Without ``replace`` an existing file is left alone and
    ``StoreError`` is raised, with no window in which another writer could be overwritten.
    """
    write_stream_atomically(path, (data,), replace=replace)


def write_stream_atomically(
    path: Path, chunks: Iterable[bytes], *, replace: bool = False, check: Callable[[Path], None] | None = None
) -> None:
    """As ``write_atomically``, for what comes in ``chunks``.

    ``check`` is given the file before it gets its name; what it raises is raised, and nothing is left behind.
    """
    # It brings compression and random numbers with it, and most who import this only read.
    import tempfile

    try:
        make_private_folder(path.parent)
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY, suffix=".tmp", dir=path.parent)
    except (OSError, ValueError) as problem:
        raise _store_error("cannot write", path, problem) from problem
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            for chunk in chunks:
                stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
        if check is not None:
            check(temporary)
        if replace:
            temporary.replace(path)
        else:
            _publish_new(temporary, path)
    except HandrailError:
        raise
    except FileExistsError as problem:
        hint = "choose another name; nothing was overwritten"
        raise StoreError(f"{_shown(path)} exists already", hint=hint) from problem
    except (OSError, ValueError) as problem:
        raise _store_error("cannot write", path, problem) from problem
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _publish_new(temporary: Path, path: Path) -> None:
    """Give ``temporary`` the name ``path``, or raise ``FileExistsError``; never over another file."""
    try:
        path.hardlink_to(temporary)
    except OSError as problem:
        if problem.errno not in _NO_HARD_LINKS:
            raise
        # A file system without hard links: claim the name, then move over our own claim.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
        temporary.replace(path)


def _sync_folder(folder: Path) -> None:
    """Make a new name durable where the system can; one that cannot sync a folder keeps it by other means."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _store_error(what: str, path: Path, problem: OSError | ValueError) -> StoreError:
    reason = problem.strerror if isinstance(problem, OSError) else None
    return StoreError(f"{what} {_shown(path)}: {reason or problem}")


def _shown(path: Path) -> str:
    """``path`` in characters that every terminal and file can take."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def read_bytes(path: Path, limit: int = -1) -> bytes:
    """The whole file, or its first ``limit`` bytes where that is not negative; ``StoreError`` naming it."""
    try:
        with path.open("rb") as stream:
            return stream.read(limit)
    except (OSError, ValueError) as problem:
        raise _store_error("cannot read", path, problem) from problem


def look_at(path: Path) -> os.stat_result | None:
    """What stands at ``path``, None when nothing does; ``StoreError`` when that cannot be told."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as problem:
        raise _store_error("cannot look at", path, problem) from problem


class OpenFile:
    """A regular file, open for reading: its bytes as they were when it was opened, read in stretches.

    Raises ``StoreError`` for anything that is no regular file, and when the file shrinks while it is read. Neither
    opening nor reading ever waits. A file without a name is given by its open ``handle``, which is taken over; then
    ``path`` is only what it is called.
    """

    def __init__(self, path: Path, handle: int | None = None) -> None:
        try:
            how = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_BINARY", 0)
            self._handle = os.open(path, how) if handle is None else handle
        except (OSError, ValueError) as problem:
            raise _store_error("cannot read", path, problem) from problem
        self.path = path
        found = os.fstat(self._handle)
        if not stat.S_ISREG(found.st_mode):
            os.close(self._handle)
            raise StoreError(f"{_shown(path)} is no regular file")
        self.size = found.st_size
        self.modified_at_s = found.st_mtime
        self._mark = _mark(found)

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def chunks(self) -> Iterator[bytes]:
        """All bytes in order, ``CHUNK_BYTES`` at a time."""
        for start in range(0, self.size, CHUNK_BYTES):
            yield self.read(start, start + CHUNK_BYTES)

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``, fewer where the file ends before."""
        pieces: list[bytes] = []
        end = min(end, self.size)
        while start < end:
            try:
                piece = os.pread(self._handle, end - start, start)
            except OSError as problem:
                raise _store_error("cannot read", self.path, problem) from problem
            if not piece:
                raise StoreError(f"{_shown(self.path)} was cut while it was read")
            pieces.append(piece)
            start += len(piece)
        return b"".join(pieces)

    def has_changed(self) -> bool:
        """Whether the file under that name is another one now, or was written since it was opened."""
        try:
            return _mark(self.path.stat()) != self._mark
        except OSError:
            return True

    def is_same_as(self, other: Path) -> bool:
        """Whether ``other`` is this very file, by whatever name."""
        try:
            found = other.stat()
        except (OSError, ValueError):
            return False
        return (found.st_dev, found.st_ino) == self._mark[:2]

    def writers(self) -> tuple[int, ...]:
        """The processes that have the file open for writing, as far as the system tells (Linux, own processes)."""
        return tuple(_find_writers(*self._mark[:2]))


def _mark(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _find_writers(device: int, inode: int) -> Iterator[int]:
    for process in Path("/proc").glob("[0-9]*"):
        # A process may end, or belong to somebody else, at any step of this.
        with contextlib.suppress(OSError, ValueError):
            for link in (process / "fd").iterdir():
                found = link.stat()
                if (found.st_dev, found.st_ino) == (device, inode) and _may_write(process / "fdinfo" / link.name):
                    yield int(process.name)
                    break


def _may_write(described: Path) -> bool:
    for line in described.read_text().splitlines():
        if line.startswith("flags:"):
            return int(line.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY
    return False


class Locked(StoreError):
    """Somebody else holds the lock."""


@contextlib.contextmanager
def lock(path: Path, *, waits: bool = True) -> Iterator[None]:
    """Hold an exclusive lock on ``path`` (created when missing) until the block ends; waits for its turn.

    The system lets go of it when the process dies. ``StoreError`` when there is nowhere to lock, and without
    ``waits`` ``Locked`` when somebody else holds it.
    """
    import fcntl

    try:
        make_private_folder(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
    except (OSError, ValueError) as problem:
        raise _store_error("cannot lock", path, problem) from problem
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise Locked(f"{_shown(path)} is held by another process") from problem
        yield
    finally:
        os.close(handle)


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock on ``path`` now; ``StoreError`` when that cannot be told.

    Whoever tries to take it at the very moment of asking may find it held.
    """
    import fcntl

    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as problem:
        raise _store_error("cannot look at", path, problem) from problem
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def home(environment: Mapping[str, str]) -> Path | None:
    """The person's home folder by ``HOME`` (or ``USERPROFILE``), None when neither is set."""
    for name in ("HOME", "USERPROFILE"):
        value = environment.get(name)
        if value:
            return Path(value)
    return None


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """Where Handrail keeps what it must remember: ``HANDRAIL_HOME``, else XDG's state folder.

    None when there is no home at all.
    """
    if own := environment.get("HANDRAIL_HOME"):
        return Path(own)
    if (state := environment.get("XDG_STATE_HOME")) and Path(state).is_absolute():
        return Path(state) / "handrail"
    base = home(environment)
    return base / ".local" / "state" / "handrail" if base else None
