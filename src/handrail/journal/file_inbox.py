"""The inbox of a session in files: one JSON line an entry, added to by many and never shortened but by a torn end.

A line that is no entry (a disk went bad, another program wrote there) costs that line: it is told of with its bytes,
stays where it is, and keeps its place, so that no number is ever given to two entries. A last line without an end is
none yet: whoever writes it may be at it still, and one that was cut off was never posted.
"""

from __future__ import annotations

import os
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import msgspec
from msgspec import Struct

from handrail import files, jsonio
from handrail.journal.broken import DamagedInbox
from handrail.journal.events import Event, Unknown
from handrail.journal.port import Entry, Posted, entry_of
from handrail.journal.wire import EventRow, NotAnEvent, encode_event, read_row, type_of
from handrail.transcripts.model import Json


class _Line(Struct, frozen=True):
    """One line: the entry in the shape of the event it will be, and its sender's key."""

    entry: Json
    key: str


class _NoEntry(ValueError):
    """A line is none that was posted here; the message says why."""


class FileInbox:
    """The inbox at ``path``. All but ``has_news`` and ``after`` is for whoever holds the session's lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = str(path)
        self._given = 0
        self._forget()

    def _forget(self) -> None:
        """Begin again with what the file says now; no number that was seen is given again all the same."""
        self._file: int | None = None
        self._size = 0
        self._lines = 0
        self._entries: list[Entry] = []

    @property
    def has_news(self) -> bool:
        """Whether there is more than was read, or another file than was read."""
        try:
            found = os.stat(self._name)  # noqa: PTH116 - asked at every step of a run
        except FileNotFoundError:
            return self._size > 0
        return found.st_size != self._size or found.st_ino != self._file

    def after(self, number: int) -> tuple[Entry, ...]:
        """The entries after ``number``, as far as they were read."""
        known = self._entries
        if not known or known[-1].number <= number:
            return ()
        return tuple(known[bisect_right(known, number, key=attrgetter("number")) :])

    def read(self) -> Sequence[Entry]:
        """All entries, read on from where they were read before; warns of ``DamagedInbox`` for each line that is none.

        ``BrokenJournal`` for an entry of a kind that only a later release knows: it must not be passed over.
        """
        if not self.has_news:
            return self._entries
        try:
            with self._path.open("rb") as stream:
                found = os.fstat(stream.fileno())
                if found.st_ino != self._file or found.st_size < self._size:
                    # Somebody put another file there, or took lines out of it.
                    self._forget()
                stream.seek(self._size)
                data = stream.read()
        except FileNotFoundError:
            self._forget()
            return self._entries
        self._file = found.st_ino
        damaged = self._take(data[: data.rfind(b"\n") + 1])
        for warning in damaged:
            warnings.warn(warning, stacklevel=2)
        return self._entries

    def _take(self, whole: bytes) -> list[DamagedInbox]:
        """Add the entries of ``whole`` lines, all of them or none; what is wrong with the lines that are none."""
        added: list[Entry] = []
        damaged: list[DamagedInbox] = []
        last = self._entries[-1].number if self._entries else 0
        lines = self._lines
        for start, end in jsonio.iter_lines(whole):
            lines += 1
            try:
                entry = _read(whole[start:end], last)
            except _NoEntry as problem:
                damaged.append(DamagedInbox(self._path, self._size + start, self._size + end, str(problem)))
            else:
                last = entry.number
                added.append(entry)
        self._entries += added
        self._size += len(whole)
        self._lines = lines
        self._given = max(self._given, lines, last)
        return damaged

    @property
    def next_number(self) -> int:
        """The number of the entry that is posted next: one that no line has, readable or not."""
        return self._given + 1

    def add(self, entry: Entry) -> None:
        """Write ``entry`` behind what was read; a line that was cut off is cut away first."""
        event = Event(seq=entry.number, by=entry.by, body=entry.body, at=entry.at)
        line = b'{"entry":%b,"key":%b}\n' % (encode_event(event), jsonio.encode(entry.key))
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, files.PRIVATE_FILE)
        try:
            os.ftruncate(handle, self._size)
            write_at(handle, line, self._size)
            os.fsync(handle)
            self._file = os.fstat(handle).st_ino
        finally:
            os.close(handle)
        self._entries.append(entry)
        self._size += len(line)
        self._lines += 1
        self._given = entry.number


def _read(line: bytes, last: int) -> Entry:
    """The entry of ``line``, which stands behind entry ``last``."""
    try:
        # Not decoded as a whole: a text may hold half a character (a lone surrogate), which the strict reader refuses.
        row = msgspec.convert(jsonio.decode(line), _Line)
        event = read_row(msgspec.convert(row.entry, EventRow))
    except (jsonio.NotJson, msgspec.ValidationError, UnicodeEncodeError, RecursionError, NotAnEvent) as problem:
        raise _NoEntry(str(problem)) from problem
    if not isinstance(event.body, Posted | Unknown):
        raise _NoEntry(f"nobody may send {type_of(event.body)}")
    if event.seq <= last:
        raise _NoEntry(f"it says that it is entry {event.seq}, and stands behind entry {last}")
    return entry_of(event, row.key)


def write_at(handle: int, data: bytes, offset: int) -> None:
    """Write all of ``data`` at ``offset``; a system call may write less."""
    view = memoryview(data)
    while view:
        written = os.pwrite(handle, view, offset)
        view, offset = view[written:], offset + written
