"""Cutting a rollout without leaving its own format: the rows behind the kept messages, bookkeeping and all.

Rows of dropped messages go. Where such a row also moves the state of the session (a prompt was submitted, a turn
ended, tokens were counted) a stub without any words of the message stays in its place. Where a cut is closed, a
``turn_context`` keeps what stood apart apart; in rollouts from before the envelope the mark of a batch does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail import jsonio
from handrail.harnesses.codex.bare import STATE_LINE, HeaderRow, are_bare
from handrail.harnesses.codex.event_kinds import Submitted, TaskComplete, TokenCount, TurnAborted, TurnComplete
from handrail.harnesses.codex.gathering import BOOKKEEPING
from handrail.harnesses.codex.native import Rollout
from handrail.harnesses.codex.sources import told_folder
from handrail.harnesses.codex.wire import EVENT, Row, StateRow, TurnContextRow, name_of
from handrail.harnesses.families.places import replaced
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
    rows = rollout.main.rows
    context: bytes | None = STATE_LINE if are_bare(rows) else None
    headers = _renewed_header(rollout, kept)
    batch: list[bytes] = []
    is_cut = False
    last = BOOKKEEPING
    for index, row in enumerate(rows):
        owner = rollout.reading.owners[index]
        raw = rollout.main.raw(index)
        if isinstance(row, TurnContextRow):
            context = raw
        if index in rollbacks:
            continue
        if isinstance(row, StateRow):
            batch.append(raw)
            continue
        if owner == BOOKKEEPING:
            ended = _without_last_words(row)
            lines += (*batch, headers.get(index, raw) if ended is None else jsonio.encode(ended))
        elif owner in kept:
            if is_cut and owner != last and not batch:
                lines.append(context or jsonio.encode(_context(row)))
            is_cut = False
            last = owner
            lines += (*batch, raw)
        else:
            is_cut = True
            stub = _stub(row)
            if stub is not None:
                lines.append(jsonio.encode(stub))
        batch.clear()
    return b"".join(line + b"\n" for line in (*lines, *batch))


def _renewed_header(rollout: Rollout, kept: set[int]) -> dict[int, bytes]:
    """The header with the folder in it, where the message goes that named it before the envelope; by its row."""
    rows = rollout.main.rows
    at = next((index for index, row in enumerate(rows) if isinstance(row, HeaderRow)), None)
    folder = told_folder(rows)
    if at is None or folder.name is None or folder.name != rollout.meta.cwd:
        return {}
    if rollout.reading.owners[folder.row] in kept:
        return {}
    raw = rollout.main.raw(at)
    ((_, start, end, new),) = replaced(raw, {("cwd",): jsonio.encode(folder.name)})
    return {at: raw[:start] + new + raw[end:]}


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
