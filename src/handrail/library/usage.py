"""What messages add up to: turns, rounds, tools and tokens, each response and each message counted once.

The same message stands in many places: a response is spread over rows, a fork begins with a copy of another session,
a file lies in two folders, a sub-agent's talk is told in its parent too. A response is known by the id its provider
gave it, else by its record's; one that was copied from a session that is here is counted there and nowhere else.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

from msgspec import Struct

from handrail.transcripts.calls import call_name
from handrail.transcripts.codec import is_person
from handrail.transcripts.model import Message, ToolUse, Usage

_RECENT_IDS = 1 << 16


class Tokens(Struct, frozen=True, kw_only=True, gc=False):
    """Tokens of responses.

    ``input`` were read afresh, ``cache_read`` came from the provider's cache, ``cache_write`` went into it;
    ``reasoning`` are part of ``output``.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            input=self.input + other.input,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """What one message adds. ``at`` is aware UTC or None; ``tools`` are the names of its calls.

    A response is one round; ``tokens`` is None where its record tells none. ``model`` is the one that responded, to a
    turn the one that answered it.
    """

    at: datetime | None
    model: str | None
    turns: int = 0
    rounds: int = 0
    tools: tuple[str, ...] = ()
    tokens: Tokens | None = None


class IdTable:
    """Which ids were seen, eight bytes each, so that millions of them fit."""

    def __init__(self) -> None:
        self._old = array("Q")
        self._recent: set[int] = set()

    def add(self, id: str) -> bool:
        """Remember ``id``; False when it was there already."""
        number = int.from_bytes(blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        if number in self._recent:
            return False
        at = bisect_left(self._old, number)
        if at < len(self._old) and self._old[at] == number:
            return False
        self._recent.add(number)
        if len(self._recent) >= _RECENT_IDS:
            self._old = array("Q", heapq.merge(self._old, sorted(self._recent)))
            self._recent.clear()
        return True


class Lines(NamedTuple):
    """The messages of a session, line by line, each once: the live line, what other lines add, sub-agents' talk.

    ``response_ids`` names responses by the uids of their records.
    """

    harness: str
    lines: Iterable[Iterable[Message]]
    response_ids: Mapping[str, str] = {}
    input_holds_cache: bool = False


class Counted(NamedTuple):
    """What a session adds, and how many of its turns and responses are copies of what is counted elsewhere."""

    entries: list[Entry]
    copies: int


def count_session(session: Lines, seen: IdTable, here: Set[str]) -> Counted:
    """What ``session`` adds to what was counted before; ``seen`` takes note of it.

    ``here`` are the ids of all other sessions of its harness: what was copied from one of them is left out. A copy of
    a session that is not here counts once, however many copies there are.
    """
    responses: dict[str, _Response] = {}
    entries: list[Entry] = []
    copied: dict[str, int] = {}
    copies = 0
    for line in session.lines:
        messages = list(line)
        for message, model in zip(messages, _models_after(messages), strict=True):
            is_response = message.role == "assistant"
            if not is_response and not any(map(is_person, message.content)):
                continue
            key = _key(session, message, copied)
            if message.origin is not None and message.origin in here:
                copies += 1
            elif is_response:
                responses.setdefault(key, _Response(message)).add(message)
            elif seen.add(key):
                entries.append(Entry(at=message.timestamp, model=model, turns=1))
            else:
                copies += 1
    fresh = [response for key, response in responses.items() if seen.add(key)]
    entries += [response.entry(input_holds_cache=session.input_holds_cache) for response in fresh]
    return Counted(entries, copies + len(responses) - len(fresh))


class _Response:
    """One response, however many messages tell of it. Of several counts of its tokens the fullest is the last one."""

    def __init__(self, first: Message) -> None:
        self._at = first.timestamp
        self._model = first.model
        self._usage: Usage | None = None
        self._tools: dict[str, str] = {}

    def add(self, message: Message) -> None:
        usage = message.usage
        if usage is not None and (self._usage is None or usage.output_tokens >= self._usage.output_tokens):
            self._usage = usage
        for block in message.content:
            if type(block) is ToolUse:
                self._tools.setdefault(block.id, call_name(block.call))

    def entry(self, *, input_holds_cache: bool) -> Entry:
        tokens = None if self._usage is None else _tokens(self._usage, input_holds_cache=input_holds_cache)
        return Entry(at=self._at, model=self._model, rounds=1, tools=tuple(self._tools.values()), tokens=tokens)


def _key(session: Lines, message: Message, copied: dict[str, int]) -> str:
    """What ``message`` is known by in every file that holds it. A copy without an id of its provider's is known by
    its place in what was copied, for its record may have been written anew."""
    known = session.response_ids.get(message.uid)
    if known is not None:
        return f"{session.harness}\n{known}"
    if message.origin is None:
        return f"{session.harness}\n\n{message.uid}"
    copied[message.origin] = place = copied.get(message.origin, 0) + 1
    return f"{session.harness}\n\n{message.origin}\n{place}"


def _models_after(messages: list[Message]) -> Iterator[str | None]:
    """For each message the model of the next response."""
    models: list[str | None] = []
    model = None
    for message in reversed(messages):
        models.append(model)
        if message.role == "assistant":
            model = message.model
    return reversed(models)


def _tokens(usage: Usage, *, input_holds_cache: bool) -> Tokens:
    read = usage.cache_read_input_tokens or 0
    return Tokens(
        input=max(0, usage.input_tokens - read) if input_holds_cache else usage.input_tokens,
        cache_read=read,
        cache_write=usage.cache_creation_input_tokens or 0,
        output=usage.output_tokens,
        reasoning=usage.reasoning_tokens or 0,
    )
