"""Cutting a rollout without leaving its own format: the rows behind the kept messages, bookkeeping and all.

Rows of dropped messages go. Where such a row also moves the state of the session (a prompt was submitted, a turn
ended, tokens were counted) a stub without any words of the message stays in its place. Where a cut is closed, a
``turn_context`` keeps what stood apart apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail import jsonio
from handrail.harnesses.codex.event_kinds import Submitted, TaskComplete, TokenCount, TurnAborted, TurnComplete
from handrail.harnesses.codex.gathering import BOOKKEEPING
from handrail.harnesses.codex.native import Rollout
from handrail.harnesses.codex.wire import EVENT, Row, TurnContextRow, name_of
from handrail.transcripts.spans import Span, crop_to


def crop_rollout(rollout: Rollout, spans: Sequence[Span]) -> bytes:
    """The bytes of the cropped session; ``CropError`` as ``crop_to`` raises it."""
    body = rollout.lines.body()
    crop_to(body, spans)
    live = rollout.lines.live
    wanted = {index for span in spans for index in range(span.start, span.end)}
    kept = {live[index] for index in wanted}
    # A rollback undoes what was cut already.
    rollbacks = {cut.row for cut in rollout.reading.cuts}
    lines: list[bytes] = []
    context: bytes | None = None
    is_cut = False
    last = BOOKKEEPING
    rows = rollout.main.rows
    for index, row in enumerate(rows):
        owner = rollout.reading.owners[index]
        raw = rollout.main.raw(index)
        if isinstance(row, TurnContextRow):
            context = raw
        if index in rollbacks:
            continue
        if owner == BOOKKEEPING:
            ended = _without_last_words(row)
            lines.append(raw if ended is None else jsonio.encode(ended))
            continue
        if owner in kept:
            if is_cut and owner != last:
                lines.append(context or jsonio.encode(_context(row)))
            is_cut = False
            last = owner
            lines.append(raw)
            continue
        is_cut = True
        stub = _stub(row)
        if stub is not None:
            lines.append(jsonio.encode(stub))
    return b"".join(line + b"\n" for line in lines)


def _without_last_words(row: Row) -> dict[str, Any] | None:
    """What stays of bookkeeping that repeats the words of an answer; None for any other."""
    payload = row.payload
    if isinstance(payload, TaskComplete | TurnComplete):
        return _event(row, {"type": name_of(payload), "turn_id": payload.turn_id})
    return None


def _context(row: Row) -> dict[str, Any]:
    return {"timestamp": row.timestamp, "type": "turn_context", "payload": {}}


def _event(row: Row, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": row.timestamp, "type": EVENT, "payload": payload}


def _stub(row: Row) -> dict[str, Any] | None:
    """What stays of a row whose message goes; None when nothing has to."""
    payload = row.payload
    if isinstance(payload, Submitted):
        return _event(row, {"type": "user_message", "message": ""})
    if isinstance(payload, TurnAborted):
        return _event(row, {"type": "turn_aborted", "turn_id": payload.turn_id, "reason": "replaced"})
    if isinstance(payload, TokenCount) and payload.info is not None and payload.info.total_token_usage is not None:
        return _event(row, {"type": "token_count", "info": {"total_token_usage": payload.info.total_token_usage}})
    return None
