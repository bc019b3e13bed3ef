"""A check over a past session: every occasion to obey it, and whether it would have fired rightly.

Needs no model. A call that was refused did not happen, so it is neither obeyed nor violated, but for the one that a
person refused: there the check would have fired, and rightly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from handrail.learning.checks.judging import Done, Past, judge_call, judge_reply
from handrail.learning.checks.spec import AskBefore, Check
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import (
    Author,
    Common,
    Decision,
    Message,
    Refusal,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
)


class Occasion(Struct, frozen=True, kw_only=True, gc=False):
    """One occasion: message ``at`` of the body, the call (None: a reply), whether it was obeyed, and whether the
    person stepped in right there."""

    at: int
    call: str | None
    is_obeyed: bool
    is_rightly: bool = False


class Tested(Struct, frozen=True, kw_only=True, gc=False):
    """What a check came to over sessions. ``fired`` of ``occasions`` were violations, ``rightly`` of them where the
    person stepped in; ``sessions`` are those with an occasion. ``rate`` is None without an occasion."""

    occasions: int = 0
    fired: int = 0
    rightly: int = 0
    sessions: int = 0

    @property
    def rate(self) -> float | None:
        return self.fired / self.occasions if self.occasions else None

    def __add__(self, other: Tested) -> Tested:
        return Tested(
            occasions=self.occasions + other.occasions,
            fired=self.fired + other.fired,
            rightly=self.rightly + other.rightly,
            sessions=self.sessions + other.sessions,
        )


def occasions(check: Check, session: Transcript[Common], stepped_in: Iterable[int] = ()) -> tuple[Occasion, ...]:
    """Every occasion of ``check`` in the session. ``stepped_in`` are the messages in which the person stepped in:
    a violation was rightly called one where the next thing a person said or refused after it is among them."""
    body = session.body
    steps = sorted(set(stepped_in))
    results = {block.tool_use_id: block for message in body for block in message.content if type(block) is ToolResult}
    decided = frozenset(_approved(body))
    found: list[Occasion] = []
    past = Past()
    for at, message in enumerate(body):
        if message.role == "user":
            _hear(past, message)
            continue
        reply = _words(message)
        obeyed = judge_reply(check, reply) if reply and not _has_calls(message) else None
        if obeyed is not None:
            found.append(_occasion(at, None, obeyed, body, steps))
        for block in message.content:
            if type(block) is not ToolUse:
                continue
            name, input = render_call(block.call)
            result = results.get(block.id)
            refusal = None if result is None else result.refusal
            call = Done(block.id, name, input)
            obeyed = judge_call(check, call, past, was_asked=_was_asked(block.id, refusal, decided))
            if obeyed is not None and _counts(check, refusal):
                found.append(_occasion(at, block.id, obeyed, body, steps))
            past.called(call)
    return tuple(found)


def summed(found: Sequence[Occasion]) -> Tested:
    """The sum over one session."""
    fired = [one for one in found if not one.is_obeyed]
    return Tested(
        occasions=len(found), fired=len(fired), rightly=sum(one.is_rightly for one in fired), sessions=int(bool(found))
    )


def _hear(past: Past, message: Message) -> None:
    for block in message.content:
        if type(block) is ToolResult:
            past.ended(block.tool_use_id, went_well=not block.is_error and block.refusal is None)
        elif type(block) is Text and block.author == Author.PERSON and block.text.strip():
            past.spoke()


def _occasion(at: int, call: str | None, is_obeyed: bool, body: Common, steps: Sequence[int]) -> Occasion:
    is_rightly = not is_obeyed and _next_word(body, at) in steps
    return Occasion(at=at, call=call, is_obeyed=is_obeyed, is_rightly=is_rightly)


def _next_word(body: Common, at: int) -> int | None:
    """The first message after ``at`` in which a person spoke or refused."""
    return next((index for index in range(at + 1, len(body)) if _is_by_person(body[index])), None)


def _is_by_person(message: Message) -> bool:
    return any(
        (type(block) is Text and block.author == Author.PERSON and bool(block.text.strip()))
        or (type(block) is ToolResult and block.refusal is not None and block.refusal.kind is RefusalKind.DENIED)
        or type(block) is Decision
        for block in message.content
    )


def _counts(check: Check, refusal: Refusal | None) -> bool:
    """Whether a call with that refusal is an occasion."""
    if refusal is None or refusal.kind in (RefusalKind.INTERRUPTED, RefusalKind.OUTCOME_UNKNOWN):
        return True
    return refusal.kind is RefusalKind.DENIED and not isinstance(check, AskBefore)


def _was_asked(call: str, refusal: Refusal | None, decided: frozenset[str]) -> bool | None:
    if call in decided:
        return True
    return True if refusal is not None and refusal.kind is RefusalKind.DENIED else None


def _approved(body: Common) -> Iterator[str]:
    return (block.ask for message in body for block in message.content if type(block) is Decision)


def _words(message: Message) -> str:
    return "\n".join(block.text for block in message.content if type(block) is Text)


def _has_calls(message: Message) -> bool:
    return any(type(block) is ToolUse for block in message.content)
