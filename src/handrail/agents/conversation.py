"""What a run's events say was said and done, kept up with as they come: a fold beside the journal's own.

The state holds what decides the next step; this holds what that step is made of: the messages a model sees, the
calls of the last response with their present input and results, what was spent. Each event costs the same however
long the history is, and all of it can be made again from the events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from handrail.agents.permissions import Grant
from handrail.agents.standing import StandingAnswers
from handrail.journal import events as ev
from handrail.journal.refusals import refusal_of
from handrail.journal.transcript import Projector
from handrail.journal.vocabulary import Actor, AskKind
from handrail.transcripts.model import Common, Message, Refusal, ToolCall, ToolUse, Transcript, Usage

NO_USAGE = Usage(input_tokens=0, output_tokens=0)


class CallRecord(Struct, kw_only=True):
    """A call of the last response: as the model asked for it, as it will run, and its result when there is one."""

    use: ToolUse
    becomes: ToolCall
    tool: str | None = None
    finished: ev.ToolFinished | None = None
    unknown: ev.ToolOutcomeUnknown | None = None
    refusal: Refusal | None = None

    @property
    def is_rewritten(self) -> bool:
        return self.becomes != self.use.call


class Conversation:
    """Takes in the events of a session one by one."""

    def __init__(self) -> None:
        self._projector = Projector()
        self._taken = 0
        self.sent: list[Message] = []
        self._kept: list[tuple[int, int | None]] = []
        self.calls: dict[str, CallRecord] = {}
        self._standing = StandingAnswers()
        self._asks: dict[str, ev.AskOpened] = {}
        self._count_anew()

    def _count_anew(self) -> None:
        """What is counted for one run."""
        self.replies = 0
        self.retries = 0
        self.failures = 0
        self.usage = NO_USAGE
        self.last_usage: Usage | None = None
        self.last_reply: Message | None = None
        self.is_priced = True
        self.decisions: list[ev.BoundaryDecided] = []
        self.ended: ev.RunEnded | None = None

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The answers about calls that hold on."""
        return self._standing.grants

    @property
    def messages(self) -> list[Message]:
        """The closed messages of the whole session, compacted ones too."""
        return self._projector.messages

    @property
    def pending(self) -> Message | None:
        """What is on its way to the model, as far as it is known."""
        return self._projector.pending()

    def add(self, event: ev.Event) -> None:
        """Take in the next event."""
        body = event.body
        self._projector.add(event)
        self._standing.add(event)
        handle = _HANDLERS.get(type(body))
        if handle is not None:
            handle(self, body, event.by)
        messages = self._projector.messages
        if type(body) is ev.Compacted:
            self._price(body.is_unpriced)
            # A summary is a response too, as far as the model's place in a script goes.
            self.replies += 1
            self._kept.append((len(messages) - 1, body.keeps_from))
            self._see_again()
        elif type(body) is ev.Rewound:
            self._kept = [one for one in self._kept if one[0] < len(messages)]
            self._see_again()
        elif len(messages) != self._taken:
            # A response without anything in it is part of the history, but no provider takes one.
            self.sent += [message for message in messages[self._taken :] if message.content]
            self._taken = len(messages)

    def _see_again(self) -> None:
        """``sent`` from the beginning: after a compaction its summary, what it kept, and what came after."""
        self._taken = len(self.messages)
        if not self._kept:
            self.sent = [message for message in self.messages if message.content]
            return
        at, keeps_from = self._kept[-1]
        first = at
        if keeps_from is not None:
            while first > 0 and self._projector.seqs[first - 1] >= keeps_from:
                first -= 1
        seen = (self.messages[at], *self.messages[first:at], *self.messages[at + 1 :])
        self.sent = [message for message in seen if message.content]

    def transcript(self) -> Transcript[Common]:
        """The session so far, with what is on its way to the model."""
        pending = self._projector.pending()
        body = tuple(self.messages)
        return Transcript(self._projector.meta, body if pending is None else (*body, pending))

    def reader(self) -> Callable[[], Common]:
        """What gives the messages up to now, also when more have come by the time it is called."""
        count, pending = len(self.messages), self._projector.pending()

        def read() -> Common:
            body = tuple(self.messages[:count])
            return body if pending is None else (*body, pending)

        return read

    def seq_of(self, index: int) -> int:
        """The event that message ``index`` began with."""
        return self._projector.seqs[index]

    # One handler a kind

    def run_started(self, body: ev.RunStarted, by: Actor) -> None:
        self._count_anew()

    def replied(self, body: ev.ModelReplied, by: Actor) -> None:
        message = body.message
        self.replies += 1
        self.failures = 0
        self.last_reply = message
        self.last_usage = message.usage
        self.usage = added(self.usage, message.usage)
        self._price(body.is_unpriced)
        uses = (block for block in message.content if type(block) is ToolUse)
        self.calls = {use.id: CallRecord(use=use, becomes=use.call) for use in uses}

    def failed(self, body: ev.ModelFailed, by: Actor) -> None:
        if body.retry_at is not None:
            self.retries += 1
            self.failures += 1

    def adjusted(self, body: ev.Adjusted, by: Actor) -> None:
        if body.adjustment.model is not None:
            # Failures are counted for the sake of the model that is asked again.
            self.failures = 0

    def requested(self, body: ev.ToolRequested, by: Actor) -> None:
        self.calls[body.call].tool = body.tool

    def rewritten(self, body: ev.ToolRewritten, by: Actor) -> None:
        self.calls[body.call].becomes = body.becomes

    def finished(self, body: ev.ToolFinished, by: Actor) -> None:
        self.calls[body.call].finished = body

    def unknown(self, body: ev.ToolOutcomeUnknown, by: Actor) -> None:
        self.calls[body.call].unknown = body

    def asked(self, body: ev.AskOpened, by: Actor) -> None:
        if body.call is not None and body.kind is AskKind.APPROVAL:
            self._asks[body.ask] = body

    def answered(self, body: ev.AskClosed, by: Actor) -> None:
        opened = self._asks.pop(body.ask, None)
        if opened is None:
            return
        if opened.call in self.calls:
            self.calls[opened.call].refusal = refusal_of(body, by)

    def decided(self, body: ev.BoundaryDecided, by: Actor) -> None:
        self.decisions.append(body)
        self._price(any(one.is_unpriced for one in body.contributions))

    def summed(self, body: ev.RegionSummed, by: Actor) -> None:
        self._price(body.is_unpriced)
        if body.error is None:
            # A response like a summary of the whole conversation, as far as the model's place in a script goes.
            self.replies += 1

    def child_ended(self, body: ev.ChildEnded, by: Actor) -> None:
        self._price(body.is_unpriced)

    def _price(self, is_unpriced: bool) -> None:
        self.is_priced = self.is_priced and not is_unpriced

    def run_ended(self, body: ev.RunEnded, by: Actor) -> None:
        self.ended = body


def added(total: Usage, more: Usage | None) -> Usage:
    """The sum, field by field; a field that neither has stays absent."""
    if more is None:
        return total
    return Usage(
        input_tokens=total.input_tokens + more.input_tokens,
        output_tokens=total.output_tokens + more.output_tokens,
        cache_read_input_tokens=_sum(total.cache_read_input_tokens, more.cache_read_input_tokens),
        cache_creation_input_tokens=_sum(total.cache_creation_input_tokens, more.cache_creation_input_tokens),
        reasoning_tokens=_sum(total.reasoning_tokens, more.reasoning_tokens),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)


def conversation_of(events: Iterable[ev.Event]) -> Conversation:
    """The conversation after ``events``."""
    made = Conversation()
    for event in events:
        made.add(event)
    return made


_HANDLERS: dict[type, Callable[[Conversation, Any, Actor], None]] = {
    ev.RunStarted: Conversation.run_started,
    ev.RunEnded: Conversation.run_ended,
    ev.ModelReplied: Conversation.replied,
    ev.ModelFailed: Conversation.failed,
    ev.Adjusted: Conversation.adjusted,
    ev.ToolRequested: Conversation.requested,
    ev.ToolRewritten: Conversation.rewritten,
    ev.ToolFinished: Conversation.finished,
    ev.ToolOutcomeUnknown: Conversation.unknown,
    ev.AskOpened: Conversation.asked,
    ev.AskClosed: Conversation.answered,
    ev.BoundaryDecided: Conversation.decided,
    ev.ChildEnded: Conversation.child_ended,
    ev.RegionSummed: Conversation.summed,
}
