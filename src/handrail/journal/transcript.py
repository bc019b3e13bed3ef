"""The transcript of a journal: what its events say was said, in the canonical model.

A pure projection that raises nothing: a journal with damage or with kinds nobody knows still has a transcript.
One response is one assistant message. What goes to the model between two responses is one delivery and so one user
message: results in the order of their calls, then decisions, injected words and delivered inputs as they came. A
prompt, a compaction and an imported message stand alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from handrail.journal import events as ev
from handrail.journal.refusals import author_of, refusal_of, wording_of
from handrail.journal.vocabulary import AskKind, AskOutcome
from handrail.transcripts.calls import call_name
from handrail.transcripts.codec import Branch, Child
from handrail.transcripts.model import (
    Author,
    Block,
    Common,
    Compaction,
    Decision,
    Interrupt,
    Message,
    Meta,
    Refusal,
    RefusalKind,
    Taint,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
    Via,
)
from handrail.transcripts.voice import as_response


class Projection(Struct, frozen=True):
    """The live line, the lines that were left by a rewind, and the agents that were started."""

    session: Transcript[Common]
    branches: tuple[Branch, ...]
    children: tuple[Child, ...]


def project(events: Iterable[ev.Event]) -> Transcript[Common]:
    """The live line of ``events``."""
    return project_all(events).session


def project_all(events: Iterable[ev.Event]) -> Projection:
    """The live line of ``events`` with its branches and children."""
    builder = Projector()
    for event in events:
        builder.add(event)
    return builder.finish()


class _Delivery:
    """What will be the next user message."""

    def __init__(self) -> None:
        self.results: dict[str, ToolResult] = {}
        self.rest: list[Block] = []
        self.events: list[ev.Event] = []
        self.uids: list[str] = []

    def content(self, order: Iterable[str]) -> tuple[Block, ...]:
        """Results in the order of ``order`` (call ids), then those of no known call, then the rest."""
        ranks = {call: rank for rank, call in enumerate(order)}
        results = sorted(self.results.values(), key=lambda result: ranks.get(result.tool_use_id, len(ranks)))
        return (*results, *self.rest)


class Projector:
    """The running projection, event by event.

    ``messages`` are the closed messages of the live line, oldest first, and ``seqs`` the event each began with: a
    driver reads them as they grow, so that a request costs no second pass over the history.
    """

    def __init__(self) -> None:
        self.meta = Meta()
        self.messages: list[Message] = []
        self.seqs: list[int] = []
        self._branches: list[Branch] = []
        self._children: list[Child] = []
        self._delivery = _Delivery()
        self._calls: dict[str, str] = {}
        self._asks: dict[str, ev.AskOpened] = {}
        self._edits: dict[str, ev.AskClosed] = {}
        self._inputs: dict[str, ev.InputReceived] = {}
        self._interrupts: list[tuple[ev.Event, Block]] = []
        self._is_calling = False
        self._shown = 0
        self._taint: Taint | None = Taint()

    def add(self, event: ev.Event) -> None:
        """Take in the next event."""
        handle = _HANDLERS.get(type(event.body))
        if handle is not None:
            handle(self, event, event.body)

    def finish(self) -> Projection:
        """Close what is open and give the whole."""
        self._release_interrupts()
        self._flush()
        return Projection(Transcript(self.meta, tuple(self.messages)), tuple(self._branches), tuple(self._children))

    # Building blocks

    def _uid(self) -> str:
        """Session and ordinal, counted over what shows in a transcript.

        Not the event's number: a decision to go on is an event too, and must not change a byte of what is said.
        """
        self._shown += 1
        return f"{self.meta.id}:{self._shown}"

    def _append(self, event: ev.Event, message: Message) -> None:
        self.seqs.append(event.seq)
        self.messages.append(message)

    def _own(self, event: ev.Event, *content: Block) -> None:
        """A user message of its own."""
        self._flush()
        uid = self._uid()
        message = Message(role="user", content=content, uid=uid, uids=(uid,), timestamp=event.at, taint=self._taint)
        self._append(event, message)

    def _ride(self, event: ev.Event, *blocks: Block) -> None:
        """Blocks that go with the next delivery."""
        self._delivery.rest += blocks
        self._delivery.events.append(event)
        self._delivery.uids.append(self._uid())

    def _settle(self, event: ev.Event, result: ToolResult) -> None:
        self._delivery.results.setdefault(result.tool_use_id, result)
        self._delivery.events.append(event)
        self._delivery.uids.append(self._uid())

    def pending(self) -> Message | None:
        """What goes to the model next, as far as it is known; None when that is nothing yet."""
        delivery = self._delivery
        content = delivery.content(self._calls)
        if not content:
            return None
        uids = tuple(delivery.uids)
        at = delivery.events[0].at
        return Message(role="user", content=content, uid=uids[0], uids=uids, timestamp=at, taint=self._taint)

    def _flush(self) -> None:
        message = self.pending()
        if message is not None:
            self._append(self._delivery.events[0], message)
        self._delivery = _Delivery()

    def _release_interrupts(self) -> None:
        self._is_calling = False
        for event, block in self._interrupts:
            self._ride(event, block)
        self._interrupts.clear()

    def _raise_taint(self, taint: Taint | None) -> None:
        """Taint only grows; what is unknown once stays so."""
        self._taint = None if taint is None or self._taint is None else self._taint | taint

    # One handler a kind that shows in a transcript

    def opened(self, event: ev.Event, body: ev.SessionOpened) -> None:
        meta = body.meta
        self.meta = replace(meta, timestamp=event.at if meta.timestamp is None else meta.timestamp)

    def titled(self, event: ev.Event, body: ev.SessionTitled) -> None:
        self.meta = replace(self.meta, title=body.title)

    def imported(self, event: ev.Event, body: ev.MessageImported) -> None:
        self._flush()
        message = body.message
        if message.role == "assistant":
            message = replace(message, content=as_response(message.content))
        uid = message.uid or self._uid()
        message = replace(message, uid=uid, uids=message.uids or (uid,))
        self._raise_taint(message.taint)
        self._append(event, message)

    def rewound(self, event: ev.Event, body: ev.Rewound) -> None:
        self._release_interrupts()
        self._flush()
        keep = sum(1 for seq in self.seqs if seq <= body.to)
        line = self.messages
        self._branches = [
            branch if branch.at <= keep else replace(branch, at=keep, body=(*line[keep : branch.at], *branch.body))
            for branch in self._branches
        ]
        if line[keep:]:
            self._branches.append(Branch(id=line[keep].uid, at=keep, body=tuple(line[keep:])))
        del self.messages[keep:]
        del self.seqs[keep:]

    def run_started(self, event: ev.Event, body: ev.RunStarted) -> None:
        if self.meta.model is None:
            self.meta = replace(self.meta, model=body.model)

    def run_ended(self, event: ev.Event, body: ev.RunEnded) -> None:
        self._release_interrupts()
        self._flush()

    def prompted(self, event: ev.Event, body: ev.PromptGiven) -> None:
        self._own(event, *body.content)

    def received(self, event: ev.Event, body: ev.InputReceived) -> None:
        self._inputs[body.input] = body

    def delivered(self, event: ev.Event, body: ev.InputDelivered) -> None:
        for name in body.inputs:
            given = self._inputs.pop(name, None)
            if given is not None:
                self._ride(event, *(_sent(block, Via(given.via)) for block in given.content))

    def injected(self, event: ev.Event, body: ev.Injected) -> None:
        self._ride(event, *(_put_in(block, body.strategy) for block in body.content))

    def requested(self, event: ev.Event, body: ev.ModelRequested) -> None:
        self._flush()
        self._is_calling = True

    def replied(self, event: ev.Event, body: ev.ModelReplied) -> None:
        given = body.message
        uid = given.uid or self._uid()
        message = replace(
            given,
            role="assistant",
            content=tuple(_spoken(block) for block in given.content),
            uid=uid,
            uids=given.uids or (uid,),
            timestamp=event.at if given.timestamp is None else given.timestamp,
            taint=self._taint if given.taint is None else given.taint,
        )
        self._append(event, message)
        self._calls = {block.id: call_name(block.call) for block in message.content if type(block) is ToolUse}
        self._release_interrupts()

    def model_failed(self, event: ev.Event, body: ev.ModelFailed) -> None:
        self._release_interrupts()

    def interrupted(self, event: ev.Event, body: ev.Interrupted) -> None:
        block = Interrupt(author_of(event.by))
        if self._is_calling:
            self._interrupts.append((event, block))
        else:
            self._ride(event, block)

    def compacted(self, event: ev.Event, body: ev.Compacted) -> None:
        self._own(event, Compaction(body.summary, body.trigger, body.tokens_before, body.tokens_after))

    def finished(self, event: ev.Event, body: ev.ToolFinished) -> None:
        self._raise_taint(body.taint)
        is_error = body.is_error or body.refusal is not None
        self._settle(event, ToolResult(body.call, body.content, is_error, body.refusal))
        self._delivery.rest += body.beside

    def unknown_outcome(self, event: ev.Event, body: ev.ToolOutcomeUnknown) -> None:
        self._settle(event, ToolResult(body.call, body.known, True, Refusal(RefusalKind.OUTCOME_UNKNOWN)))

    def tainted(self, event: ev.Event, body: ev.TaintRaised) -> None:
        self._raise_taint(body.taint)

    def asked(self, event: ev.Event, body: ev.AskOpened) -> None:
        self._asks[body.ask] = body

    def answered(self, event: ev.Event, body: ev.AskClosed) -> None:
        ask = self._asks.pop(body.ask, None)
        question = body.ask if ask is None else ask.prompt
        author = author_of(event.by)
        if ask is not None and ask.kind is AskKind.APPROVAL and ask.call is not None:
            question = ask.call
            refusal = refusal_of(body, event.by)
            if refusal is not None:
                told = wording_of(self._calls.get(ask.call, "the tool"), refusal)
                self._settle(event, ToolResult(ask.call, told, True, refusal))
                return
        if body.outcome in (AskOutcome.TIMED_OUT, AskOutcome.WITHDRAWN):
            return
        if ask is not None and ask.point is not None:
            self._at_point(event, ask, body)
            return
        if body.words is not None:
            self._ride(event, Text(body.words, author, via=Via.ANSWER))
        if body.words is None or (body.choice, body.comment, body.before, body.after) != (None,) * 4:
            self._ride(event, Decision(question, author, body.choice, body.comment, body.before, body.after))

    def _at_point(self, event: ev.Event, ask: ev.AskOpened, body: ev.AskClosed) -> None:
        """An answer at an interaction point. The wish to edit and the edit, two questions, are one decision."""
        author = author_of(event.by)
        effect = None if body.choice is None else ask.effects.get(body.choice)
        if ask.kind is AskKind.POINT and effect == "edit" and body.after is None:
            self._edits[ask.point or ""] = body
            return
        if ask.kind is AskKind.EDIT:
            wish = self._edits.pop(ask.point or "", None)
            choice, comment = (None, None) if wish is None else (wish.choice, wish.comment)
            decision = Decision(ask.prompt, author, choice, comment or body.comment, body.before, body.after, "edit")
            self._ride(event, decision)
            return
        if body.words is not None:
            self._ride(event, Text(body.words, author, via=Via.ANSWER))
        if body.words is None or (body.choice, body.comment) != (None, None):
            decision = Decision(ask.prompt, author, body.choice, body.comment, body.before, body.after, effect)
            self._ride(event, decision)

    def edited(self, event: ev.Event, body: ev.DocumentEdited) -> None:
        if body.ask is None:
            self._ride(event, Decision(body.document, author_of(event.by), before=body.before, after=body.after))

    def spawned(self, event: ev.Event, body: ev.ChildSpawned) -> None:
        self._children.append(Child(id=body.child, call=body.call))


def _sent(block: Block, via: Via) -> Block:
    return replace(block, via=via) if type(block) is Text and block.via is None else block


def _put_in(block: Block, strategy: str) -> Block:
    return replace(block, author=Author.HOST, by=strategy) if type(block) is Text else block


def _spoken(block: Block) -> Block:
    return replace(block, author=Author.MODEL) if type(block) is Text else block


_HANDLERS: dict[type, Callable[[Projector, ev.Event, Any], None]] = {
    ev.SessionOpened: Projector.opened,
    ev.SessionTitled: Projector.titled,
    ev.MessageImported: Projector.imported,
    ev.Rewound: Projector.rewound,
    ev.RunStarted: Projector.run_started,
    ev.RunEnded: Projector.run_ended,
    ev.PromptGiven: Projector.prompted,
    ev.InputReceived: Projector.received,
    ev.InputDelivered: Projector.delivered,
    ev.Injected: Projector.injected,
    ev.ModelRequested: Projector.requested,
    ev.ModelReplied: Projector.replied,
    ev.ModelFailed: Projector.model_failed,
    ev.Interrupted: Projector.interrupted,
    ev.Compacted: Projector.compacted,
    ev.ToolFinished: Projector.finished,
    ev.ToolOutcomeUnknown: Projector.unknown_outcome,
    ev.TaintRaised: Projector.tainted,
    ev.AskOpened: Projector.asked,
    ev.AskClosed: Projector.answered,
    ev.DocumentEdited: Projector.edited,
    ev.ChildSpawned: Projector.spawned,
}
