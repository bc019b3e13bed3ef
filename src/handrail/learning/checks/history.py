"""What of a conversation checks look back at: what was called, how it ended, where the person spoke; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from handrail.learning.checks.judging import Done, Past
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Author, Message, Text, ToolResult, ToolUse, Via


def past_of(body: Iterable[Message], *, until: str | None = None) -> Past:
    """What ``body`` holds, up to the last call with the id ``until`` (None, or there is none: all of it)."""
    given = tuple(body)
    stop = _last_with(given, until)
    past = Past()
    for index, message in enumerate(given):
        if message.role == "user":
            hear(past, message)
            continue
        for block in message.content:
            if type(block) is ToolUse:
                if index == stop and block.id == until:
                    return past
                past.called(done_of(block))
    return past


def hear(past: Past, message: Message) -> None:
    """Take in what a message of the user's side brings: results, and the person's words."""
    for block in message.content:
        if type(block) is ToolResult:
            past.ended(block.tool_use_id, went_well=not block.is_error and block.refusal is None)
        elif type(block) is Text and block.author == Author.PERSON and block.text.strip():
            past.spoke()


def done_of(use: ToolUse) -> Done:
    """The call as checks see it."""
    name, input = render_call(use.call)
    return Done(use.id, name, input)


def refusals_by(body: Sequence[Message], by: str) -> int:
    """How often ``by`` refused a call since the last prompt: in the run that is going on."""
    count = 0
    for message in reversed(body):
        for block in message.content:
            if type(block) is ToolResult and block.refusal is not None and block.refusal.by == by:
                count += 1
        if any(type(block) is Text and block.via == Via.PROMPT for block in message.content):
            break
    return count


def words_of(message: Message) -> str:
    """What an assistant message says in words."""
    return "\n".join(block.text for block in message.content if type(block) is Text)


def has_calls(message: Message) -> bool:
    """Whether the message asks for calls: its words are no answer then."""
    return any(type(block) is ToolUse for block in message.content)


def _last_with(body: Sequence[Message], call: str | None) -> int | None:
    if call is None:
        return None
    found = (
        index
        for index in range(len(body) - 1, -1, -1)
        if any(type(block) is ToolUse and block.id == call for block in body[index].content)
    )
    return next(found, None)
