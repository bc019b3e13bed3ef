"""What has entered a conversation, and the one thing that must not happen then.

Taint belongs to the conversation, not to a run, and only grows: a new turn, a resume or a compaction clears
nothing. A call that sends something out is refused, before anybody is asked, once both somebody's private data and
words of an untrusted source are there: that is how one is made to carry away the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from handrail.agents.tool import ToolOutput
from handrail.journal.vocabulary import Actor, ActorKind
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Block, Image, Refusal, RefusalKind, Taint

CLEAN = Taint()

ALL_TRAITS = ToolTraits(private=True, untrusted=True, sends=True, destructive=True)
"""What a tool is taken for that nothing is known of."""


class Armed(StrEnum):
    """What is done with a sending call when private data and untrusted words are both present."""

    BLOCK = "block"
    ASK = "ask"
    ALLOW = "allow"


class TaintPolicy(Struct, frozen=True, kw_only=True):
    """``armed`` says what becomes of a send when both legs are there; ``guards_private`` makes private data enough."""

    armed: Armed = Armed.BLOCK
    guards_private: bool = False


def widen(traits: ToolTraits, by: ToolTraits) -> ToolTraits:
    """``traits`` and those of ``by``: configuration may add to what a tool is said to do, never take away."""
    return ToolTraits(
        private=traits.private or by.private,
        untrusted=traits.untrusted or by.untrusted,
        sends=traits.sends or by.sends,
        destructive=traits.destructive or by.destructive,
    )


def taint_of(traits: ToolTraits) -> Taint:
    """What a call of such a tool can bring in."""
    return Taint(private=traits.private, untrusted=traits.untrusted)


def taint_after(conversation: Taint, traits: ToolTraits, output: ToolOutput) -> Taint:
    """The taint once ``output`` is part of the conversation.

    Private data arrives with any call that was run; untrusted words only with a result that really came from
    outside (an error counts: its text can be hostile too), so that our own refusals taint nothing.
    """
    ran = output.refusal is None or output.refusal.kind in {RefusalKind.INTERRUPTED, RefusalKind.OUTCOME_UNKNOWN}
    brought = Taint(private=traits.private and ran, untrusted=traits.untrusted and output.is_external)
    return conversation | brought


def taint_of_input(conversation: Taint, blocks: Iterable[Block], by: Actor) -> Taint:
    """The taint once ``blocks`` that ``by`` put in are part of the conversation.

    An attached picture is private data; what a peer says are words from outside.
    """
    is_private = any(isinstance(block, Image) for block in blocks)
    return conversation | Taint(private=is_private, untrusted=by.kind is ActorKind.PEER)


def turn_taint(conversation: Taint, batch: Iterable[ToolTraits]) -> Taint:
    """The taint to judge a batch by: that of the conversation and all that any call of the batch could bring in.

    Otherwise a read and a send in one batch would slip through, the send being judged before the read has run.
    """
    taint = conversation
    for traits in batch:
        taint = taint | taint_of(traits)
    return taint


def interlock(policy: TaintPolicy, turn: Taint, traits: ToolTraits) -> Armed:
    """What becomes of a call of a tool with ``traits`` in a turn with that taint; ``ALLOW`` when it is no danger."""
    is_armed = turn.private and (turn.untrusted or policy.guards_private)
    return policy.armed if traits.sends and is_armed else Armed.ALLOW


def interlock_refusal(name: str, turn: Taint) -> ToolOutput:
    """The result of a call that the interlock refused; ``refusal.by`` is ``taint``, by which such calls are counted."""
    why = "private data and untrusted words are" if turn.untrusted else "private data is"
    reason = f"{name} sends data out, and {why} in this conversation"
    text = f"{name} was not run: {reason}. Nobody was asked. Carry on without sending anything out."
    return ToolOutput(text, is_error=True, refusal=Refusal(RefusalKind.BLOCKED, "taint", reason))
