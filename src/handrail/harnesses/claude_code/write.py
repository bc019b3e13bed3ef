"""Canonical messages as the rows Claude Code would have written: one chain, one row for each block or result.

The same session gives the same bytes. Text of a harness or host is never written as a turn. A person's prompt
carries the keys that prove it, so that it reads back as a person's, and text of nobody known carries an origin
that says so, so that it does not.
"""

from __future__ import annotations

from typing import Any

from handrail import ids
from handrail.harnesses.claude_code import spell
from handrail.harnesses.claude_code.deliver import write_delivery
from handrail.harnesses.claude_code.written import Written
from handrail.transcripts.model import Common, Message, ToolUse, Transcript


def write_session(session: Transcript[Common]) -> Written:
    """The rows of ``session`` in order, the title first."""
    written = Written(session)
    if session.meta.title is not None:
        title = {"type": "custom-title", "customTitle": session.meta.title, "sessionId": written.session}
        written.rows.append(title)
    for index, message in enumerate(session.body):
        written.message = index
        if message.role == "assistant":
            _write_response(written, message)
        else:
            write_delivery(written, message)
        if not written.row_ids[index]:
            written.lose("message", "nothing of it can be written")
    return written


def _write_response(written: Written, message: Message) -> None:
    blocks: list[dict[str, Any]] = []
    for index, block in enumerate(message.content):
        spelled = spell.response_block(block)
        if spelled.block is None:
            written.dropped.add((written.message, index))
        else:
            blocks.append(spelled.block)
        if type(block) is ToolUse:
            written.calls[block.id] = block
        written.lose_all(spelled.lost, index)
    envelope: dict[str, Any] = {"model": message.model} if message.model is not None else {}
    envelope |= {
        "id": f"msg_{ids.short_hash(written.session, written.message)}",
        "type": "message",
        "role": "assistant",
    }
    usage: dict[str, int] | None = None
    if message.usage is not None:
        usage, lost = spell.native_usage(message.usage)
        for what, why in lost:
            written.lose(f"message.{what}", why)
    for index, spelled_block in enumerate(blocks):
        is_last = index == len(blocks) - 1
        native = {**envelope, "content": [spelled_block], "stop_reason": message.stop_reason if is_last else None}
        native["stop_sequence"] = None
        if usage is not None:
            native["usage"] = usage
        written.add("assistant", message, message=native)
