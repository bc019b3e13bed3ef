"""The codec of the neutral document: bytes kept, every field of the model written.

``parse`` raises nothing; ``check_document`` is for those who want to refuse what is no document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from handrail.errors import MalformedSession, UnconvertibleSession
from handrail.harnesses.families.writable import writable
from handrail.harnesses.simple.document import Document
from handrail.harnesses.simple.read import Reading, read_document
from handrail.harnesses.simple.spell import spell
from handrail.transcripts.codec import Branch, Child, Fault, Loss, LossItem, Parts, Record
from handrail.transcripts.model import Common, Transcript
from handrail.transcripts.spans import Span

NAME = "simple"


def check_document(data: bytes) -> None:
    """``MalformedSession`` when ``data`` is no JSON, no object, or has no list of messages; the rest is readable."""
    document = Document(data)
    if not data.strip():
        raise MalformedSession("the document is empty")
    if document.fault is not None:
        raise MalformedSession(document.fault.message)


class SimpleCodec:
    """The codec of neutral documents. Stateless."""

    def parse(self, data: Parts | bytes) -> Transcript[Document]:
        """The document in ``data``; an empty one, with a fault, where there is none."""
        document = Document(data)
        return Transcript(replace(_read(document).meta, harness=NAME), document)

    def render(self, native: Transcript[Document]) -> Parts | bytes:
        """The bytes or parts that were given."""
        return native.body.given

    def scan(self, chunks: Iterable[bytes]) -> Iterator[Record]:
        """One record, the document: it cannot be told apart without being read whole."""
        data = b"".join(chunks)
        if data:
            fault = Document(data).fault
            kind = "document" if fault is None else ""
            yield Record(start=0, end=len(data), kind=kind, raw=data, fault=None if fault is None else fault.code)

    def to_common(self, native: Transcript[Document], branch: str | None = None) -> Transcript[Common]:
        """The messages of the document; it has one line only, so any ``branch`` is a ``MalformedSession``."""
        if branch is not None:
            raise MalformedSession(f"the session has no branch {branch!r}")
        reading = _read(native.body)
        return Transcript(replace(reading.meta, harness=NAME), reading.body)

    def from_common(self, common: Transcript[Common]) -> Transcript[Document]:
        """The document of ``common``."""
        return self.write(common)[0]

    def write(self, common: Transcript[Common]) -> tuple[Transcript[Document], Loss]:
        """``from_common`` and the little it cannot say."""
        try:
            items: list[LossItem] = []
            body = tuple(writable(message, index, items) for index, message in enumerate(common.body))
            data = _render(spell(Transcript(common.meta, body), items))
        except RecursionError as problem:
            raise UnconvertibleSession("the session holds JSON that is nested too deeply to be written") from problem
        uids = {uid: uid for message in body for uid in message.uids or (message.uid,) if uid}
        return self.parse(data), Loss(items=tuple(items), uids=uids)

    def crop(self, native: Transcript[Document], spans: Sequence[Span]) -> Transcript[Document]:
        """The document of ``spans``; what the model has no place for (keys and blocks nobody knows) is left behind."""
        return self.from_common(self.to_common(native).crop_to(spans))

    def branches(self, native: Transcript[Document]) -> tuple[Branch, ...]:
        """None: a document has one line."""
        return ()

    def children(self, native: Transcript[Document]) -> tuple[Child, ...]:
        """None: a document is one session."""
        return ()

    def faults(self, native: Transcript[Document]) -> tuple[Fault, ...]:
        """What did not fit: the document as a whole, or fields, blocks and messages by the bytes of their message."""
        document = native.body
        if document.fault is not None:
            return (document.fault,)
        notes = _read(document).notes
        if not notes:
            return ()
        spans = document.message_spans()
        whole = (0, len(document.data))
        found = []
        for index, note in notes:
            start, end = whole if index is None else spans[index]
            found.append(Fault(code="does_not_fit", start=start, end=end, message=note, part=document.part))
        return tuple(found)

    def unknown(self, native: Transcript[Document]) -> Mapping[str, int]:
        """Blocks of types nobody knows, by type."""
        return _read(native.body).unknown


def _read(document: Document) -> Reading:
    return read_document(document.fields, document.messages)


def _render(plain: dict[str, Any]) -> bytes:
    """Two spaces, keys sorted, a final line feed; half characters as escapes."""
    text = json.dumps(plain, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"
