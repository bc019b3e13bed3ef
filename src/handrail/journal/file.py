"""The journal in files: one JSONL file a session, in the ``handrail`` harness's own format, readable as it grows.

Three files a session, readable by their owner only. ``ID.jsonl`` holds the events. ``ID.head`` holds the epoch and
how many bytes of the journal are committed: what stands behind them is an append that was cut off, and is cut away
by the next one, so that an append is there whole or not at all whenever the process dies. ``ID.inbox`` holds what
others sent. ``ID.head`` is also the lock that every writer holds while it writes.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from handrail import files, jsonio
from handrail.clock import Clock, SystemClock
from handrail.errors import StoreError
from handrail.ids import check_id
from handrail.journal.board_rows import SETTLING, check_answer, check_closings, overtaking
from handrail.journal.broken import BrokenJournal
from handrail.journal.events import AskClosed, AskOpened, AskVoted, Event, RunEnded
from handrail.journal.folded import FoldedBoard
from handrail.journal.port import Entry, Posted, SeqConflict, StaleEpoch, check_numbers, entry_of
from handrail.journal.vocabulary import Actor
from handrail.journal.wire import EventRow, NotAnEvent, decode_event, encode_event, read_row
from handrail.transcripts.model import Json

JOURNAL, HEAD, INBOX = ".jsonl", ".head", ".inbox"

POLL_S = 0.2
"""How often a driver looks for what other processes posted, in seconds."""

MAX_OPEN = 64
"""Of how many sessions a journal keeps the files open, two each; of others it opens them again when they are used."""

_HEAD_BYTES = 42
_SYNCED = (RunEnded, AskOpened, AskVoted, AskClosed)
"""What must outlive a power cut: what people were asked and answered, and ends. The rest outlives the process."""


class _Head(Struct, frozen=True):
    """What ``ID.head`` says: the epoch, and the size of the journal without an append that was cut off."""

    epoch: int
    committed: int

    def spelled(self) -> bytes:
        return b"%020d %020d\n" % (self.epoch, self.committed)


class _Line(Struct, frozen=True):
    """One line of an inbox: the entry in the shape of the event it will be, and its sender's key."""

    entry: Json
    key: str


class _Files:
    """The files of one session; every method but ``lock`` and ``close`` is called with the lock held."""

    def __init__(self, folder: Path, session: str) -> None:
        base = folder / check_id(session)
        self.journal = base.with_name(base.name + JOURNAL)
        self._journal_name = str(self.journal)
        self._inbox = base.with_name(base.name + INBOX)
        self._inbox_name = str(self._inbox)
        files.make_private_folder(folder)
        self._head_name = str(base.with_name(base.name + HEAD))
        self._head: int | None = None
        self._log: int | None = None
        self._identity: tuple[int, int] | None = None
        self._log_size = 0
        self._seen = _Head(0, -1)
        self._seq = 0
        self._entries: list[Entry] = []
        self._inbox_size = 0

    def close(self) -> None:
        """Let go of the files; what was read of them is kept, and they are opened again when they are needed."""
        for handle in (self._head, self._log):
            if handle is not None:
                os.close(handle)
        self._head = self._log = None

    def lock(self) -> None:
        """Take the session's lock; waits for its turn."""
        import fcntl

        fcntl.flock(self._opened_head(), fcntl.LOCK_EX)

    def unlock(self) -> None:
        import fcntl

        fcntl.flock(self._opened_head(), fcntl.LOCK_UN)

    def _opened_head(self) -> int:
        if self._head is None:
            self._head = os.open(self._head_name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, files.PRIVATE_FILE)
        return self._head

    def read_head(self) -> _Head:
        """What the head says, held against what there is."""
        spelled = os.pread(self._opened_head(), _HEAD_BYTES, 0)
        try:
            epoch, committed = map(int, spelled.split())
        except ValueError:
            # A journal that came without its head (it was copied here): what is whole in it is committed.
            self._log_size = _size(self.journal)
            return _Head(0, _whole_bytes(self.journal))
        self._log_size = _size(self.journal) if self._log is None else os.fstat(self._log).st_size
        return _Head(epoch, committed if committed <= self._log_size else _whole_bytes(self.journal))

    def write_head(self, head: _Head) -> None:
        os.pwrite(self._opened_head(), head.spelled(), 0)

    def last_seq(self, head: _Head) -> int:
        """The number of the last event, read anew only when somebody else has written."""
        if head.committed != self._seen.committed:
            events = self.read(head)
            self._seq = events[-1].seq if events else 0
            self._seen = head
        return self._seq

    def read(self, head: _Head) -> list[Event]:
        """The committed events; ``BrokenJournal`` for a line that is none."""
        data = b"" if head.committed == 0 else files.read_bytes(self.journal)[: head.committed]
        try:
            return [decode_event(data[start:end]) for start, end in jsonio.iter_lines(data)]
        except NotAnEvent as problem:
            raise BrokenJournal(f"{self.journal.name}: {problem}") from problem

    def append(self, head: _Head, events: Sequence[Event], data: bytes) -> None:
        """Write behind what is committed, then commit; ``StoreError`` when another file has taken its place."""
        if self._identity is not None and self._is_replaced():
            raise StoreError(
                f"{self.journal} was replaced or removed while a run wrote to it", hint="go on with what is there now"
            )
        if self._log is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            self._log = os.open(self.journal, flags, files.PRIVATE_FILE)
            self._identity = _identity(os.fstat(self._log))
        if self._log_size != head.committed:
            os.ftruncate(self._log, head.committed)
        _write_all(self._log, data, head.committed)
        if any(isinstance(event.body, _SYNCED) for event in events):
            os.fsync(self._log)
        self._seen = _Head(head.epoch, head.committed + len(data))
        self.write_head(self._seen)
        self._seq = events[-1].seq

    def reopen(self) -> None:
        """Let go of the journal's file, so that whatever stands in its place is read and written from now on."""
        if self._log is not None:
            os.close(self._log)
        self._log, self._identity, self._seen = None, None, _Head(0, -1)

    def _is_replaced(self) -> bool:
        """Whether the name stands for another file than was written, where nobody would see what is written."""
        try:
            return _identity(os.stat(self._journal_name)) != self._identity  # noqa: PTH116 - asked at every append
        except FileNotFoundError:
            return True

    @property
    def has_post(self) -> bool:
        """Whether the inbox holds more than was read of it; needs no lock, for it only ever grows."""
        try:
            return os.stat(self._inbox_name).st_size > self._inbox_size  # noqa: PTH116 - asked at every step of a run
        except FileNotFoundError:
            return False

    @property
    def known_entries(self) -> list[Entry]:
        """What was read of the inbox so far."""
        return self._entries

    def entries(self) -> list[Entry]:
        """The inbox as it stands, read on from where it was read before."""
        if self.has_post:
            data = files.read_bytes(self._inbox)[self._inbox_size :]
            whole = data[: data.rfind(b"\n") + 1]
            self._entries += [_entry(whole[start:end]) for start, end in jsonio.iter_lines(whole)]
            self._inbox_size += len(whole)
        return self._entries

    def post(self, entry: Entry) -> None:
        """Add ``entry`` to the inbox; a line that was cut off is cut away first."""
        event = Event(seq=entry.number, by=entry.by, body=entry.body, at=entry.at)
        line = b'{"entry":%b,"key":%b}\n' % (encode_event(event), jsonio.encode(entry.key))
        handle = os.open(self._inbox, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, files.PRIVATE_FILE)
        try:
            os.ftruncate(handle, self._inbox_size)
            _write_all(handle, line, self._inbox_size)
            os.fsync(handle)
        finally:
            os.close(handle)
        self._entries.append(entry)
        self._inbox_size += len(line)


class FileJournal(FoldedBoard):
    """Fulfils ``JournalWithBoard`` with one folder.

    Several processes may use it; one drives a session, all may post.
    """

    def __init__(self, folder: Path | str, clock: Clock | None = None, *, poll_s: float | None = POLL_S) -> None:
        self.folder = Path(folder)
        self.poll_s = poll_s
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._known: dict[str, _Files] = {}
        self._open: dict[str, _Files] = {}

    def close(self) -> None:
        """Let go of all files; the journal opens them again when it is used."""
        with self._lock:
            for opened in self._open.values():
                opened.close()
            self._open.clear()
            self._known.clear()

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[Event]) -> None:
        check_numbers(expected_seq, events)
        data = b"".join(encode_event(event) + b"\n" for event in events)
        with self._held(session) as (kept, head):
            if epoch != head.epoch:
                raise StaleEpoch(f"session {session} is driven under epoch {head.epoch}, not {epoch}")
            last = kept.last_seq(head)
            if expected_seq != last:
                raise SeqConflict(f"session {session} stands at event {last}, not {expected_seq}")
            if overtaking(events):
                check_closings(events, session, kept.read(head), kept.entries())
            if events:
                kept.append(head, events, data)

    async def read(self, session: str, after: int = 0) -> tuple[Event, ...]:
        if not self._path(session, JOURNAL).exists():
            return ()
        with self._held(session) as (kept, head):
            return tuple(event for event in kept.read(head) if event.seq > after)

    async def take_over(self, session: str) -> int:
        with self._held(session) as (kept, _):
            kept.reopen()
            head = kept.read_head()
            raised = _Head(head.epoch + 1, head.committed)
            kept.write_head(raised)
            return raised.epoch

    async def post(self, session: str, body: Posted, by: Actor, key: str) -> Entry:
        with self._held(session) as (kept, head):
            entries = kept.entries()
            known = next((entry for entry in entries if entry.key == key), None)
            if known is not None:
                return known
            if isinstance(body, SETTLING):
                check_answer(body.ask, session, kept.read(head), entries)
            entry = Entry(number=len(entries) + 1, body=body, by=by, key=key, at=self._clock.now())
            kept.post(entry)
            return entry

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        known = self._known.get(session)
        if known is not None and not known.has_post:
            return tuple(known.known_entries[after:])
        if known is None and not self._path(session, INBOX).exists():
            return ()
        with self._held(session) as (kept, _):
            return tuple(kept.entries()[after:])

    async def sessions(self) -> tuple[str, ...]:
        try:
            found = [path for path in self.folder.iterdir() if path.suffix == JOURNAL and path.stat().st_size]
        except OSError:
            return ()
        began = [(await self._began(path), path.stem) for path in found]
        return tuple(name for _, name in sorted(began))

    async def _began(self, path: Path) -> str:
        """When the first event was recorded, as text that sorts; ids sort by time themselves where it has none."""
        with path.open("rb") as stream:
            try:
                at = decode_event(stream.readline().rstrip(b"\n")).at
            except NotAnEvent:
                return ""
        return "" if at is None else at.isoformat()

    def _path(self, session: str, suffix: str) -> Path:
        return self.folder / (check_id(session) + suffix)

    def _files(self, session: str) -> _Files:
        """The files of ``session``; those of the session that was used longest ago are closed for them."""
        kept = self._known.get(session)
        if kept is None:
            kept = self._known[session] = _Files(self.folder, session)
        self._open.pop(session, None)
        self._open[session] = kept
        if len(self._open) > MAX_OPEN:
            self._open.pop(next(iter(self._open))).close()
        return kept

    @contextlib.contextmanager
    def _held(self, session: str) -> Iterator[tuple[_Files, _Head]]:
        """The files of ``session`` with their lock held, against other threads and other processes."""
        with self._lock:
            try:
                kept = self._files(session)
                kept.lock()
                try:
                    yield kept, kept.read_head()
                finally:
                    kept.unlock()
            except OSError as problem:
                if isinstance(problem, StoreError):
                    raise
                raise StoreError(f"journal {session} in {self.folder}: {problem.strerror or problem}") from problem


def _entry(line: bytes) -> Entry:
    try:
        # Not decoded as a whole: a text may hold half a character (a lone surrogate), which the strict reader refuses.
        row = msgspec.convert(jsonio.decode(line), _Line)
        event = read_row(msgspec.convert(row.entry, EventRow))
    except (jsonio.NotJson, msgspec.ValidationError, UnicodeEncodeError, NotAnEvent) as problem:
        raise BrokenJournal(f"an inbox holds a line that is no entry: {problem}") from problem
    return entry_of(event, row.key)


def _identity(found: os.stat_result) -> tuple[int, int]:
    """Which file this is, whatever it is called."""
    return found.st_dev, found.st_ino


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _whole_bytes(path: Path) -> int:
    """The size of ``path`` without a last line that has no end."""
    return 0 if _size(path) == 0 else files.read_bytes(path).rfind(b"\n") + 1


def _write_all(handle: int, data: bytes, offset: int) -> None:
    """Write all of ``data`` at ``offset``; a system call may write less."""
    view = memoryview(data)
    while view:
        written = os.pwrite(handle, view, offset)
        view, offset = view[written:], offset + written
