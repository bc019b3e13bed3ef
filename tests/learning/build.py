"""Tiny canonical sessions, written as one would tell them."""

from __future__ import annotations

from handrail.transcripts.calls import parse_call
from handrail.transcripts.codec import Branch, ToolTraits
from handrail.transcripts.model import (
    Author,
    Block,
    Common,
    Decision,
    Interrupt,
    Json,
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

TABLE = {
    "Read": ToolTraits(private=True),
    "Write": ToolTraits(destructive=True),
    "Edit": ToolTraits(destructive=True),
    "Bash": ToolTraits(private=True, untrusted=True, sends=True, destructive=True),
    "Grep": ToolTraits(private=True),
    "TodoWrite": ToolTraits(),
    "WebFetch": ToolTraits(untrusted=True, sends=True),
}
"""Built-in tools of a harness that does not exist."""


def typed(text: str, via: Via | None = None) -> Text:
    """Words of a person."""
    return Text(text, Author.PERSON, via=via)


def noted(text: str) -> Text:
    """Words of the harness."""
    return Text(text, Author.HARNESS)


def call(name: str, call_id: str, **given: Json) -> ToolUse:
    return ToolUse(call_id, parse_call(name, given))


def bash(call_id: str, command: str = "ls") -> ToolUse:
    return call("Bash", call_id, command=command)


def result(call_id: str, content: Json = "fine", *, is_error: bool = False) -> ToolResult:
    return ToolResult(call_id, content, is_error=is_error)


def refused(call_id: str, reason: str | None = None, kind: RefusalKind = RefusalKind.DENIED) -> ToolResult:
    """A refused call; by a person when the kind is ``denied``."""
    by = "person" if kind == RefusalKind.DENIED else "policy"
    return ToolResult(call_id, "not run", is_error=True, refusal=Refusal(kind, by, reason))


def chose(ask: str, choice: str | None = None, **given: str) -> Decision:
    """A person's recorded decision."""
    return Decision(ask, Author.PERSON, choice, **given)


def stop(by: Author = Author.UNKNOWN) -> Interrupt:
    return Interrupt(by)


def user(*blocks: Block | str, uid: str = "", origin: str | None = None, taint: Taint | None = None) -> Message:
    """A delivery; a plain string is a prompt that a person typed."""
    content = tuple(typed(block, Via.PROMPT) if isinstance(block, str) else block for block in blocks)
    return Message(role="user", content=content, uid=uid, origin=origin, taint=taint)


def agent(*blocks: Block | str, uid: str = "", origin: str | None = None, taint: Taint | None = None) -> Message:
    """A response; a plain string is what the model said."""
    content = tuple(Text(block, Author.MODEL) if isinstance(block, str) else block for block in blocks)
    return Message(role="assistant", content=content, uid=uid, origin=origin, taint=taint)


def session(*messages: Message, harness: str | None = None, name: str = "s1") -> Transcript[Common]:
    """A session with a uid for every message that has none."""
    return Transcript(Meta(id=name, harness=harness), numbered(messages, "m"))


def branch(at: int, *messages: Message, name: str = "b1") -> Branch:
    return Branch(id=name, at=at, body=numbered(messages, name))


def numbered(messages: tuple[Message, ...], prefix: str) -> Common:
    return tuple(
        Message(
            role=message.role,
            content=message.content,
            uid=message.uid or f"{prefix}-{place}",
            origin=message.origin,
            taint=message.taint,
        )
        for place, message in enumerate(messages)
    )
