"""The table that a diagnosis of a Claude Code file keeps: for each row its ids and its place, none of its words.

It is what doctor and repair work on, so that neither holds a session in memory. A row is kept as the wire ``Row``
that the reader works on, cut down to what decides on its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from handrail.harnesses.claude_code.head import version_numbers
from handrail.harnesses.claude_code.speech import Setting, has_proof, row_speaker, speak
from handrail.harnesses.claude_code.wire import (
    ABSENT,
    PROOF_SINCE,
    STARTS,
    CompactMetadata,
    Instant,
    Row,
    RowOrigin,
    WireBlock,
    WireMessage,
)
from handrail.harnesses.families.examining import Examined, Examiner
from handrail.harnesses.families.markers import CLAUDE_CODE_PROGRAMS
from handrail.harnesses.families.pictures import Picture, measure
from handrail.transcripts.codec import is_person

_OPENING_CHARS = 120
_ANY_VERSION = Setting()


class _Link(Struct, gc=False):
    """A row as far as its place in the session needs."""

    parentUuid: str | None = None
    logicalParentUuid: str | None = None
    isSidechain: bool | None = None
    sessionId: str | None = None
    message: Raw = ABSENT
    attachment: Raw = ABSENT
    data: Raw = ABSENT
    type: str = ""
    subtype: str | None = None
    operation: str | None = None
    isMeta: bool | None = None
    uuid: str | None = None
    timestamp: Instant | None = None
    toolUseResult: Raw = ABSENT
    content: Raw = ABSENT
    thinkingMetadata: Raw = ABSENT
    planContent: Raw = ABSENT
    permissionMode: str | None = None
    promptSource: str | None = None
    origin: RowOrigin | None = None
    sourceToolUseID: str | None = None
    isCompactSummary: bool | None = None
    compactMetadata: CompactMetadata | None = None
    leafUuid: str | None = None
    version: str | None = None
    entrypoint: str | None = None


class _Block(Struct, gc=False):
    type: str = ""
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    input: Raw = ABSENT
    content: Raw = ABSENT
    text: str | None = None
    thinking: str | None = None
    is_error: bool | None = None


class _Tokens(Struct, gc=False):
    output_tokens: int | None = None


class _Said(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: _Tokens | None = None
    content: str | list[_Block] | None = None


class _Agent(Struct, gc=False):
    agentId: str | None = None


_said_decoder = msgspec.json.Decoder(_Said)
_agent_decoder = msgspec.json.Decoder(_Agent)
_any_decoder = msgspec.json.Decoder()


class Voice(IntEnum):
    """Whether a row is a person's turn: not, if the file's other prompts have no proof either, or proven."""

    NONE = 0
    PLAIN = 1
    PLAIN_OLD = 2
    PROVEN = 3


class Mark(NamedTuple):
    """A call or a result in a row: its id, a hash of all else in it, the index of its block."""

    id: str
    digest: int
    block: int


class Image(NamedTuple):
    """A picture in a row: the path of its block, and its measures."""

    path: tuple[str | int, ...]
    picture: Picture


class Entry(NamedTuple):
    """One row: its place, its ids, its calls and results. ``digest`` is a hash of what it says,
    ``leaf`` the row that a summary is of."""

    row: Row
    start: int
    end: int
    line_start: int
    line_end: int
    is_alone: bool
    digest: int
    session: str | None
    calls: tuple[Mark, ...] = ()
    results: tuple[Mark, ...] = ()
    images: tuple[Image, ...] = ()
    voice: Voice = Voice.NONE
    is_dead: bool = False
    leaf: str | None = None


class Ledger:
    """All rows of a file, and what stands in them of sub-agents."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.agents: set[str] = set()
        self.told: set[str] = set()
        self.is_driven = False
        self.examiner: Examiner[_Link] = Examiner(_Link, STARTS)

    @property
    def rows(self) -> list[Row]:
        """The rows as the rules of the live line want them."""
        return [entry.row for entry in self.entries]

    def read(self, chunks: Iterable[bytes]) -> Ledger:
        """Take down every row of ``chunks``; the ledger itself."""
        for record in self.examiner.examine(chunks):
            self._note_agents(record)
            self.entries.append(_entry(record))
            link = record.row
            if link.entrypoint in CLAUDE_CODE_PROGRAMS or (len(self.entries) == 1 and link.operation == "dequeue"):
                self.is_driven = True
        return self

    def is_person(self, index: int) -> bool:
        """Whether row ``index`` is a person's turn, by the rules the reader has."""
        voice = self.entries[index].voice
        if self.is_driven or voice is Voice.NONE:
            return False
        return voice is Voice.PROVEN or voice is Voice.PLAIN_OLD or not self._has_proof()

    def _has_proof(self) -> bool:
        return any(entry.voice is Voice.PROVEN for entry in self.entries)

    def _note_agents(self, record: Examined[_Link]) -> None:
        link = record.row
        if link.toolUseResult is not ABSENT and b'"agentId"' in bytes(link.toolUseResult):
            self.agents.update(_agent(link.toolUseResult))
        if link.type == "progress" and b'"agentId"' in record.raw:
            self.told.update(_agent(link.data))


def _agent(raw: Raw) -> tuple[str, ...]:
    try:
        found = _agent_decoder.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ()
    return (found.agentId,) if found.agentId else ()


def _entry(record: Examined[_Link]) -> Entry:
    link = record.row
    said = _read_message(link.message)
    blocks = said.content if type(said.content) is list else []
    row = _pruned(link, said)
    said_bytes = [bytes(raw) for raw in (link.message, link.attachment, link.content)]
    return Entry(
        row=row,
        start=record.start,
        end=record.end,
        line_start=record.line_start,
        line_end=record.line_end,
        is_alone=record.is_alone,
        digest=hash((link.type, link.subtype, link.operation, *said_bytes)),
        session=link.sessionId,
        calls=_marks(blocks, "tool_use"),
        results=_marks(blocks, "tool_result"),
        images=tuple(_images(link.message)),
        voice=_voice(row, link, said),
        is_dead=link.type == "assistant" and _is_dead(said),
        leaf=link.leafUuid,
    )


def _read_message(raw: Raw) -> _Said:
    """The message of a row; of one that is not as it should be, nothing."""
    try:
        return _said_decoder.decode(raw) if raw is not ABSENT else _Said()
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _Said()


def _pruned(link: _Link, said: _Said) -> Row:
    content: str | list[WireBlock] | None
    if isinstance(said.content, list):
        content = [_mark_of(block) for block in said.content]
    else:
        content = said.content[:_OPENING_CHARS] if said.content is not None else None
    return Row(
        parentUuid=link.parentUuid,
        logicalParentUuid=link.logicalParentUuid,
        isSidechain=link.isSidechain,
        message=WireMessage(id=said.id, content=content) if link.message is not ABSENT else None,
        type=link.type,
        subtype=link.subtype,
        operation=link.operation,
        isMeta=link.isMeta,
        uuid=link.uuid,
        timestamp=link.timestamp,
        content=_opening(link),
        promptSource=link.promptSource,
        isCompactSummary=link.isCompactSummary,
        compactMetadata=link.compactMetadata,
    )


def _mark_of(block: _Block) -> WireBlock:
    """A block without its words, but for a hash by which they are known again."""
    words = block.text or block.thinking
    mark = str(hash(words)) if words else None
    return WireBlock(type=block.type, id=block.id, tool_use_id=block.tool_use_id, text=mark)


def _opening(link: _Link) -> str | None:
    if link.type != "system" or not bytes(link.content).startswith(b'"'):
        return None
    try:
        value = _any_decoder.decode(link.content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return value[:_OPENING_CHARS] if isinstance(value, str) else None


def _marks(blocks: list[_Block], kind: str) -> tuple[Mark, ...]:
    found = []
    for index, block in enumerate(blocks):
        name = block.id if kind == "tool_use" else block.tool_use_id
        if block.type == kind and name is not None:
            body = (block.name, bytes(block.input), bytes(block.content), block.is_error)
            found.append(Mark(name, hash(body), index))
    return tuple(found)


def _voice(row: Row, link: _Link, said: _Said) -> Voice:
    if link.type != "user" or link.isMeta or link.isCompactSummary or said.content is None:
        return Voice.NONE
    blocks = said.content if isinstance(said.content, list) else []
    if any(block.type == "tool_result" for block in blocks):
        return Voice.NONE
    whole = Row(
        type=row.type,
        isSidechain=link.isSidechain,
        planContent=link.planContent,
        promptSource=link.promptSource,
        permissionMode=link.permissionMode,
        thinkingMetadata=link.thinkingMetadata,
        origin=link.origin,
    )
    is_typed = has_proof(whole)
    speaker = row_speaker(whole, _ANY_VERSION, lambda: None)
    texts = [said.content] if isinstance(said.content, str) else [block.text or "" for block in blocks]
    if not any(is_person(block) for text in texts for block in speak(text, speaker, is_typed=is_typed)):
        return Voice.NONE
    if is_typed or link.origin is not None:
        return Voice.PROVEN
    version = version_numbers(link.version)
    return Voice.PLAIN_OLD if version is not None and version < PROOF_SINCE else Voice.PLAIN


def _is_dead(said: _Said) -> bool:
    """Whether a response is one that no model gave: without a token, stopped by nothing. A session cannot end so."""
    is_empty = said.usage is not None and said.usage.output_tokens == 0
    return is_empty and said.stop_reason == "stop_sequence"


def _images(raw: Raw) -> list[Image]:
    data = bytes(raw)
    if b'"base64"' not in data:
        return []
    try:
        value = _any_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return []
    return list(_iter_images(value.get("content") if isinstance(value, dict) else None, ("message", "content")))


def _iter_images(content: Any, path: tuple[str | int, ...]) -> Iterator[Image]:
    if not isinstance(content, list):
        return
    for index, block in enumerate(content):
        if not isinstance(block, dict):
            continue
        source = block.get("source")
        if block.get("type") == "image" and isinstance(source, dict) and isinstance(source.get("data"), str):
            yield Image((*path, index), measure(source["data"]))
        elif block.get("type") == "tool_result":
            yield from _iter_images(block.get("content"), (*path, index, "content"))
