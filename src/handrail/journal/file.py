"""The journal in files: one JSONL file a session, in the ``handrail`` harness's own format, readable as it grows.

Three files a session, readable by their owner only. ``ID.jsonl`` holds the events. ``ID.head`` holds the epoch and
how many bytes of the journal are committed: what stands behind them is an append that was cut off, and is cut away
by the next one, so that an append is there whole or not at all whenever the process dies. ``ID.inbox`` holds what
others sent. ``ID.head`` is also the lock that every writer holds while it writes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from handrail import files, jsonio
from handrail.clock import Clock, SystemClock
from handrail.errors import StoreError
from handrail.ids import check_id
from handrail.journal.board_rows import SETTLING, check_answer, check_closings, overtaking
from handrail.journal.broken import BrokenJournal
from handrail.journal.events import AskClosed, AskOpened, AskVoted, Event, RunEnded
from handrail.journal.file_inbox import FileInbox, write_at
from handrail.journal.folded import FoldedBoard
from handrail.journal.port import Entry, Posted, SeqConflict, StaleEpoch, check_numbers
from handrail.journal.vocabulary import Actor
from handrail.journal.wire import NotAnEvent, decode_event, encode_event

JOURNAL, HEAD, INBOX = ".jsonl", ".head", ".inbox"

POLL_S = 0.2
"""How often a driver looks for what other processes posted, in seconds."""

MAX_OPEN = 64
"""Of how many sessions a journal keeps the files open, two each; of others it opens them again when they are used."""

_HEAD_BYTES = 42
_CLOSED = -1
"""In the place of a descriptor that is not there."""
_SYNCED = frozenset({RunEnded, AskOpened, AskVoted, AskClosed})
"""What must outlive a power cut: what people were asked and answered, and ends. The rest outlives the process."""


class _Head(Struct, frozen=True):
    """What ``ID.head`` says: the epoch, and the size of the journal without an append that was cut off."""

    epoch: int
    committed: int


class _Files:
    """The files of one session.

    Inside a ``with`` its lock is held, ``head`` says what stands, and ``is_replaced`` whether the journal's name stands
    for another file than was written, where nobody would see what is written. What says no other is used there only.
    """

    def __init__(self, folder: Path, session: str) -> None:
        base = folder / check_id(session)
        self.journal = base.with_name(base.name + JOURNAL)
        self._journal_name = str(self.journal)
        self.inbox = FileInbox(base.with_name(base.name + INBOX))
        files.make_private_folder(folder)
        self._head_name = str(base.with_name(base.name + HEAD))
        self._lock = self._log = _CLOSED
        self._identity: tuple[int, int] | None = None
        self._log_size = 0
        self.is_replaced = False
        self.head = self._said = _Head(0, 0)
        self._spelled: bytes | None = None
        self._read_up_to = -1
        self._seq = 0

    def __enter__(self) -> _Files:
        """Take the session's lock, waiting for its turn, and look at what stands. ``StoreError`` where that fails."""
        import fcntl

        try:
            if self._lock < 0:
                self._lock = os.open(self._head_name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, files.PRIVATE_FILE)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            try:
                self._look()
            except BaseException:
                fcntl.flock(self._lock, fcntl.LOCK_UN)
                raise
        except OSError as problem:
            self._refuse(problem)
            raise
        return self

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        import fcntl

        fcntl.flock(self._lock, fcntl.LOCK_UN)
        if isinstance(problem, OSError):
            self._refuse(problem)

    def _refuse(self, problem: OSError) -> None:
        """``StoreError`` for what the disk refused, unless ``problem`` is one already."""
        if not isinstance(problem, StoreError):
            what = f"journal {self.journal.stem} in {self.journal.parent}"
            raise StoreError(f"{what}: {problem.strerror or problem}") from problem

    def close(self) -> None:
        """Let go of the files, which needs no lock; what was read is kept, and they are opened again when needed."""
        for handle in (self._lock, self._log):
            if handle >= 0:
                os.close(handle)
        self._lock = self._log = _CLOSED

    def _look(self) -> None:
        """What the head says, held against what there is."""
        spelled = os.pread(self._lock, _HEAD_BYTES, 0)
        try:
            found = os.stat(self._journal_name)  # noqa: PTH116 - asked at every append
        except FileNotFoundError:
            self._log_size, self.is_replaced = 0, self._identity is not None
        else:
            self._log_size = found.st_size
            self.is_replaced = self._identity is not None and self._identity != (found.st_dev, found.st_ino)
        if spelled != self._spelled:
            try:
                epoch, committed = map(int, spelled.split())
            except ValueError:
                # A journal that came without its head (it was copied here): what is whole in it is committed.
                self.head = _Head(0, _whole_bytes(self.journal))
                return
            self._spelled, self._said = spelled, _Head(epoch, committed)
        said = self._said
        self.head = said if said.committed <= self._log_size else _Head(said.epoch, _whole_bytes(self.journal))

    def write_head(self, head: _Head) -> None:
        spelled = b"%020d %020d\n" % (head.epoch, head.committed)
        os.pwrite(self._lock, spelled, 0)
        self._spelled, self._said, self.head = spelled, head, head

    def last_seq(self) -> int:
        """The number of the last event, read anew only when somebody else has written."""
        if self.head.committed != self._read_up_to:
            events = self.read()
            self._seq = events[-1].seq if events else 0
            self._read_up_to = self.head.committed
        return self._seq

    def read(self) -> list[Event]:
        """The committed events; ``BrokenJournal`` for a line that is none."""
        committed = self.head.committed
        data = b"" if committed == 0 else files.read_bytes(self.journal)[:committed]
        try:
            return [decode_event(data[start:end]) for start, end in jsonio.iter_lines(data)]
        except NotAnEvent as problem:
            raise BrokenJournal(f"{self.journal.name}: {problem}") from problem

    def append(self, events: Sequence[Event], data: bytes) -> None:
        """Write behind what is committed, then commit."""
        if self._log < 0:
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            self._log = os.open(self.journal, flags, files.PRIVATE_FILE)
            opened = os.fstat(self._log)
            self._identity = (opened.st_dev, opened.st_ino)
        committed = self.head.committed
        if self._log_size != committed:
            os.ftruncate(self._log, committed)
        write_at(self._log, data, committed)
        for event in events:
            if type(event.body) in _SYNCED:
                os.fsync(self._log)
                break
        self.write_head(_Head(self.head.epoch, committed + len(data)))
        self._read_up_to = self.head.committed
        self._seq = events[-1].seq

    def reopen(self) -> None:
        """Let go of the journal's file, so that whatever stands in its place is read and written from now on."""
        if self._log >= 0:
            os.close(self._log)
        self._log, self._identity, self._read_up_to = _CLOSED, None, -1
        self.is_replaced = False


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
        self._latest: str | None = None

    def close(self) -> None:
        """Let go of all files; the journal opens them again when it is used."""
        with self._lock:
            for opened in self._open.values():
                opened.close()
            self._open.clear()
            self._known.clear()
            self._latest = None

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[Event]) -> None:
        check_numbers(expected_seq, events)
        data = b"\n".join((*map(encode_event, events), b""))
        with self._lock, self._files(session) as kept:
            if epoch != kept.head.epoch:
                raise StaleEpoch(f"session {session} is driven under epoch {kept.head.epoch}, not {epoch}")
            if kept.is_replaced:
                raise StoreError(
                    f"{kept.journal} was replaced or removed while a run wrote to it",
                    hint="go on with what is there now",
                )
            last = kept.last_seq()
            if expected_seq != last:
                raise SeqConflict(f"session {session} stands at event {last}, not {expected_seq}")
            if overtaking(events):
                check_closings(events, session, kept.read(), kept.inbox.read())
            if events:
                kept.append(events, data)

    async def read(self, session: str, after: int = 0) -> tuple[Event, ...]:
        if not self._path(session, JOURNAL).exists():
            return ()
        with self._lock, self._files(session) as kept:
            return tuple(event for event in kept.read() if event.seq > after)

    async def take_over(self, session: str) -> int:
        with self._lock, self._files(session) as kept:
            kept.reopen()
            kept.write_head(_Head(kept.head.epoch + 1, kept.head.committed))
            return kept.head.epoch

    async def post(self, session: str, body: Posted, by: Actor, key: str) -> Entry:
        with self._lock, self._files(session) as kept:
            entries = kept.inbox.read()
            known = next((entry for entry in entries if entry.key == key), None)
            if known is not None:
                return known
            if isinstance(body, SETTLING):
                check_answer(body.ask, session, kept.read(), entries)
            entry = Entry(number=kept.inbox.next_number, body=body, by=by, key=key, at=self._clock.now())
            kept.inbox.add(entry)
            return entry

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        known = self._known.get(session)
        if known is not None and not known.inbox.has_news:
            return known.inbox.after(after)
        if known is None and not self._path(session, INBOX).exists():
            return ()
        with self._lock, self._files(session) as kept:
            kept.inbox.read()
            return kept.inbox.after(after)

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
        if session == self._latest:
            return self._known[session]
        kept = self._known.get(session)
        if kept is None:
            kept = self._known[session] = _Files(self.folder, session)
        self._open.pop(session, None)
        self._open[session] = kept
        self._latest = session
        if len(self._open) > MAX_OPEN:
            self._open.pop(next(iter(self._open))).close()
        return kept


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _whole_bytes(path: Path) -> int:
    """The size of ``path`` without a last line that has no end."""
    return 0 if _size(path) == 0 else files.read_bytes(path).rfind(b"\n") + 1
