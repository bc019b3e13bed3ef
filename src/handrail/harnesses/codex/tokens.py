"""Token counts: one event a response, repeated at will, before or after what it counts.

Up to 0.63 the event of a response stands before its items, later after them; the first one of a file tells. An
event whose running total has not moved repeats the one before (Codex writes one at the start of every turn).
"""

from __future__ import annotations

from handrail.harnesses.codex.event_kinds import TokenInfo, TokenUsage
from handrail.transcripts.model import Usage


class Tokens:
    """What has been counted so far in one file. ``has_response`` is set by the reader with the first item."""

    __slots__ = ("_pending", "_total", "comes_first", "has_response")

    def __init__(self) -> None:
        self.has_response = False
        self.comes_first: bool | None = None
        self._total: TokenUsage | None = None
        self._pending: tuple[Usage, int] | None = None

    def read(self, info: TokenInfo | None) -> Usage | None:
        """The usage of one response, or None when the event counts nothing new."""
        if info is None:
            return None
        total = info.total_token_usage
        if total is not None:
            if total == self._total:
                return None
            self._total = total
        last = info.last_token_usage
        if last is None:
            return None
        if self.comes_first is None:
            self.comes_first = not self.has_response
        return Usage(
            input_tokens=last.input_tokens,
            output_tokens=last.output_tokens,
            cache_read_input_tokens=last.cached_input_tokens,
            cache_creation_input_tokens=last.cache_write_input_tokens,
            reasoning_tokens=last.reasoning_output_tokens,
        )

    def keep(self, usage: Usage, row: int) -> None:
        """Hold the usage that ``row`` told for the response that follows."""
        self._pending = (usage, row)

    def take(self) -> tuple[Usage, int] | None:
        """What was held, once."""
        found, self._pending = self._pending, None
        return found
