"""Where journals live: ``<state folder>/sessions/<id>.jsonl``, readable by their owner only, and a table beside them.

The table holds the journals of runs that write to a database; the store is given one, for it knows none itself. What
is saved is saved as a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from handrail import files
from handrail.errors import StoreError, UnsafeId
from handrail.harnesses.families.streaming import head_lines, tail_lines
from handrail.harnesses.families.unreadable import closed_error, entries_of
from handrail.harnesses.handrail.codec import NAME, HandrailCodec, Journal
from handrail.harnesses.handrail.table import SessionTable
from handrail.ids import check_id
from handrail.journal.events import RunStarted, SessionOpened, SessionTitled
from handrail.journal.file import HEAD, INBOX
from handrail.journal.wire import NotAnEvent, decode_event
from handrail.transcripts.codec import SessionRef
from handrail.transcripts.model import Meta, Transcript

SUFFIX = ".jsonl"
_WINDOW_BYTES = 1 << 16

_codec = HandrailCodec()


def open_store(root: Path | str | None = None) -> HandrailStore:
    """The store at ``root``, else in the state folder of this machine's user."""
    if root is not None:
        return HandrailStore(Path(root))
    state = files.state_folder(os.environ)
    return HandrailStore(None if state is None else state / "sessions")


class HandrailStore:
    """The journals in one root folder; without a root (there is no home) it holds no files and can save none.

    Those of ``table`` are found too. One whose id stands in both is that of the table: there runs go on.
    """

    def __init__(self, root: Path | None, table: SessionTable | None = None) -> None:
        self.root = root
        self.table = table

    def with_table(self, table: SessionTable) -> HandrailStore:
        """The same store with the sessions of ``table``."""
        return HandrailStore(self.root, table)

    def discover(self) -> Iterator[SessionRef]:
        """Every journal: of the table in the order they began, of the root by name.

        Files that are no journals and unreadable ones are skipped. A table or a root that cannot be read raises
        ``StoreError`` once all files have been given.
        """
        known: set[str] = set()
        problem: StoreError | None = None
        try:
            for ref in self._in_table():
                known.add(ref.id)
                yield ref
        except StoreError as raised:
            problem = raised
        closed: list[str] = []
        for ref in self._in_files(closed):
            if ref.id not in known:
                yield ref
        problem = problem or closed_error(closed)
        if problem is not None:
            raise problem

    def _in_table(self) -> Iterator[SessionRef]:
        if self.table is None:
            return
        for session in self.table.sessions():
            meta, _ = _survey(session.first + b"\n", b"")
            if meta is None:
                continue
            yield SessionRef(
                harness=NAME,
                id=session.id,
                locator=f"{self.table.name}/{session.id}",
                meta=replace(meta, harness=NAME, title=session.title, model=session.model),
                size_bytes=session.size_bytes,
                updated_at=session.updated_at,
                parent=meta.parent,
            )

    def _in_files(self, closed: list[str]) -> Iterator[SessionRef]:
        if self.root is None:
            return
        for entry in entries_of(str(self.root), closed):
            if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                ref = _look(entry.path)
                if ref is not None:
                    yield ref

    def load(self, ref: SessionRef | str) -> Transcript[Journal]:
        """The journal behind a ref or a locator."""
        lines = self.lines(ref)
        if lines is not None:
            return _codec.parse(b"".join(line + b"\n" for line in lines))
        return _codec.parse(files.read_bytes(self._inside(ref)))

    def lines(self, ref: SessionRef | str, after: int = 0, limit: int | None = None) -> list[bytes] | None:
        """The events of a journal in the table after number ``after``, one a line; None where it is a file.

        ``StoreError`` for one that is not there any more.
        """
        session = self._row(ref)
        if session is None or self.table is None:
            return None
        lines = self.table.lines(session, after, limit)
        if not lines and not self.table.fingerprint(session):
            raise StoreError(f"{self.table.name} holds no session {session}")
        return lines

    def holds(self, ref: SessionRef | str) -> bool:
        """Whether a ref or locator is that of a journal in the table, and it is there."""
        session = self._row(ref)
        return session is not None and self.table is not None and bool(self.table.fingerprint(session))

    def _row(self, ref: SessionRef | str) -> str | None:
        """The id of the journal that a locator of the table names; None for any other locator."""
        locator = ref if isinstance(ref, str) else ref.locator
        start = "" if self.table is None else f"{self.table.name}/"
        if not start or not locator.startswith(start):
            return None
        try:
            return check_id(locator[len(start) :])
        except UnsafeId:
            return None

    def save(self, native: Transcript[Journal]) -> SessionRef:
        """Write a new journal; ``StoreError`` when its id is taken."""
        data = _codec.render(native)
        if not isinstance(data, bytes):
            if len(data) != 1:
                raise StoreError("a journal is one file", hint="save its parts one by one")
            data = next(iter(data.values()))
        if self.root is None:
            raise StoreError("there is no home folder to keep sessions in", hint="set HANDRAIL_HOME")
        path = self.root / (check_id(native.meta.id) + SUFFIX)
        files.write_atomically(path, data)
        ref = _look(str(path))
        if ref is None:
            raise StoreError(f"{path} could not be read back")
        return ref

    def delete(self, ref: SessionRef) -> None:
        """Remove one journal, with what a driver keeps beside it: its head and its inbox, or its rows."""
        session = self._row(ref)
        if session is not None and self.table is not None:
            if not self.table.remove(session):
                raise StoreError(f"{self.table.name} holds no session {session}")
            return
        path = self._inside(ref)
        try:
            path.unlink()
            for suffix in (HEAD, INBOX):
                path.with_suffix(suffix).unlink(missing_ok=True)
        except OSError as problem:
            raise StoreError(f"cannot delete {path}: {problem.strerror or problem}") from problem

    def fingerprint(self, ref: SessionRef) -> str:
        """Time of change and size, or how far the table's is; ``""`` when unreadable."""
        try:
            session = self._row(ref)
            if session is not None and self.table is not None:
                return self.table.fingerprint(session)
            status = self._inside(ref).stat()
        except (OSError, StoreError):
            return ""
        return f"{status.st_mtime_ns}:{status.st_size}"

    def _inside(self, ref: SessionRef | str) -> Path:
        """The file behind ``ref``; ``StoreError`` unless it is a journal file that stands in the root itself."""
        path = Path(ref if isinstance(ref, str) else ref.locator)
        root = self.root
        try:
            check_id(path.stem)
            is_inside = root is not None and path.parent.resolve() == root.resolve()
            is_inside = is_inside and path.suffix == SUFFIX and not path.is_symlink()
        except (UnsafeId, OSError, ValueError):
            is_inside = False
        if not is_inside:
            raise StoreError(f"{path} is no journal under {root}")
        return path


def _look(path: str) -> SessionRef | None:
    """What the head and tail of a file say; None when it is no journal or cannot be read."""
    try:
        with Path(path).open("rb") as stream:
            status = os.fstat(stream.fileno())
            head = stream.read(_WINDOW_BYTES)
            stream.seek(max(0, status.st_size - _WINDOW_BYTES))
            tail = stream.read()
    except OSError:
        return None
    meta, last = _survey(head, tail)
    if meta is None:
        return None
    return SessionRef(
        harness=NAME,
        id=meta.id,
        locator=path,
        meta=replace(meta, harness=NAME),
        size_bytes=status.st_size,
        updated_at=last or datetime.fromtimestamp(status.st_mtime, UTC),
        is_whole=tail.endswith(b"\n"),
        parent=meta.parent,
    )


def _survey(head: bytes, tail: bytes) -> tuple[Meta | None, datetime | None]:
    """What the journal says of its session, and the time of its last event.

    It is the opening event, with the model of the first run in the head and the last title in head and tail.
    """
    meta: Meta | None = None
    last: datetime | None = None
    for line in (*head_lines(head), *tail_lines(tail, is_whole=False)):
        try:
            event = decode_event(line)
        except NotAnEvent:
            continue
        body = event.body
        last = event.at or last
        if isinstance(body, SessionOpened) and meta is None:
            meta = replace(body.meta, timestamp=body.meta.timestamp or event.at)
        elif meta is not None and isinstance(body, RunStarted):
            meta = replace(meta, model=meta.model or body.model)
        elif meta is not None and isinstance(body, SessionTitled):
            meta = replace(meta, title=body.title)
    return meta, last
