"""Whether a file is a journal of ours: by the envelope that every event has."""

from __future__ import annotations

from handrail.harnesses.families.evidence import head_rows, share

_ENVELOPE = frozenset({"at", "body", "by", "seq", "type", "v"})


def recognises(data: bytes) -> float:
    """The share of the first rows of ``data`` that have the envelope of an event."""
    rows = head_rows(data)
    return share(sum(row.keys() >= _ENVELOPE for row in rows), len(rows))
