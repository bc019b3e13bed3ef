"""A message while it is being read: Codex writes one item a line, a message is made of several."""

from __future__ import annotations

from datetime import UTC, datetime

from handrail.transcripts.model import Block, Message, Role, Usage

RESPONSE = 0
RESULTS = 1
PROMPT = 2
NOTES = 3
COMPACTION = 4


class Draft:
    """Collects the blocks and rows of one message. ``kind`` says what it is the delivery of."""

    __slots__ = ("content", "kind", "model", "origin", "role", "stop_reason", "timestamp", "uids", "usage")

    def __init__(self, kind: int, timestamp: str | None, model: str | None, origin: str | None) -> None:
        self.kind = kind
        self.role: Role = "user" if kind else "assistant"
        self.content: list[Block] = []
        self.uids: list[str] = []
        self.timestamp = timestamp
        self.model = None if kind else model
        self.stop_reason: str | None = None
        self.usage: Usage | None = None
        self.origin = origin

    def finish(self) -> Message:
        """The message."""
        uids = tuple(self.uids)
        return Message(
            role=self.role,
            content=tuple(self.content),
            uid=uids[0] if uids else "",
            uids=uids,
            timestamp=read_time(self.timestamp),
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


def write_time(instant: datetime | None) -> str:
    """An instant as Codex writes it: UTC with milliseconds (finer only where it is finer), ``""`` for none."""
    if instant is None:
        return ""
    in_utc = instant if instant.tzinfo is UTC else instant.astimezone(UTC)
    precision = "microseconds" if in_utc.microsecond % 1000 else "milliseconds"
    return f"{in_utc.isoformat(timespec=precision)[:-6]}Z"
