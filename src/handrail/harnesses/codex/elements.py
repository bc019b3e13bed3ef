"""The texts of Codex's content lists."""

from __future__ import annotations

from handrail.harnesses.codex.item_kinds import Content, Element
from handrail.harnesses.codex.wire import Compacted, history_of

_SUMMARY = "Another language model started to solve this problem and produced a summary"


def texts_of(content: Content) -> list[str]:
    """The texts that are not empty."""
    if isinstance(content, str):
        return [content] if content else []
    return [element.text for element in content or () if element.text]


def elements_of(content: Content) -> list[Element]:
    """The elements; a text alone is one."""
    return [Element("input_text", content)] if isinstance(content, str) else content or []


def summary_of(payload: Compacted) -> str | None:
    """The summary that a compaction left, None where it is encrypted or there is none.

    It is the message, or the last text in the replacement history that says it is one.
    """
    if payload.message:
        return payload.message
    if len(payload.replacement_history) < len(_SUMMARY):
        return None
    for content in reversed(history_of(payload.replacement_history)):
        for text in texts_of(content):
            if text.startswith(_SUMMARY):
                return text
    return None
