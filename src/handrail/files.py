"""Disk: atomic writes, private folders, locks. Nothing else in the ground touches files.

Transcripts are private: what is written here is readable by its owner only (0600, folders 0700), appears whole
or not at all, and replaces a file only when told to.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from handrail.errors import StoreError

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

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
    try:
        make_private_folder(path.parent)
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY, suffix=".tmp", dir=path.parent)
    except (OSError, ValueError) as problem:
        raise _store_error("cannot write", path, problem) from problem
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if replace:
            temporary.replace(path)
        else:
            _publish_new(temporary, path)
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


def read_bytes(path: Path) -> bytes:
    """The whole file, or ``StoreError`` naming it."""
    try:
        return path.read_bytes()
    except (OSError, ValueError) as problem:
        raise _store_error("cannot read", path, problem) from problem


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on ``path`` (created when missing) until the block ends; waits for its turn.

    The system lets go of it when the process dies. ``StoreError`` when there is nowhere to lock.
    """
    import fcntl

    try:
        make_private_folder(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
    except (OSError, ValueError) as problem:
        raise _store_error("cannot lock", path, problem) from problem
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


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
