"""The contracts a harness fulfils: ``HarnessInfo``, ``Codec``, ``Store``; and conversion between any two.

1. ``render(parse(x)) == x`` byte for byte, for every input.
2. ``to_common(from_common(c))`` is ``c`` but for uid, harness and parent, up to what the target can hold.
3. ``convert`` gives the native transcript and a ``Loss`` that accounts for every difference.
4. ``parse``, ``branches`` and ``to_common`` raise nothing for bad bytes: a bad record costs that record and is
   reported as a ``Fault``. Elsewhere nothing but a ``TranscriptError`` is raised.
5. An id is checked before a path is made of it; nothing outside a store's root is written; a source is never
   modified.

The suite in ``handrail.testing`` runs these over every codec the registry finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from handrail.transcripts.model import Author, Common, Meta, Parent, Text, Transcript
from handrail.transcripts.repair import Medic
from handrail.transcripts.spans import Span

Parts: TypeAlias = Mapping[str, bytes]
"""A native session: named byte strings (one for a file, several for a folder or a database)."""

Native = TypeVar("Native")


class Fault(Struct, frozen=True, kw_only=True, gc=False):
    """A record that could not be read. ``start`` and ``end`` are byte offsets into ``part`` (half-open)."""

    code: str
    start: int
    end: int
    message: str
    part: str = ""


class Record(Struct, frozen=True, kw_only=True, gc=False):
    """One native record as ``scan`` meets it: where it stands, what kind it says it is, its bytes.

    ``start`` and ``end`` are byte offsets in the stream; ``kind`` is the record's type (``""`` when unreadable);
    ``fault`` says what is wrong with it, or is None.
    """

    start: int
    end: int
    kind: str
    raw: bytes
    fault: str | None = None


class Branch(Struct, frozen=True, kw_only=True):
    """A line of a session that is not the live one.

    ``id`` names it (the uid of its first own message), ``at`` is the index in the live body of the first message
    it does not share, ``body`` holds its own messages only.
    """

    id: str
    at: int
    body: Common

    @property
    def human_turns(self) -> int:
        """How many messages of it hold a person's words."""
        return sum(1 for message in self.body if any(is_person(block) for block in message.content))


def is_person(block: object) -> bool:
    """Whether ``block`` is text a person wrote."""
    return type(block) is Text and block.author == Author.PERSON


class Child(Struct, frozen=True, kw_only=True):
    """A sub-agent of a session: its id, the call that started it (None when unknown), its own talk if it is at hand."""

    id: str
    call: str | None = None
    session: Transcript[Common] | None = None


class LossItem(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One thing a target could not carry.

    ``what`` is a field by its dotted name in the model (``thinking.signature``, ``message.stop_reason``,
    ``meta.title``), ``message`` and ``block`` are indices in the source (None for the whole session or message),
    ``why`` says what became of it.
    """

    what: str
    why: str
    message: int | None = None
    block: int | None = None


class Loss(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a conversion could not carry, and ``uids``: the target's uid for each source uid that was written."""

    items: tuple[LossItem, ...] = ()
    uids: Mapping[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.items)


class Codec(Protocol[Native]):
    """Bytes to native records to the canonical model, and back. Pure: no disk, no clock, no randomness."""

    def parse(self, data: Parts | bytes) -> Transcript[Native]:
        """The native transcript of ``data``. Never raises for bad bytes."""
        ...

    def render(self, native: Transcript[Native]) -> Parts | bytes:
        """What ``parse`` was given, byte for byte: bytes for bytes, parts for parts."""
        ...

    def scan(self, chunks: Iterable[bytes]) -> Iterator[Record]:
        """Record by record, in memory bounded by the largest; for listing, diagnosis, redaction."""
        ...

    def to_common(self, native: Transcript[Native], branch: str | None = None) -> Transcript[Common]:
        """The live line in the canonical model, or the line ``branch`` by its id.

        Never raises for bad bytes; a branch id that is not there is a ``TranscriptError``.
        """
        ...

    def from_common(self, common: Transcript[Common]) -> Transcript[Native]:
        """The native transcript of a canonical session. Pure: the same input gives the same bytes."""
        ...

    def write(self, common: Transcript[Common]) -> tuple[Transcript[Native], Loss]:
        """``from_common`` together with its ``Loss``."""
        ...

    def crop(self, native: Transcript[Native], spans: Sequence[Span]) -> Transcript[Native]:
        """A copy in the same harness that keeps the native records behind ``spans`` and their bookkeeping.

        Spans index the live line. ``to_common`` of the copy is ``to_common(native).crop_to(spans)`` but for uid and
        parent. Raises ``CropError`` as ``crop_to`` does.
        """
        ...

    def branches(self, native: Transcript[Native]) -> tuple[Branch, ...]:
        """The other lines of the session, in the order they leave the live one."""
        ...

    def children(self, native: Transcript[Native]) -> tuple[Child, ...]:
        """The sub-agents the session started, as far as its bytes tell."""
        ...

    def faults(self, native: Transcript[Native]) -> tuple[Fault, ...]:
        """What could not be read, with byte ranges."""
        ...

    def unknown(self, native: Transcript[Native]) -> Mapping[str, int]:
        """How many records of each kind this codec does not know were kept as they are."""
        ...


class SessionRef(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A session that a store holds, as found from its head and tail without reading it whole.

    ``locator`` is a path or another store-wide name. ``updated_at`` is aware UTC. ``is_whole`` is False where the
    listing already shows damage (a torn tail, a file that is no session).
    """

    harness: str
    id: str
    locator: str
    meta: Meta
    size_bytes: int = 0
    updated_at: datetime | None = None
    is_whole: bool = True
    parent: Parent | None = None


class Store(Protocol[Native]):
    """The sessions of one harness under one root folder."""

    def discover(self) -> Iterator[SessionRef]:
        """Every session under the root, from heads and tails only.

        A missing root holds none; a file that may not be read is listed as not whole. For a folder that may not be
        read ``StoreError`` is raised once everything else has been given.
        """
        ...

    def load(self, ref: SessionRef | str) -> Transcript[Native]:
        """The native transcript behind a ref or a locator, sub-agent files included as parts where there are any."""
        ...

    def save(self, native: Transcript[Native]) -> SessionRef:
        """Write a new session; never over an existing one."""
        ...

    def delete(self, ref: SessionRef) -> None:
        """Remove one session of this root; ``StoreError`` when it is not there or lies outside."""
        ...

    def fingerprint(self, ref: SessionRef) -> str:
        """Changes whenever the session's bytes do; ``""`` when unreadable."""
        ...


class ToolTraits(Struct, frozen=True, kw_only=True, gc=False):
    """What a harness's built-in tool can do: read private data, return words from outside, send out, destroy."""

    private: bool = False
    untrusted: bool = False
    sends: bool = False
    destructive: bool = False


class Counting(Struct, frozen=True, kw_only=True, gc=False):
    """What adding up tokens must know of a harness.

    ``input_holds_cache``: ``input_tokens`` count what was read from the cache too. ``response_ids`` gives the
    provider's own id of a response by the uid of each record of it, for telling one response that several files hold;
    None where records keep no such id.
    """

    input_holds_cache: bool = False
    response_ids: Callable[[Transcript[Any]], Mapping[str, str]] | None = None


class HarnessInfo(Struct, frozen=True, kw_only=True):
    """One harness: its names, its codec, where its sessions live, its built-in tools.

    ``store(root=None)`` opens the store at ``root`` or at the harness's own default place; a harness without a
    store has None there. ``status`` is ``supported`` where real files prove it, else ``experimental``.
    ``resume`` is the command that continues a session, ``{id}`` standing for its id. ``tools`` names the
    built-in tools by the names the canonical model gives them. ``recognises`` says from a file's bytes how sure
    the harness is that it wrote them, 0 to 1, by evidence that only its own format gives; a harness without it
    is never guessed. ``gather`` is given the path and the bytes of a session's own file and adds what belongs to it
    on disk (files of sub-agents); without it a session is that one file. ``extend`` is what ``parse`` would give for
    a session of one file that grew by whole lines, without reading the old ones again. ``counting`` says how its
    tokens are to be added up. ``instructions`` gives what the model was told before everything else, where a session
    records it.
    """

    name: str
    title: str
    codec: Codec[Any]
    store: Callable[..., Store[Any]] | None
    aliases: tuple[str, ...] = ()
    status: Literal["supported", "experimental"] = "experimental"
    resume: tuple[str, ...] | None = None
    tools: Mapping[str, ToolTraits] = {}
    recognises: Callable[[bytes], float] | None = None
    medic: Medic | None = None
    gather: Callable[[str, bytes], Parts | bytes] | None = None
    extend: Callable[[Transcript[Any], bytes], Transcript[Any]] | None = None
    counting: Counting = Counting()
    instructions: Callable[[Transcript[Any]], str | None] | None = None


def convert(session: Transcript[Common], codec: Codec[Native]) -> tuple[Transcript[Native], Loss]:
    """``session`` as ``codec``'s harness would have written it, and what it could not carry."""
    return codec.write(session)
