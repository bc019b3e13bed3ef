"""Whether a file is Claude Code's: by the envelope of its rows, not by their having roles.

Others write JSON lines with a type, a uuid and a role too; what they do not have is Claude Code's message, whose
``content`` stands beside a ``role`` inside an envelope with the session's id.
"""

from __future__ import annotations

from typing import Any

from handrail.harnesses.families.evidence import head_rows, share

_TALK = ("user", "assistant")
"""No set: what a damaged row has for a type may be a list, which no set can be asked for."""
_BOOKKEEPING: dict[str, frozenset[str]] = {
    "summary": frozenset({"summary", "leafUuid"}),
    "file-history-snapshot": frozenset({"messageId", "snapshot"}),
    "queue-operation": frozenset({"operation", "sessionId"}),
    "system": frozenset({"subtype", "parentUuid", "isSidechain", "sessionId"}),
    "progress": frozenset({"data", "sessionId"}),
    "attachment": frozenset({"attachment", "sessionId"}),
    "last-prompt": frozenset({"sessionId"}),
    "custom-title": frozenset({"customTitle", "sessionId"}),
    "ai-title": frozenset({"aiTitle", "sessionId"}),
}
_WITHOUT_TALK = 0.8


def recognises(data: bytes) -> float:
    """How sure Claude Code is that it wrote ``data``: the share of its rows of talk that have its envelope.

    A file without any talk is judged by its bookkeeping, and less surely.
    """
    rows = head_rows(data)
    talk = [row for row in rows if row.get("type") in _TALK or "message" in row or "role" in row]
    if talk:
        return share(sum(_is_own(row) for row in talk), len(talk))
    known = sum(_is_bookkeeping(row) for row in rows)
    return _WITHOUT_TALK * share(known, len(rows))


def _is_own(row: dict[str, Any]) -> bool:
    message = row.get("message")
    return (
        row.get("type") in _TALK
        and isinstance(message, dict)
        and "content" in message
        and isinstance(row.get("sessionId"), str)
        and isinstance(row.get("uuid"), str)
    )


def _is_bookkeeping(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    needed = _BOOKKEEPING.get(kind) if isinstance(kind, str) else None
    return needed is not None and needed <= row.keys()
