"""What a person did, read block by block from the canonical model, each act once.

An act is evidence only: ``interventions`` makes moments of acts. What a harness, a model, a peer or an unknown
author wrote is no act, whatever it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from handrail.transcripts.calls import render_call
from handrail.transcripts.model import (
    Author,
    Block,
    Command,
    Common,
    Compaction,
    Decision,
    Interrupt,
    Json,
    Message,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Via,
)


class Words(NamedTuple):
    """Text a person typed. ``is_steer``: it reached the agent while it was working."""

    message: int
    block: int
    text: str
    is_steer: bool


class Refused(NamedTuple):
    """A call that a person refused; ``reason`` is their words (``""`` when there are none)."""

    message: int
    block: int
    call: str
    reason: str


class Decided(NamedTuple):
    """A person's recorded decision that is no answer to the agent's own question."""

    message: int
    block: int
    decision: Decision


class Stopped(NamedTuple):
    """The agent was stopped; ``is_person`` where the record proves who did it."""

    message: int
    block: int
    is_person: bool


Act: TypeAlias = Words | Refused | Decided | Stopped


_BARE_COMMAND = re.compile(r"/[a-z][a-z0-9_:-]*")
"""A command's name and nothing else; a path has a second slash, an end, or words around it."""


def is_response(message: Message) -> bool:
    """Whether ``message`` is something the model answered, and not a note that stands in its place."""
    if message.role != "assistant":
        return False
    return not message.content or not all(_is_note(block) for block in message.content)


def _is_note(block: Block) -> bool:
    return type(block) is Interrupt or (type(block) is Text and block.author == Author.HARNESS)


class ActReader:
    """Reads the acts of one line, message by message in order, and leaves out what it has read before.

    Copies are: messages with an origin, a record met twice, words repeated by a compaction, the same words twice
    without a response between them, and the row that a steer leaves behind when it is recorded a second time.
    """

    def __init__(self, body: Common) -> None:
        self._uses = {
            block.id: block
            for message in body
            if message.role == "assistant"
            for block in message.content
            if type(block) is ToolUse
        }
        self._own_calls = {
            block.id
            for message in body
            if message.role == "user"
            for block in message.content
            if type(block) is ToolUse
        }
        self._uids: set[str] = set()
        self._said: set[str] = set()
        self._said_here: set[str] = set()
        self._steers: list[str] = []
        self._is_repeating = False
        self.has_task = False
        """Whether anything has been asked of the agent so far."""

    def read(self, index: int, message: Message) -> Iterator[Act]:
        """The acts of the message at ``index`` of the line."""
        if any(type(block) is Compaction for block in message.content):
            self._is_repeating = True
        elif is_response(message):
            self._is_repeating = False
            self._said_here.clear()
        if message.role == "user" and any(_is_request(block) for block in message.content):
            self.has_task = True
        if self._is_copy(message):
            self._said.update(block.text.strip() for block in message.content if type(block) is Text)
            return
        for place, block in enumerate(message.content):
            act = self._act(index, place, block, message)
            if act is not None:
                yield act

    def _is_copy(self, message: Message) -> bool:
        is_known = bool(message.uid) and message.uid in self._uids
        self._uids.add(message.uid)
        return is_known or message.origin is not None

    def _act(self, index: int, place: int, block: Block, message: Message) -> Act | None:
        match block:
            case Interrupt(by=(Author.PERSON | Author.UNKNOWN) as by):
                return Stopped(index, place, by == Author.PERSON)
            case _ if message.role != "user":
                return None
            case ToolResult():
                return _refusal(index, place, block)
            case Decision(by=Author.PERSON) if not self._is_answer(block, message):
                return Decided(index, place, block)
            case Text() if _is_said(block):
                is_steer = self._is_steer(block, message)
                text = block.text.strip()
                return None if self._is_repeated(text, block.via, is_steer) else Words(index, place, text, is_steer)
            case _:
                return None

    def _is_steer(self, block: Text, message: Message) -> bool:
        """Whether words reached the agent at work: marked so, or beside the result of a call that it made."""
        if block.via in (Via.STEER, Via.FOLLOW_UP):
            return block.via == Via.STEER
        results = (other for other in message.content if type(other) is ToolResult)
        return any(result.tool_use_id not in self._own_calls for result in results)

    def _is_repeated(self, text: str, via: Via | None, is_steer: bool) -> bool:
        was_said, was_said_here = text in self._said, text in self._said_here
        self._said.add(text)
        self._said_here.add(text)
        if was_said_here or (was_said and self._is_repeating):
            return True
        if is_steer:
            if via == Via.STEER:
                self._steers.append(text)
            return False
        if text in self._steers:
            self._steers.remove(text)
            return True
        self._steers.clear()
        return False

    def _is_answer(self, decision: Decision, message: Message) -> bool:
        """Whether the agent asked for it: its own call offered the choice, or held the question."""
        asked = self._uses.get(decision.ask)
        if asked is not None:
            return decision.choice is not None and _holds(render_call(asked.call)[1], decision.choice)
        answered = (self._uses.get(block.tool_use_id) for block in message.content if type(block) is ToolResult)
        return any(use is not None and _holds(render_call(use.call)[1], decision.ask) for use in answered)


def _is_said(block: Text) -> bool:
    is_typed = block.author == Author.PERSON and block.via != Via.ANSWER and bool(block.text.strip())
    return is_typed and _BARE_COMMAND.fullmatch(block.text.strip()) is None


def _is_request(block: Block) -> bool:
    """Whether a block of a user message may have set the agent to work; a plan that a harness hands over does too."""
    if type(block) is Text:
        return bool(block.text.strip())
    return type(block) is ToolUse and type(block.call) is Command


def _refusal(index: int, place: int, result: ToolResult) -> Refused | None:
    refusal = result.refusal
    if refusal is None or refusal.kind != RefusalKind.DENIED or refusal.by not in (None, Author.PERSON):
        return None
    return Refused(index, place, result.tool_use_id, (refusal.reason or "").strip())


def _holds(value: Json, wanted: str) -> bool:
    """Whether the string ``wanted`` stands anywhere in ``value``."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if found == wanted and type(found) is str:
            return True
        if type(found) is dict:
            waiting.extend(found.values())
        elif type(found) is list:
            waiting.extend(found)
    return False
