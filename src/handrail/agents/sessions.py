"""Conversations that go on: opened again, forked at a message, taken over from any other harness.

A fork and a continuation are new sessions that hold the messages of the old one, whole and under their own ids, and
say where they came from; the old one is not touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from handrail import ids
from handrail.agents.result import Session
from handrail.clock import Clock, SystemClock
from handrail.errors import SessionNotFound
from handrail.harnesses.families.writable import writable
from handrail.journal.events import Event, Known, MessageImported, Rewound, SessionOpened
from handrail.journal.fold import fold
from handrail.journal.port import Journal
from handrail.journal.transcript import Projector, project
from handrail.journal.vocabulary import Actor, ActorKind
from handrail.transcripts.model import (
    Common,
    Message,
    Meta,
    Parent,
    Refusal,
    RefusalKind,
    ToolResult,
    ToolUse,
    Transcript,
)
from handrail.transcripts.spans import Span

HOST = Actor(ActorKind.HOST)

UNANSWERED = "No result of this call was recorded. Whether it took effect is unknown."


async def transcript_of(session: Session) -> Transcript[Common]:
    """What was said in ``session``; ``SessionNotFound`` when its journal has no such session."""
    events = await session.journal.read(session.id)
    if not events:
        raise SessionNotFound(f"no session {session.id!r}")
    return project(events)


async def fork(session: Session, at: int, *, id: str | None = None, clock: Clock | None = None) -> Session:
    """A new session in the same journal with the messages of ``session`` up to message ``at`` (which is included).

    ``CropError`` when that would part a call from its result; its ``suggestion`` is a span that does not.
    """
    given = await transcript_of(session)
    kept = given.crop(Span(0, at + 1))
    return await _begun(kept, session.journal, "fork", kept.body[-1].uid, id, clock)


async def continued(
    given: Transcript[Common], journal: Journal, *, id: str | None = None, clock: Clock | None = None
) -> Session:
    """A new session that goes on with ``given``, from whatever harness; calls without a result get one that says so."""
    return await _begun(given, journal, "continued", given.body[-1].uid if given.body else None, id, clock)


async def rewind(session: Session, at: int) -> None:
    """Go back in ``session`` to just after message ``at``: what came later becomes a branch of it.

    ``IndexError`` for a message that is not there; ``BrokenJournal`` while a run is open.
    """
    events = await session.journal.read(session.id)
    projector = Projector()
    for event in events:
        projector.add(event)
    projector.finish()
    seqs = projector.seqs
    if not 0 <= at < len(seqs):
        raise IndexError(f"the session has {len(seqs)} messages, and none at {at}")
    to = seqs[at + 1] - 1 if at + 1 < len(seqs) else len(events)
    if to < len(events):
        epoch = await session.journal.take_over(session.id)
        rewound = Event(seq=len(events) + 1, by=HOST, body=Rewound(to))
        fold((rewound,), fold(events))
        await session.journal.append(session.id, len(events), epoch, (rewound,))


async def _begun(
    given: Transcript[Common], journal: Journal, kind: str, at: str | None, id: str | None, clock: Clock | None
) -> Session:
    """A session that holds ``given``, with where it came from."""
    now = (clock or SystemClock()).now()
    name = id or ids.new_uuid7(clock)
    meta = given.meta
    parent = Parent(session=meta.id, kind=kind, at=at) if meta.id else None  # type: ignore[arg-type]
    opened = Meta(id=name, timestamp=now, cwd=meta.cwd, git_branch=meta.git_branch, title=meta.title, parent=parent)
    bodies: list[Known] = [SessionOpened(opened)]
    for index, message in enumerate(answered(given.body)):
        origin = message.origin or meta.id or None
        bodies.append(MessageImported(replace(writable(message, index, []), origin=origin)))
    events = [Event(seq=seq, by=HOST, body=body, at=now) for seq, body in enumerate(bodies, 1)]
    epoch = await journal.take_over(name)
    await journal.append(name, 0, epoch, events)
    return Session(name, journal)


def answered(messages: Sequence[Message]) -> Iterator[Message]:
    """``messages`` with a result for every call: no provider takes a history where one is missing.

    A result that is missing stands with the others of its response, or in a message of its own right after it.
    """
    given = {block.tool_use_id for message in messages for block in message.content if type(block) is ToolResult}
    owed: tuple[ToolResult, ...] = ()
    for message in messages:
        if owed and message.role == "user":
            yield replace(message, content=(*owed, *message.content))
            owed = ()
            continue
        if owed:
            yield Message(role="user", content=owed)
        yield message
        owed = tuple(_unanswered(message, given))
    if owed:
        yield Message(role="user", content=owed)


def _unanswered(message: Message, given: set[str]) -> Iterator[ToolResult]:
    if message.role != "assistant":
        return
    for block in message.content:
        if type(block) is ToolUse and block.id not in given:
            yield ToolResult(block.id, UNANSWERED, True, Refusal(RefusalKind.OUTCOME_UNKNOWN))
