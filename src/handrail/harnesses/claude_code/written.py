"""A session in the making: its rows, what got lost, and which rows stand for which message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from handrail import ids, jsonio
from handrail.harnesses.claude_code.spell import Lost
from handrail.transcripts.codec import LossItem
from handrail.transcripts.model import Common, Message, ToolUse, Transcript


class Written:
    """The rows of a written session, what got lost, and which rows stand for which message."""

    def __init__(self, session: Transcript[Common]) -> None:
        self.meta = session.meta
        self.body = session.body
        self.session = session.meta.id or ids.stable_uuid("claude_code", *(message.uid for message in session.body))
        self.rows: list[dict[str, Any]] = []
        self.losses: list[LossItem] = []
        self.row_ids: list[list[str]] = [[] for _ in session.body]
        self.dropped: set[tuple[int, int]] = set()
        self.commands: dict[str, str] = {}
        self.shells: set[str] = set()
        self.calls: dict[str, ToolUse] = {}
        self.taken: set[str] = set()
        self.last: str | None = None
        self.message = 0

    # Losses ----------------------------------------------------------------------------------------------

    def lose(self, what: str, why: str, block: int | None = None) -> None:
        """Name something of the present message that could not be carried."""
        self.losses.append(LossItem(what=what, why=why, message=self.message, block=block))

    def lose_all(self, lost: Lost, block: int) -> None:
        for what, why in lost:
            self.lose(what, why, block)

    def drop(self, block: int, what: str, why: str) -> None:
        """Name a block that is not written at all."""
        self.dropped.add((self.message, block))
        self.lose(what, why, block)

    # Rows ------------------------------------------------------------------------------------------------

    def add(self, kind: str, source: Message, uuid: str | None = None, /, **fields: Any) -> dict[str, Any]:
        """Append a row for the present message, in the order of keys in which Claude Code writes them."""
        own = self.row_ids[self.message]
        uuid = uuid or ids.stable_uuid("claude_code", self.session, self.message, len(own))
        row: dict[str, Any] = {"parentUuid": self.last, "isSidechain": False, "userType": "external"}
        row["cwd"] = self.meta.cwd or ""
        row["sessionId"] = source.origin or self.session
        if self.meta.cli_version is not None:
            row["version"] = self.meta.cli_version
        if self.meta.git_branch is not None:
            row["gitBranch"] = self.meta.git_branch
        row["type"] = kind
        row |= fields
        row["uuid"] = uuid
        if source.timestamp is not None:
            row["timestamp"] = instant(source.timestamp)
        own.append(uuid)
        self.taken.add(uuid)
        self.rows.append(row)
        self.last = uuid
        return row

    def add_user(self, source: Message, content: Any, uuid: str | None = None, /, **fields: Any) -> dict[str, Any]:
        return self.add("user", source, uuid, message={"role": "user", "content": content}, **fields)


def render_rows(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """One line a row, each ended by a line feed."""
    return b"".join(jsonio.encode(row) + b"\n" for row in rows)


def instant(value: datetime) -> str:
    """``value`` as Claude Code writes it: UTC, milliseconds, ``Z``; finer only where the value is."""
    precision = "milliseconds" if value.microsecond % 1000 == 0 else "microseconds"
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=precision) + "Z"
