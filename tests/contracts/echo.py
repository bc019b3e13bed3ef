"""A codec that keeps the canonical model as it is, line by line, so that the contract itself can be tried.

A file is one JSON line of metadata and one per message. Whatever else a line holds is kept and is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import msgspec

from handrail import files, ids, jsonio
from handrail.errors import MalformedSession, StoreError
from handrail.transcripts.codec import (
    Branch,
    Child,
    Fault,
    HarnessInfo,
    Loss,
    LossItem,
    Parts,
    Record,
    SessionRef,
    Store,
)
from handrail.transcripts.model import Author, Common, Message, Meta, Text, Transcript
from handrail.transcripts.spans import Span, crop_to


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the format."""

    type: str
    meta: Meta | None = None
    message: Message | None = None


class Kept(msgspec.Struct, frozen=True):
    """The native body: the data as it was given."""

    data: Parts | bytes

    def __repr__(self) -> str:
        return f"Kept({len(self.data)})"


Native: TypeAlias = Transcript[Kept]


class EchoCodec:
    """Fulfils every rule."""

    def parse(self, data: Parts | bytes) -> Native:
        return Transcript(Meta(), Kept(data))

    def render(self, native: Native) -> Parts | bytes:
        return native.body.data

    def scan(self, chunks: Iterable[bytes]) -> Iterator[Record]:
        for start, raw in jsonio.iter_chunk_lines(chunks):
            yield Record(start=start, end=start + len(raw), kind="", raw=raw)

    def to_common(self, native: Native, branch: str | None = None) -> Transcript[Common]:
        if branch is not None:
            raise MalformedSession(f"no branch {branch!r}")
        lines = [line for _, _, line in self._lines(native) if line]
        meta = next((line.meta for line in lines if line.meta), Meta())
        return Transcript(meta, tuple(_without_people(line.message) for line in lines if line.message))

    def from_common(self, common: Transcript[Common]) -> Native:
        return self.write(common)[0]

    def write(self, common: Transcript[Common]) -> tuple[Native, Loss]:
        lines = [Line("meta", meta=common.meta), *(Line("message", message=message) for message in common.body)]
        data = b"".join(jsonio.encode(line) + b"\n" for line in lines)
        return Transcript(common.meta, Kept(data)), Loss(items=tuple(_unsaid_people(common.body)))

    def branches(self, native: Native) -> tuple[Branch, ...]:
        return ()

    def children(self, native: Native) -> tuple[Child, ...]:
        return ()

    def crop(self, native: Native, spans: Sequence[Span]) -> Native:
        session = self.to_common(native)
        return self.from_common(Transcript(session.meta, crop_to(session.body, spans)))

    def faults(self, native: Native) -> tuple[Fault, ...]:
        return tuple(
            Fault(code="no_line", start=start, end=end, message="not a line of this format")
            for start, end, line in self._lines(native)
            if line is None and end > start
        )

    def unknown(self, native: Native) -> Mapping[str, int]:
        return {}

    def _lines(self, native: Native) -> Iterator[tuple[int, int, Line | None]]:
        data = native.body.data if isinstance(native.body.data, bytes) else next(iter(native.body.data.values()), b"")
        for start, end in jsonio.iter_lines(data):
            try:
                yield start, end, msgspec.convert(jsonio.decode(data[start:end]), Line)
            except (msgspec.ValidationError, jsonio.NotJson, UnicodeError):
                yield start, end, None


def _unsaid_people(body: Common) -> Iterator[LossItem]:
    """What ``_without_people`` will take away when the file is read."""
    for number, message in enumerate(body):
        for index, block in enumerate(message.content):
            if message.role == "assistant" and isinstance(block, Text) and block.author is Author.PERSON:
                yield LossItem(what="text.author", why="no person speaks here", message=number, block=index)


def _without_people(message: Message) -> Message:
    """No text in a model's message is a person's, whatever the file claims."""
    if message.role == "user":
        return message
    content = tuple(
        msgspec.structs.replace(block, author=Author.UNKNOWN)
        if isinstance(block, Text) and block.author is Author.PERSON
        else block
        for block in message.content
    )
    return msgspec.structs.replace(message, content=content)


class EchoStore:
    """One ``ID.echo`` a session, all in the root itself."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def discover(self) -> Iterator[SessionRef]:
        for path in sorted(self.root.glob("*.echo")):
            if path.is_file() and path.resolve().parent == self.root.resolve():
                yield self._ref(path)

    def load(self, ref: SessionRef | str) -> Native:
        return EchoCodec().parse(files.read_bytes(Path(ref if isinstance(ref, str) else ref.locator)))

    def save(self, native: Native) -> SessionRef:
        path = self.root / f"{ids.check_id(native.meta.id)}.echo"
        assert isinstance(native.body.data, bytes)
        files.write_atomically(path, native.body.data)
        return self._ref(path)

    def delete(self, ref: SessionRef) -> None:
        path = Path(ref.locator)
        if path.resolve().parent != self.root.resolve() or not path.is_file():
            raise StoreError(f"no session at {ref.locator!r}")
        path.unlink()

    def fingerprint(self, ref: SessionRef) -> str:
        path = Path(ref.locator)
        return ids.short_hash(path.read_bytes()) if path.is_file() else ""

    def _ref(self, path: Path) -> SessionRef:
        data = path.read_bytes()
        meta = EchoCodec().to_common(EchoCodec().parse(data)).meta
        return SessionRef(
            harness="echo",
            id=meta.id or path.stem,
            locator=str(path),
            meta=meta,
            size_bytes=len(data),
            updated_at=datetime.fromtimestamp(path.stat().st_mtime, UTC),
            is_whole=data.endswith(b"\n"),
        )


def info(codec: EchoCodec, store: Callable[[Path], Store[Kept]] = EchoStore) -> HarnessInfo:
    """A harness of ``codec`` and ``store``."""
    return HarnessInfo(name="echo", title="Echo", codec=codec, store=store)
