"""One follow-up with what stood around it: all that a scorer may look at, taken from the canonical model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from handrail.transcripts.model import (
    Author,
    Common,
    Interrupt,
    Message,
    Text,
    ToolCall,
    ToolResult,
    ToolUse,
    Via,
)

MAX_CALLS = 200
"""Calls looked at on either side of a turn; the nearest ones count."""

_MAX_MESSAGES = 1000


class Turn(NamedTuple):
    """A person's follow-up and its surroundings.

    ``said`` are the agent's last words before it and ``answer`` its first words after it; both are empty where there
    are none. ``previous`` is what the person had said before; ``is_second``: that was the first thing they said.
    ``calls`` were made between that turn and this one, ``next_calls`` until the person spoke again. ``errors`` counts
    failed results among ``calls``; ``worked_s`` is how long the agent worked on them in seconds, None where the record
    has no times. ``is_stopped_next``: the person stopped the agent after this turn.
    """

    words: str
    previous: str = ""
    said: str = ""
    answer: str = ""
    is_second: bool = False
    calls: Sequence[ToolCall] = ()
    next_calls: Sequence[ToolCall] = ()
    errors: int = 0
    worked_s: float | None = None
    is_stopped_next: bool = False


def is_person(message: Message) -> bool:
    """Whether a person typed something in ``message`` (an answer to the agent's own question aside)."""
    return message.role == "user" and any(
        type(block) is Text and block.author == Author.PERSON and block.via != Via.ANSWER for block in message.content
    )


def typed(message: Message) -> str:
    """What a person typed in ``message``."""
    own = (block.text for block in message.content if type(block) is Text and block.author == Author.PERSON)
    return "\n\n".join(text.strip() for text in own if text.strip())


def turn_at(line: Common, at: int, words: str) -> Turn:
    """The turn that begins in ``line[at]`` and says ``words``; costs the stretch around it, not the whole line."""
    begin = _spoke_before(line, at)
    behind = _answered_from(line, at)
    end = next((index for index in range(behind, len(line)) if is_person(line[index])), len(line))
    before = line[max(begin + 1, at - _MAX_MESSAGES) : at]
    after = line[behind : min(end, behind + _MAX_MESSAGES)]
    results = [block for message in before for block in message.content if type(block) is ToolResult]
    last = next((message.timestamp for message in reversed(before) if message.timestamp), None)
    return Turn(
        words=words,
        previous=typed(line[begin]) if begin >= 0 else "",
        said=next((text for message in reversed(before) if (text := _said(message))), ""),
        answer=next((text for message in after if (text := _said(message))), ""),
        is_second=begin >= 0 and _spoke_before(line, begin) < 0,
        calls=_calls(before)[-MAX_CALLS:],
        next_calls=_calls(after)[:MAX_CALLS],
        errors=sum(result.is_error for result in results),
        worked_s=_seconds(line[begin].timestamp if begin >= 0 else None, last),
        is_stopped_next=any(type(block) is Interrupt for message in after for block in message.content),
    )


def _spoke_before(line: Common, at: int) -> int:
    """Where the person spoke last before ``at``; -1 where they had not."""
    return next((index for index in range(at - 1, -1, -1) if is_person(line[index])), -1)


def _answered_from(line: Common, at: int) -> int:
    """The first message after ``at`` that is not part of the same turn."""
    return next((index for index in range(at + 1, len(line)) if line[index].role != "user"), len(line))


def _said(message: Message) -> str:
    if message.role != "assistant":
        return ""
    return "\n".join(block.text for block in message.content if type(block) is Text and block.text.strip()).strip()


def _calls(messages: Common) -> list[ToolCall]:
    return [block.call for message in messages for block in message.content if type(block) is ToolUse]


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    """None too where a clock went back."""
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds()
