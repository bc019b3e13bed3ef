"""One follow-up with what stood around it: all that a scorer may look at, taken from the canonical model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from handrail.transcripts.model import (
    Author,
    Common,
    Interrupt,
    Message,
    Text,
    ToolCall,
    ToolResult,
    Via,
)

MAX_CALLS = 200
"""Calls looked at on either side of a turn; the nearest ones count."""

_MAX_MESSAGES = 1000


class Turn(NamedTuple):
    """A person's follow-up and its surroundings.

    ``said`` are the agent's last words before it and ``answer`` its first words after it; both are empty where there
    are none. ``previous`` is what the person had said before, ``position`` how many turns they had taken by then.
    ``calls`` were made between that turn and this one, ``next_calls`` until the person spoke again. ``errors`` counts
    failed results among ``calls``. ``worked_s`` is how long the agent worked, ``waited_s`` how long the person took
    (seconds; None where the record has no times). ``is_stopped_next``: they stopped the agent after this turn.
    """

    words: str
    previous: str = ""
    said: str = ""
    answer: str = ""
    position: int = 1
    calls: Sequence[ToolCall] = ()
    next_calls: Sequence[ToolCall] = ()
    errors: int = 0
    is_last_error: bool = False
    worked_s: float | None = None
    waited_s: float | None = None
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
    """The turn that begins in ``line[at]`` and says ``words``."""
    begin = _back(line, at)
    behind = _ahead(line, at)
    end = _end(line, behind)
    before, after = line[begin + 1 : at], line[behind:end]
    results = [block for message in before for block in message.content if type(block) is ToolResult]
    previous = line[begin] if begin >= 0 else None
    last = next((message.timestamp for message in reversed(before) if message.timestamp), None)
    return Turn(
        words=words,
        previous=typed(previous) if previous else "",
        said=next((text for message in reversed(before) if (text := _said(message))), ""),
        answer=next((text for message in after if (text := _said(message))), ""),
        position=sum(is_person(message) for message in line[max(0, at - _MAX_MESSAGES) : at]),
        calls=_calls(before)[-MAX_CALLS:],
        next_calls=_calls(after)[:MAX_CALLS],
        errors=sum(result.is_error for result in results),
        is_last_error=bool(results) and results[-1].is_error,
        worked_s=_seconds(previous, last),
        waited_s=(stamp - last).total_seconds() if last and (stamp := line[at].timestamp) else None,
        is_stopped_next=any(type(block) is Interrupt for message in after for block in message.content),
    )
