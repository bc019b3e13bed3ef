"""The rows of a Claude Code session as they stand in its file, declared only as far as they are read.

Every field has a default and an unknown key costs nothing: what is not named here is skipped by the decoder,
which is most of the bytes. These structs are apart from the canonical ones on purpose, so that no file can spell
an author or a refusal of its own.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import Meta, Raw, Struct

from handrail.harnesses.families.jsonl import RowReader, Rows

Instant = Annotated[datetime, Meta(tz=True)]


def in_utc(moment: datetime) -> datetime | None:
    """``moment`` in UTC; None where that is before the first year or after the last."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None


ABSENT = Raw()
"""What a field holds that is not decoded further and was not there."""


class Source(Struct, gc=False):
    """Where the data of an image or document comes from."""

    type: str = "base64"
    media_type: str | None = None
    data: str | None = None
    url: str | None = None


class WireBlock(Struct, gc=False):
    """A content block of any kind; ``type`` says which fields count."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    source: Source | None = None
    title: str | None = None


class WireUsage(Struct, gc=False):
    """Tokens of one response."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class WireMessage(Struct, gc=False):
    """What went to or came from the model."""

    model: str | None = None
    id: str | None = None
    content: str | list[WireBlock] | None = None
    stop_reason: str | None = None
    usage: WireUsage | None = None


class Outcome(Struct, gc=False):
    """What Claude Code itself kept of a tool's result."""

    agentId: str | None = None
    questions: Any = None
    answers: Any = None
    annotations: Any = None
    userModified: bool | None = None


class RowOrigin(Struct, gc=False):
    """Who put a row into the queue or the prompt."""

    kind: str | None = None
    name: str | None = None


class Attachment(Struct, gc=False):
    """What Claude Code added to a turn: hook output, a queued text, a file."""

    type: str = ""
    prompt: Any = None
    commandMode: str | None = None
    origin: RowOrigin | None = None
    hookName: str | None = None
    hookEvent: str | None = None
    content: Raw = ABSENT
    blockingError: Raw = ABSENT


class Segment(Struct, gc=False):
    """Rows that a compaction kept as they were."""

    headUuid: str | None = None
    anchorUuid: str | None = None
    tailUuid: str | None = None


class CompactMetadata(Struct, gc=False):
    """How a compaction came about, in tokens of the model's context."""

    trigger: str | None = None
    preTokens: int | None = None
    postTokens: int | None = None
    preservedSegment: Segment | None = None


class Row(Struct, gc=False):
    """One row of any kind; ``type`` says which. Fields in the order in which real rows have them."""

    parentUuid: str | None = None
    logicalParentUuid: str | None = None
    isSidechain: bool | None = None
    sessionId: str | None = None
    agentId: str | None = None
    message: WireMessage | None = None
    attachment: Attachment | None = None
    type: str = ""
    subtype: str | None = None
    operation: str | None = None
    isMeta: bool | None = None
    uuid: str | None = None
    timestamp: Instant | None = None
    toolUseResult: Outcome | str | list[Raw] | bool | int | float | None = None
    toolDenialKind: str | None = None
    content: Any = None
    thinkingMetadata: Raw = ABSENT
    permissionMode: str | None = None
    promptSource: str | None = None
    origin: RowOrigin | None = None
    isCompactSummary: bool | None = None
    compactMetadata: CompactMetadata | None = None
    sourceToolUseID: str | None = None
    planContent: Raw = ABSENT

    @property
    def is_talk(self) -> bool:
        """Whether the row is part of the conversation with the model."""
        return self.type == "assistant" or self.type == "user"


class Naming(Struct, gc=False):
    """What a row that names the session says. Apart from ``Row``, which all rows would pay for."""

    customTitle: str | None = None
    aiTitle: str | None = None
    agentName: str | None = None
    summary: str | None = None
    leafUuid: str | None = None


STARTS = (b'{"parentUuid"', b'{"type"')
"""What a record begins with; reading picks up there inside a damaged line."""

BULKY = frozenset({"progress"})
"""Kinds that may fill gigabytes and carry no talk of their own line."""

READER = RowReader(Row, STARTS)
_NAMINGS = RowReader(Naming, STARTS)


def read_rows(data: bytes, part: str) -> Rows[Row]:
    """The rows of one part."""
    return READER.read(data, part)


def read_naming(raw: bytes) -> Naming:
    """What the row with the bytes ``raw`` names the session; nothing where it cannot be read."""
    found = _NAMINGS.read(raw).rows
    return found[0] if found else Naming()


CROP_KIND = "handrail-crop"
"""A first row of our own: what a native crop says of the whole session where the rows it keeps no longer do."""

KNOWN_KINDS = frozenset(
    {
        CROP_KIND,
        "user",
        "assistant",
        "system",
        "attachment",
        "progress",
        "summary",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-setting",
        "last-prompt",
        "mode",
        "permission-mode",
        "queue-operation",
        "file-history-snapshot",
        "file-history-delta",
        "bridge-session",
        "pr-link",
        "tag",
    }
)
"""Record types of Claude Code 1.0.24 to 2.1.219; any other is kept and counted."""

PROOF_SINCE = (1, 0, 128)
"""The first version whose prompts carry a key that proves it."""

PROOF_ALWAYS = (2, 1, 15)
"""From this version on every prompt carries ``permissionMode``."""
