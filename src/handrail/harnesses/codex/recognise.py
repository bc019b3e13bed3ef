"""Whether a file is a Codex rollout: by its envelope, or by the bare items of its first releases."""

from __future__ import annotations

from typing import Any

from handrail.harnesses.families.evidence import head_rows, share

_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "session_state"})
_BARE_HEAD = frozenset({"id", "timestamp", "instructions"})
_BARE_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})
_BARE = 0.8


def recognises(data: bytes) -> float:
    """How sure Codex is that it wrote ``data``: the share of rows with its envelope.

    Rollouts of before the envelope have a head with instructions, then bare items; they are less sure.
    """
    rows = head_rows(data)
    own = share(sum(_has_envelope(row) for row in rows), len(rows))
    if own or not rows:
        return own
    if rows[0].keys() >= _BARE_HEAD:
        return _BARE * share(sum(_is_bare(row) for row in rows[1:]), len(rows) - 1 or 1)
    return 0.0


def _has_envelope(row: dict[str, Any]) -> bool:
    return row.get("type") in _KINDS and isinstance(row.get("payload"), dict) and "timestamp" in row


def _is_bare(row: dict[str, Any]) -> bool:
    return row.get("record_type") == "state" or row.get("type") in _BARE_ITEMS
