"""The instructions a rollout records: Codex keeps what the model was told before everything else in its head."""

from __future__ import annotations

from handrail import jsonio
from handrail.harnesses.codex.bare import HeaderRow
from handrail.harnesses.codex.native import Rollout
from handrail.harnesses.codex.wire import SessionMetaRow
from handrail.transcripts.model import Transcript


def instructions(native: Transcript[Rollout]) -> str | None:
    """The base instructions of the session's first head; None where it has none."""
    rows = native.body.main
    index = next((index for index, row in enumerate(rows.rows) if isinstance(row, SessionMetaRow)), None)
    if index is None:
        return None
    try:
        record = jsonio.decode(rows.data[slice(*rows.spans[index])])
    except jsonio.NotJson:
        return None
    head = record if isinstance(record, dict) else {}
    payload = head if isinstance(rows.rows[index], HeaderRow) else head.get("payload")
    fields = payload if isinstance(payload, dict) else {}
    base = fields.get("base_instructions")
    text = base.get("text") if isinstance(base, dict) else fields.get("instructions")
    return text if isinstance(text, str) and text.strip() else None
