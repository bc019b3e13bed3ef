"""Whether a file is a Codex rollout: by the envelope of its lines."""

from __future__ import annotations

from typing import Any

from handrail.harnesses.codex.wire import EVENT, ITEM, KNOWN_ENVELOPES
from handrail.harnesses.families.evidence import head_rows, share

_TYPES = frozenset({ITEM, EVENT}) | KNOWN_ENVELOPES
_WITHOUT_HEADER = 0.8


def recognises(data: bytes) -> float:
    """How sure Codex is that it wrote ``data``: the share of its rows that have the envelope.

    Without a ``session_meta`` among them it is less sure.
    """
    rows = head_rows(data)
    found = share(sum(_is_own(row) for row in rows), len(rows))
    has_header = any(row.get("type") == "session_meta" and _is_own(row) for row in rows)
    return found if has_header else _WITHOUT_HEADER * found


def _is_own(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    return isinstance(kind, str) and kind in _TYPES and isinstance(row.get("payload"), dict) and "timestamp" in row
