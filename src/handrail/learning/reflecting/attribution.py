"""Whose fault it was: looked up in what the run had been given before the person stepped in.

The model that reflects copies spans and nothing else; what they mean is decided here. A span that does not stand where
it was said to stand decides nothing, and what is not decided is never learned from.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from handrail.learning.reflecting.lesson import Cause
from handrail.transcripts.model import Common, Json, Text, ToolResult

_MIN_ALNUM = 3
_SPACE = re.compile(r"\s+")


class Spans(Struct, frozen=True, kw_only=True, gc=False):
    """What the reflector copied. ``about`` is what the person's words are about; ``wish`` stands in them; ``wrong``
    is what was said or done, ``right`` what the person says is so, where a fact is at issue."""

    about: Literal["behaviour", "taste", "fact", "task"]
    wish: str
    wrong: str | None = None
    right: str | None = None


class Given(Struct, frozen=True, kw_only=True):
    """What stood before the person stepped in: results of tools, what the assistant and the person said."""

    results: tuple[str, ...]
    said: tuple[str, ...]


def given_before(body: Common, at: int) -> Given:
    """What the run had before message ``at``; results that came together with the person's words do not count."""
    before = body[:at]
    results = [block for message in before for block in message.content if type(block) is ToolResult]
    texts = [block.text for message in before for block in message.content if type(block) is Text]
    return Given(results=tuple("\n".join(_texts(block.content)) for block in results), said=tuple(texts))


def cause_of(spans: Spans, words: str, given: Given) -> Cause:
    """The cause. ``words`` are the person's own."""
    if not _stands(spans.wish, (words,)):
        return Cause.UNKNOWN
    match spans.about:
        case "task":
            return Cause.ONE_OFF
        case "taste":
            return Cause.TASTE
        case "behaviour":
            return Cause.BEHAVIOUR
        case "fact":
            return _of_fact(spans, words, given)


def _of_fact(spans: Spans, words: str, given: Given) -> Cause:
    right, wrong = spans.right, spans.wrong
    if right is None or not _stands(right, (words,)):
        return Cause.UNKNOWN
    if wrong is not None and not _stands(wrong, (*given.results, *given.said, words)):
        return Cause.UNKNOWN
    if wrong is not None and _stands(wrong, given.results):
        return Cause.DATA
    return Cause.BEHAVIOUR if _stands(right, given.results) else Cause.GAP


def _stands(span: str, texts: Iterable[str]) -> bool:
    """Whether ``span`` says enough to be looked up, and stands in one of ``texts``."""
    wanted = _folded(span)
    return sum(char.isalnum() for char in wanted) >= _MIN_ALNUM and any(wanted in _folded(text) for text in texts)


def _folded(text: str) -> str:
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip(" \"'`.,;:!?")


def _texts(content: Json) -> Iterator[str]:
    match content:
        case str():
            yield content
        case list():
            for item in content:
                yield from _texts(item)
        case dict():
            for item in content.values():
                yield from _texts(item)
