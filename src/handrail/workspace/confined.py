"""Files of one workspace, and no others.

A path is resolved, links and all, and must lie below the root; then it is opened step by step from the root without
following a single link. Whoever swaps a folder for a link between the two steps gets an error, not another file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from handrail.errors import HandrailError
from handrail.ids import new_uuid4

PROTECTED = frozenset({".git", ".handrail", ".mcp.json"})
"""Names of what steers the repository's tools, ours among them: nothing below one is ever written."""

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache"})
"""Folders that a walk leaves out unless it starts in one: what is in them is made by tools, and there is much of it."""

MAX_WHOLE_BYTES = 64 * 1024 * 1024
"""The largest file that is read whole."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_CHANGED = frozenset({errno.ELOOP, errno.ENOTDIR})


class PathRefused(HandrailError, PermissionError):
    """A path that leads out of the workspace, to what must not be written, or to no ordinary file."""

    code = "path"


class Entry(Struct, frozen=True, kw_only=True):
    """One name in a folder."""

    name: str
    is_folder: bool
    is_link: bool
    size_bytes: int


class Confined:
    """Reads and writes below ``root``. Paths may be relative to it or absolute; ``OSError`` as usual."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)

    @property
    def root(self) -> Path:
        return Path(self._root)

    def locate(self, path: str) -> tuple[str, ...]:
        """The names that lead from the root to ``path`` once links are resolved; ``PathRefused`` outside of it."""
        try:
            resolved = os.path.realpath(Path(self._root, path))
        except (ValueError, OSError) as problem:
            raise PathRefused(f"{path!r} is no path: {problem}") from problem
        if resolved == self._root:
            return ()
        if os.path.commonpath([resolved, self._root]) != self._root:
            raise PathRefused(f"{path} is outside the workspace")
        return tuple(Path(resolved).relative_to(self._root).parts)

    def open(self, path: str) -> BinaryIO:
        """The regular file at ``path``, open for reading bytes."""
        parts = self.locate(path)
        if not parts:
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        with self._folder(parts[:-1], path) as folder:
            handle = _opened(parts[-1], _FILE, folder, path)
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            os.close(handle)
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(errno.EISDIR, "is a folder", path)
            raise PathRefused(f"{path} is no ordinary file")
        return os.fdopen(handle, "rb")

    def read(self, path: str) -> bytes:
        """All of the file at ``path``; ``PathRefused`` when it is larger than ``MAX_WHOLE_BYTES``."""
        with self.open(path) as stream:
            data = stream.read(MAX_WHOLE_BYTES + 1)
        if len(data) > MAX_WHOLE_BYTES:
            raise PathRefused(f"{path} is larger than {MAX_WHOLE_BYTES // 1024 // 1024} MiB, too large to take whole")
        return data

    def write(self, path: str, data: bytes) -> bool:
        """Make ``data`` the whole content of ``path``, in one step; missing folders are made. True when it is new.

        The mode of a file that was there is kept. ``PathRefused`` for what is protected.
        """
        parts = self.locate(path)
        self._check_writable(path, parts)
        with self._folder(parts[:-1], path, makes_missing=True) as folder:
            return _replace(folder, parts[-1], data, path)

    def _check_writable(self, path: str, parts: tuple[str, ...]) -> None:
        if not parts:
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        # Compared without case: on some file systems .GIT is the same folder.
        guarded = next((part for part in parts if part.casefold() in PROTECTED), None)
        if guarded is not None:
            raise PathRefused(f"{path} must not be written: {guarded} is protected")

    def entries(self, path: str) -> list[Entry]:
        """What stands in the folder ``path``, by name."""
        with self._folder(self.locate(path), path) as folder, os.scandir(folder) as found:
            return sorted((_entry(item) for item in found), key=lambda entry: entry.name)

    def walk(self, path: str = ".") -> Iterator[str]:
        """Every file below ``path``, as a path from the root with ``/``, folder by folder, links not followed.

        ``SKIPPED_FOLDERS`` are left out, except where ``path`` is in one.
        """
        parts = self.locate(path)
        prefix = "/".join(parts)
        with self._folder(parts, path) as top:
            for place, folders, names, _ in os.fwalk(".", dir_fd=top, follow_symlinks=False):
                folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
                inner = os.path.normpath(place)
                base = "/".join(part for part in (prefix, "" if inner == "." else inner) if part)
                for name in sorted(names):
                    yield f"{base}/{name}" if base else name

    @contextlib.contextmanager
    def _folder(self, parts: tuple[str, ...], path: str, *, makes_missing: bool = False) -> Iterator[int]:
        """A descriptor of the folder at ``parts``, reached without following a link."""
        handle = os.open(self._root, _FOLDER)
        try:
            for part in parts:
                if makes_missing:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=handle)
                inner = _opened(part, _FOLDER, handle, path)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)


def is_foreign(path: Path) -> bool:
    """Whether ``path`` is a file that belongs to neither this user nor the machine's owner."""
    try:
        return path.is_file() and path.stat().st_uid not in {0, os.getuid()}
    except OSError:
        return False


def _opened(name: str, flags: int, folder: int, path: str) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as problem:
        if problem.errno in _CHANGED and _is_link(name, folder):
            raise PathRefused(f"{path} was changed into a link while it was opened") from problem
        raise type(problem)(problem.errno, problem.strerror, path) from problem


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _entry(item: os.DirEntry[str]) -> Entry:
    try:
        size = item.stat(follow_symlinks=False).st_size
    except OSError:
        # Gone since it was listed; it was there when it was asked for.
        size = 0
    is_folder = item.is_dir(follow_symlinks=False)
    return Entry(name=item.name, is_folder=is_folder, is_link=item.is_symlink(), size_bytes=size)


def _replace(folder: int, name: str, data: bytes, path: str) -> bool:
    try:
        before: int | None = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before):
        if stat.S_ISDIR(before):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        raise PathRefused(f"{path} is no ordinary file")
    temporary = f".{new_uuid4()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            if before is not None:
                os.fchmod(handle, stat.S_IMODE(before))
            stream.write(data)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    return before is None
