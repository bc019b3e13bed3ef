"""Whether a file is a Codex rollout: by the envelope of its lines, or by the items that older ones hold without one."""

from __future__ import annotations

from typing import Any

from handrail.harnesses.codex.bare import stands_alone
from handrail.harnesses.codex.wire import EVENT, ITEM, KNOWN_ENVELOPES
from handrail.harnesses.families.evidence import head_rows, share

_TYPES = frozenset({ITEM, EVENT}) | KNOWN_ENVELOPES
_WITHOUT_HEADER = 0.8


def recognises(data: bytes) -> float:
    """How sure Codex is that it wrote ``data``: the share of its rows that are such as it writes.

    Without a header among them it is less sure.
    """
    rows = head_rows(data)
    own = sum(_is_enveloped(row) or _is_bare(row) for row in rows)
    # Many files begin with an id and a time: alone that tells nothing.
    is_headed = bool(rows) and _is_bare_header(rows[0]) and (own > 0 or "instructions" in rows[0])
    found = share(own + is_headed, len(rows))
    has_header = is_headed or any(row.get("type") == "session_meta" and _is_enveloped(row) for row in rows)
    return found if has_header else _WITHOUT_HEADER * found


def _is_enveloped(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    return isinstance(kind, str) and kind in _TYPES and isinstance(row.get("payload"), dict) and "timestamp" in row


def _is_bare(row: dict[str, Any]) -> bool:
    """Whether ``row`` is an item or a mark from before the envelope; other harnesses have rows called messages too."""
    return stands_alone(row) and not _is_bare_header(row) and (row.get("type") != "message" or "role" in row)


def _is_bare_header(row: dict[str, Any]) -> bool:
    return stands_alone(row) and "type" not in row and "record_type" not in row
