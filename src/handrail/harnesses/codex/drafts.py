"""A message while it is being read: Codex writes one item a line, a message is made of several."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from handrail.transcripts.model import Block, Message, Usage

RESPONSE = 0
RESULTS = 1
PROMPT = 2
NOTES = 3
COMPACTION = 4


class Draft(Struct, gc=False):
    """Collects the blocks and rows of one message. ``kind`` says what it is the delivery of."""

    kind: int
    timestamp: str | None = None
    model: str | None = None
    origin: str | None = None
    content: list[Block] = []
    uids: list[str] = []
    stop_reason: str | None = None
    usage: Usage | None = None

    def finish(self) -> Message:
        """The message."""
        content, uids = tuple(self.content), tuple(self.uids)
        uid = uids[0] if uids else ""
        timestamp = read_time(self.timestamp)
        if self.kind != RESPONSE:
            return Message(role="user", content=content, uid=uid, uids=uids, timestamp=timestamp, origin=self.origin)
        return Message(
            role="assistant",
            content=content,
            uid=uid,
            uids=uids,
            timestamp=timestamp,
            model=self.model,
            stop_reason=self.stop_reason,
            usage=self.usage,
            origin=self.origin,
        )


def read_time(text: str | None) -> datetime | None:
    """An instant in UTC, or None where the record has none that can be read."""
    if not text:
        return None
    try:
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is UTC:
            return instant
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
