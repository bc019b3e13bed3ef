"""Spans over messages: fragments, crops that keep tool pairs whole, and what to say when they cannot.

A pair is a call and its result. A cut may drop both or keep both. When it keeps one, the error suggests the
smallest span that would be valid: growing is forced (the missing half must come in, then the missing halves of
what came in with it), so there is exactly one smallest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from handrail.errors import TranscriptError
from handrail.transcripts.model import Common, ToolResult, ToolUse


class Span(Struct, frozen=True, order=True):
    """Half-open range ``[start, end)`` over message indices, counted from 0.

    Anything can be written down; a span that is negative or inverted fails when it is used.
    """

    start: int
    end: int

    def __contains__(self, index: int) -> bool:
        return self.start <= index < self.end

    def __len__(self) -> int:
        return max(0, self.end - self.start)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        """As people write it: 1-based, both ends included (``#5-12``)."""
        if self.end - self.start == 1:
            return f"#{self.end}"
        return f"#{self.start + 1}-{self.end}"


class CropError(TranscriptError):
    """A session cannot be cut like that.

    ``span`` is the span at fault (None when the session itself is), ``suggestion`` the smallest valid expansion
    of it (None when there is none to offer).
    """

    code = "crop"

    def __init__(self, message: str, *, span: Span | None = None, suggestion: Span | None = None) -> None:
        hint = f"the smallest valid range that holds it is {suggestion}" if suggestion else None
        super().__init__(message, hint=hint)
        self.span = span
        self.suggestion = suggestion


class InvalidSpan(CropError):
    """The span is inverted or negative."""

    code = "crop_invalid_span"


class SpanPastEnd(CropError):
    """The span reaches past the end of the session."""

    code = "crop_past_end"


class EmptyCrop(CropError):
    """The spans keep no message."""

    code = "crop_empty"


class SplitPair(CropError):
    """The cut separates a tool call from its result."""

    code = "crop_split_pair"


class CallReused(CropError):
    """A tool id is used again before its earlier call was answered."""

    code = "crop_call_reused"


class AnsweredTwice(CropError):
    """A tool id is answered more than once."""

    code = "crop_answered_twice"


def check_span(span: Span, length: int) -> None:
    """Raise ``InvalidSpan`` or ``SpanPastEnd`` when ``span`` names no range of a session of ``length`` messages."""
    if span.start < 0 or span.end < span.start:
        raise InvalidSpan(f"span {span.start}..{span.end} is inverted or negative", span=span)
    if span.end > length:
        noun = "message" if length == 1 else "messages"
        raise SpanPastEnd(
            f"span {span.start}..{span.end} reaches past the end: the session has {length} {noun}", span=span
        )


def fragment(body: Common, span: Span) -> Common | None:
    """The messages of ``span``; None past the end; ``InvalidSpan`` when inverted or negative."""
    try:
        check_span(span, len(body))
    except SpanPastEnd:
        return None
    return body[span.start : span.end]


def tool_pairs(body: Common) -> list[tuple[int, int]]:
    """``(call index, result index)`` of every answered call, in the order the results arrive."""
    pairs: list[tuple[int, int]] = []
    open_calls: dict[str, int] = {}
    answered: set[str] = set()
    for index, message in enumerate(body):
        for block in message.content:
            if type(block) is ToolUse:
                if block.id in open_calls:
                    raise CallReused(
                        f"tool id {block.id!r} is used again in message {index + 1} "
                        f"while its call in message {open_calls[block.id] + 1} is unanswered"
                    )
                open_calls[block.id] = index
                answered.discard(block.id)
            elif type(block) is ToolResult:
                call = open_calls.pop(block.tool_use_id, None)
                if call is not None:
                    pairs.append((call, index))
                    answered.add(block.tool_use_id)
                elif block.tool_use_id in answered:
                    raise AnsweredTwice(f"tool id {block.tool_use_id!r} is answered again in message {index + 1}")
    return pairs


def crop_to(body: Common, spans: Sequence[Span]) -> Common:
    """The messages named by ``spans`` in the session's order, or a ``CropError``."""
    for span in spans:
        check_span(span, len(body))
    kept = sorted({index for span in spans for index in range(span.start, span.end)})
    if not kept:
        raise EmptyCrop("a crop keeps at least one message", span=spans[0] if spans else None)
    pairs = tool_pairs(body)
    keeps = set(kept)
    for call, result in pairs:
        if (call in keeps) != (result in keeps):
            inside = call if call in keeps else result
            span = next(span for span in spans if inside in span)
            raise SplitPair(
                f"{span} keeps message {inside + 1} but not message {call + result - inside + 1}: "
                "a tool call and its result stay together",
                span=span,
                suggestion=smallest_valid(pairs, span),
            )
    return tuple(body[index] for index in kept)


def smallest_valid(pairs: Iterable[tuple[int, int]], span: Span) -> Span:
    """The smallest span around ``span`` that separates none of ``pairs``; every message is looked at once."""
    partners: dict[int, list[int]] = {}
    for call, result in pairs:
        partners.setdefault(call, []).append(result)
        partners.setdefault(result, []).append(call)
    start, end = span.start, span.end
    seen_start = seen_end = start
    while start < seen_start or seen_end < end:
        fresh = (*range(start, seen_start), *range(seen_end, end))
        seen_start, seen_end = start, end
        for index in fresh:
            for partner in partners.get(index, ()):
                start, end = min(start, partner), max(end, partner + 1)
    return Span(start, end)
