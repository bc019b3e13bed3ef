"""Where a moment is gone through again: the recorded conversation up to the decision, without what the person said.

Nothing before the point is made anew, so both arms begin with the same bytes. A moment that has no such point is not
probed, and says why.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from handrail.learning.moment import Intervention, Trigger
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import (
    Author,
    Common,
    Interrupt,
    Json,
    Message,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
)

_NOT_RECORDED = "[no result was recorded]"


class Grading(StrEnum):
    """How an arm is told: by the calls it makes after a steer, by the call that was refused, or by a judge."""

    STEER = "steer"
    REFUSED = "refused"
    JUDGED = "judged"


class RecordedCall(Struct, frozen=True, gc=False):
    """A call as it was recorded, and its result where there is one."""

    name: str
    input: Json
    content: Json = None
    is_error: bool = False
    has_result: bool = False


class Branch(Struct, frozen=True, kw_only=True):
    """One point. ``prefix`` is what both arms begin with; ``tail`` the recorded calls from there to the person's next
    turn, which answer tools. ``unwanted`` are the calls that the person stepped in on, ``wanted`` those that followed
    from their words. ``words`` are theirs, for a judge."""

    grading: Grading
    prefix: Common
    tail: tuple[RecordedCall, ...]
    unwanted: tuple[RecordedCall, ...] = ()
    wanted: tuple[RecordedCall, ...] = ()
    words: str = ""


class NoBranch(Struct, frozen=True, gc=False):
    """A moment that cannot be gone through again, and why."""

    reason: str


def branch_at(body: Common, moment: Intervention) -> Branch | NoBranch:
    """The point of ``moment`` in ``body``, the body it was found in."""
    if not 0 <= moment.at < len(body):
        return NoBranch("the moment is not in this session")
    match moment.trigger:
        case Trigger.STEER:
            return _at_steer(body, moment)
        case Trigger.DENIAL:
            return _at_denial(body, moment)
        case Trigger.FOLLOWUP | Trigger.REVISION | Trigger.INTERRUPT:
            return _at_answer(body, moment)
        case _:
            return NoBranch(f"an act of the kind {moment.trigger} has no point to go on from")


def _at_steer(body: Common, moment: Intervention) -> Branch | NoBranch:
    """The results stay, the words go: what the model does next is the probe."""
    message = body[moment.at]
    kept = tuple(block for block in message.content if not _is_words(block))
    if not any(type(block) is ToolResult for block in kept):
        return NoBranch("the words came with no results, so there is nothing to go on from without them")
    tail = _calls(body, moment.at + 1, _end_of_turn(body, moment.at))
    wanted = _calls_of_next(body, moment.at + 1)
    return Branch(
        grading=Grading.STEER if wanted else Grading.JUDGED,
        prefix=(*body[: moment.at], replace(message, content=kept)),
        tail=tail,
        unwanted=_calls_of_last(body, moment.at),
        wanted=wanted,
        words=moment.words,
    )


def _at_denial(body: Common, moment: Intervention) -> Branch | NoBranch:
    """The whole turn that proposed the call is made anew; which calls were refused is known by their results."""
    refused = {
        block.tool_use_id
        for block in body[moment.at].content
        if type(block) is ToolResult and block.refusal is not None and block.refusal.kind is RefusalKind.DENIED
    }
    turn = _last_assistant(body, moment.at)
    if turn is None or not refused:
        return NoBranch("the refused call is not in this session")
    unwanted = tuple(
        RecordedCall(*render_call(block.call))
        for block in body[turn].content
        if type(block) is ToolUse and block.id in refused
    )
    if not unwanted:
        return NoBranch("the refused call is not in this session")
    return Branch(
        grading=Grading.REFUSED,
        prefix=body[:turn],
        tail=_calls(body, turn, _end_of_turn(body, moment.at)),
        unwanted=unwanted,
        words=moment.words,
    )


def _at_answer(body: Common, moment: Intervention) -> Branch | NoBranch:
    """The response that the person pushed back on is made anew, and judged by their words."""
    turn = _last_assistant(body, moment.at)
    if turn is None or turn == 0:
        return NoBranch("nothing was answered before it")
    if not moment.words.strip():
        return NoBranch("the person said nothing that an answer could be judged by")
    return Branch(
        grading=Grading.JUDGED,
        prefix=body[:turn],
        tail=_calls(body, turn, _end_of_turn(body, moment.at)),
        words=moment.words,
    )


def _calls(body: Common, start: int, end: int) -> tuple[RecordedCall, ...]:
    """The calls of ``body[start:end]`` with their results, in order."""
    results = {block.tool_use_id: block for message in body for block in message.content if type(block) is ToolResult}
    uses = (block for message in body[start:end] for block in message.content if type(block) is ToolUse)
    return tuple(_recorded(use, results.get(use.id)) for use in uses)


def _end_of_turn(body: Common, at: int) -> int:
    """Where the person next says something by itself after the agent went on from ``at``: what was recorded from there
    on is of another task, and of files that had changed by then. The end of ``body`` where they never do."""
    has_gone_on = False
    for index in range(at + 1, len(body)):
        content = body[index].content
        if body[index].role == "assistant":
            has_gone_on = True
        elif has_gone_on and any(map(_is_words, content)) and not any(type(block) is ToolResult for block in content):
            return index
    return len(body)


def calls_of(body: Common) -> tuple[RecordedCall, ...]:
    """All calls of ``body``, in order."""
    return _calls(body, 0, len(body))


def _recorded(use: ToolUse, result: ToolResult | None) -> RecordedCall:
    name, input = render_call(use.call)
    if result is None or result.refusal is not None:
        return RecordedCall(name, input)
    return RecordedCall(name, input, result.content, result.is_error, True)


def _calls_of_next(body: Common, start: int) -> tuple[RecordedCall, ...]:
    """The calls of the first response from ``start`` on that makes any, unless the person spoke again before it."""
    for index in range(start, len(body)):
        message = body[index]
        if message.role == "user" and any(_is_words(block) for block in message.content):
            return ()
        if message.role == "assistant" and any(type(block) is ToolUse for block in message.content):
            return _calls(body, index, index + 1)
    return ()


def _calls_of_last(body: Common, at: int) -> tuple[RecordedCall, ...]:
    turn = _last_assistant(body, at)
    return () if turn is None else _calls(body, turn, turn + 1)


def _last_assistant(body: Common, at: int) -> int | None:
    return next((index for index in range(at - 1, -1, -1) if body[index].role == "assistant"), None)


def _is_words(block: object) -> bool:
    return type(block) is Interrupt or (type(block) is Text and block.author in (Author.PERSON, Author.UNKNOWN))


def unanswered(prefix: Common) -> tuple[str, ...]:
    """The ids of calls in ``prefix`` that nothing answers: no provider takes a history with one."""
    answered = {block.tool_use_id for message in prefix for block in message.content if type(block) is ToolResult}
    uses = (block for message in prefix for block in message.content if type(block) is ToolUse)
    return tuple(use.id for use in uses if use.id not in answered)


def with_results(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """``messages`` with a result that says so for every call that has none on record: calls that were cut off, or whose
    result came elsewhere. Both arms see the same."""
    missing = set(unanswered(messages))
    if not missing:
        return messages
    out: list[Message] = []
    owed: tuple[ToolResult, ...] = ()
    for message in messages:
        if owed and message.role == "user":
            message = replace(message, content=(*owed, *message.content))
        elif owed:
            out.append(Message(role="user", content=owed))
        uses = [block.id for block in message.content if type(block) is ToolUse and block.id in missing]
        owed = tuple(ToolResult(id, _NOT_RECORDED, True) for id in uses)
        out.append(message)
    return (*out, Message(role="user", content=owed)) if owed else tuple(out)


def is_sendable(messages: tuple[Message, ...]) -> bool:
    """Whether a model can be asked to go on from here: the last word is not its own."""
    return bool(messages) and messages[-1].role == "user" and not unanswered(messages)
