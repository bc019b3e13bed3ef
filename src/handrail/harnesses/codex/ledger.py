"""The table that a diagnosis of a rollout keeps: for each row its kind, its ids and its place, none of its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from handrail.harnesses.codex.bare import BARE_STARTS, peeked
from handrail.harnesses.codex.bare_reading import is_prompt
from handrail.harnesses.codex.elements import elements_of
from handrail.harnesses.codex.item_kinds import Content
from handrail.harnesses.codex.outputs import split_data_url
from handrail.harnesses.codex.wire import EVENT, ITEM, ITEM_KINDS, KNOWN_ENVELOPES, STARTS, STATE
from handrail.harnesses.families.examining import Examined, Examiner
from handrail.harnesses.families.pictures import Picture, measure

_NOTHING = Raw()
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_HEADER = "session_meta"
_any_decoder = msgspec.json.Decoder()
_content_decoder: msgspec.json.Decoder[Content] = msgspec.json.Decoder(Content)


class _Payload(Struct, gc=False):
    type: str = ""
    id: str | None = None
    role: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Raw = _NOTHING
    input: Raw = _NOTHING
    action: Raw = _NOTHING
    output: Raw = _NOTHING
    content: Raw = _NOTHING
    replacement_history: Raw = _NOTHING
    num_turns: int | None = None
    kind: str | None = None
    agent_thread_id: str | None = None
    new_thread_id: str | None = None
    cwd: str | None = None


class _Link(Struct, gc=False):
    timestamp: str | None = None
    type: str = ""
    payload: _Payload | None = None


class _Bare(_Payload):
    """A row from before the envelope, or one with it among those."""

    timestamp: str | None = None
    record_type: str | None = None
    payload: _Payload | None = None

    def linked(self) -> tuple[_Link, bool]:
        """The row as it is read in its envelope, and whether it has none itself."""
        if self.payload is None and self.type in ITEM_KINDS:
            return _Link(self.timestamp, ITEM, self), True
        if self.type == "" and self.record_type == STATE:
            return _Link(self.timestamp, STATE), True
        if self.type == "" and self.payload is None and self.id is not None and self.timestamp is not None:
            return _Link(self.timestamp, _HEADER, self), True
        return _Link(self.timestamp, self.type, self.payload), False


class Image(NamedTuple):
    """A picture in a row: the path of its element, and its measures."""

    path: tuple[str | int, ...]
    picture: Picture


class Entry(NamedTuple):
    """One row: its place, what kind of record it is, the call it makes or answers, hashes of its bytes and body.

    ``body`` is a hash of what a call or an output says; ``session`` the id in a ``session_meta``; ``undone`` the turns
    that a rollback takes back; ``bulk`` the bytes of a compaction's copy of the history. ``is_bare``: the row has no
    envelope; if ``asks``, it was submitted as a prompt. ``is_named``: it has an id.
    """

    type: str
    kind: str
    start: int
    end: int
    line_start: int
    line_end: int
    is_alone: bool
    digest: int
    time: str | None
    role: str | None = None
    call: str | None = None
    output: str | None = None
    body: int = 0
    session: str | None = None
    cwd: str | None = None
    undone: int = 0
    bulk: int = 0
    images: tuple[Image, ...] = ()
    is_bare: bool = False
    is_named: bool = False
    asks: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the row is one that Codex writes."""
        return self.type in (ITEM, EVENT) or self.type in KNOWN_ENVELOPES or self.is_mark

    @property
    def is_mark(self) -> bool:
        """Whether the row is the mark of a batch, which only rollouts from before the envelope have."""
        return self.is_bare and self.type == STATE

    @property
    def is_submission(self) -> bool:
        """Whether the row is the event of a submitted prompt."""
        return self.type == EVENT and self.kind == "user_message"

    @property
    def is_prompt(self) -> bool:
        """Whether the row stands for a submitted prompt."""
        return self.is_submission or self.asks

    @property
    def is_unique(self) -> bool:
        """Whether no row like it is ever written again: it has a time or an id of its own."""
        return not self.is_bare or self.time is not None or self.is_named

    @property
    def is_reply(self) -> bool:
        """Whether the row holds words of the model."""
        return self.type == ITEM and self.kind == "message" and self.role == "assistant"


class Ledger:
    """All rows of a rollout, and the sub-agents it started. ``is_bare``: it is from before the envelope."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.agents: set[str] = set()
        self.is_bare = False
        self.examiner: Examiner[Any] = Examiner(_Link, STARTS)

    def read(self, chunks: Iterable[bytes]) -> Ledger:
        """Take down every row of ``chunks``; the ledger itself."""
        self.is_bare, stream = peeked(chunks)
        if self.is_bare:
            self.examiner = Examiner(_Bare, BARE_STARTS)
        for record in self.examiner.examine(stream):
            link, is_bare = record.row.linked() if self.is_bare else (record.row, False)
            payload = link.payload
            if payload is not None and link.type == EVENT:
                started = payload.agent_thread_id if payload.kind == "started" else None
                self.agents.update(agent for agent in (started, payload.new_thread_id) if agent)
            self.entries.append(_entry(record, link, is_bare=is_bare))
        return self


def _entry(record: Examined[Any], link: _Link, *, is_bare: bool) -> Entry:
    payload = link.payload or _Payload()
    is_call = link.type == ITEM and payload.type in _CALLS
    is_output = link.type == ITEM and payload.type in _OUTPUTS
    parts = (payload.name, *map(bytes, (payload.arguments, payload.input, payload.action, payload.output)))
    return Entry(
        type=link.type,
        kind=payload.type,
        start=record.start,
        end=record.end,
        line_start=record.line_start,
        line_end=record.line_end,
        is_alone=record.is_alone,
        digest=hash(record.raw),
        time=link.timestamp,
        role=payload.role,
        call=payload.call_id if is_call else None,
        output=payload.call_id if is_output else None,
        body=hash((payload.type, *parts)) if is_call or is_output else 0,
        session=payload.id if link.type == _HEADER else None,
        cwd=payload.cwd,
        undone=payload.num_turns or 0 if payload.type == "thread_rolled_back" else 0,
        bulk=len(bytes(payload.replacement_history)),
        images=tuple(_images(link, payload, () if is_bare else ("payload",))),
        is_bare=is_bare,
        is_named=bool(payload.id or payload.call_id),
        asks=is_bare and payload.type == "message" and payload.role == "user" and _is_prompt(payload.content),
    )


def _is_prompt(content: Raw) -> bool:
    try:
        return is_prompt(elements_of(_content_decoder.decode(content)))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False


def _images(link: _Link, payload: _Payload, inside: tuple[str, ...]) -> Iterator[Image]:
    if link.type != ITEM:
        return
    for key, raw in (("content", payload.content), ("output", payload.output)):
        data = bytes(raw)
        if b'"image_url"' in data and data.startswith(b"["):
            yield from _pictures(data, (*inside, key))


def _pictures(data: bytes, path: tuple[str | int, ...]) -> Iterator[Image]:
    try:
        elements = _any_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return
    for index, element in enumerate(elements):
        text = url_of(element)
        if text is not None:
            yield Image((*path, index), measure(data_of(text)))


def url_of(element: Any) -> str | None:
    """The ``data:`` address of a picture element, None for anything else."""
    url = element.get("image_url") if isinstance(element, dict) else None
    if isinstance(url, dict):
        url = url.get("url")
    return url if isinstance(url, str) and url.startswith("data:") else None


def data_of(url: str) -> str:
    """The base64 text of a ``data:`` address; none where it is written otherwise."""
    found = split_data_url(url)
    return found[1] if found is not None else ""
