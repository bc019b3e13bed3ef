"""Texts a person queued while the agent worked: what became of each, by playing the queue's records.

The file says what was put in and that something was taken out, rarely what. The queue is first in, first out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from handrail import jsonio
from handrail.harnesses.claude_code.wire import Attachment, Row, WireBlock

HOOK_TEXTS = frozenset({"hook_additional_context", "hook_blocking_error", "hook_success"})
"""Attachments by which a hook speaks to the model."""

_CONTEXT_HOOKS = frozenset({"SessionStart", "UserPromptSubmit"})


class Delivered(NamedTuple):
    """A queued content that reached the agent at work; ``rows`` is where it was put into the queue, if known."""

    content: Any
    rows: tuple[int, ...]


class Queue:
    """The queue of one session, played record by record."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self._waiting: list[tuple[Any, int]] = []
        self._taken: dict[str, tuple[int, int]] = {}
        self._attached: Counter[str] | None = None

    def play(self, row: Row, index: int) -> Delivered | None:
        """Take in one record; what it handed to the agent, if anything did and stands nowhere else."""
        operation = row.operation
        if operation == "enqueue":
            self._waiting.append((row.content, index))
        elif operation == "dequeue" and self._waiting:
            content, put_at = self._waiting.pop(0)
            self._taken[queued_text(content)] = (put_at, index)
        elif operation == "popAll":
            self._waiting.clear()
        elif operation == "remove":
            return self._removed(row.content)
        return None

    def joined(self, text: str) -> tuple[int, ...]:
        """The records through which a prompt of these words came; ``()`` when it was not queued. Asked once each."""
        return self._taken.pop(text, ()) if self._taken else ()

    def _removed(self, content: Any) -> Delivered | None:
        at = 0
        if content is not None:
            wanted = queued_text(content)
            at = next((at for at, (item, _) in enumerate(self._waiting) if queued_text(item) == wanted), -1)
        elif not self._waiting:
            return None
        found = Delivered(content, ())
        if at >= 0 and self._waiting:
            waiting, put_at = self._waiting.pop(at)
            found = Delivered(waiting, (put_at,))
        return None if self._is_attached(queued_text(found.content)) else found

    def _is_attached(self, text: str) -> bool:
        """Whether the same words stand in an attachment too, which then counts."""
        if self._attached is None:
            self._attached = Counter(_attached_prompts(self._rows))
        if not self._attached[text]:
            return False
        self._attached[text] -= 1
        return True


def _attached_prompts(rows: list[Row]) -> Iterable[str]:
    for row in rows:
        if row.attachment is not None and row.attachment.type == "queued_command":
            yield queued_text(row.attachment.prompt)


def queued_blocks(content: Any) -> list[WireBlock]:
    """Queued content, a text or a list of blocks, as blocks."""
    if type(content) is str:
        return [WireBlock(type="text", text=content)]
    found = []
    for item in content if type(content) is list else ():
        try:
            found.append(msgspec.convert(item, WireBlock))
        except (msgspec.ValidationError, UnicodeEncodeError):
            continue
    return found


def queued_text(content: Any) -> str:
    """The words of queued content."""
    return "\n".join(item.text for item in queued_blocks(content) if item.text is not None)


def hook_texts(attachment: Attachment) -> list[str]:
    """What a hook put before the model: added context, the output of a hook that adds it, the reason of a block."""
    raw = attachment.blockingError if attachment.type == "hook_blocking_error" else attachment.content
    if attachment.type == "hook_success" and attachment.hookEvent not in _CONTEXT_HOOKS:
        return []
    try:
        value = jsonio.decode(memoryview(raw))
    except jsonio.NotJson:
        return []
    if type(value) is dict:
        value = value.get("blockingError")
    values = value if type(value) is list else [value]
    return [text for text in values if type(text) is str and text]
