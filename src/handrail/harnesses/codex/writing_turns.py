"""Turns and token counts as a rollout is written with them."""

from __future__ import annotations

from msgspec import Struct

from handrail import jsonio
from handrail.harnesses.codex.logs import Logs
from handrail.transcripts.model import Usage

_CONTEXT = b'turn_context","payload":{"turn_id":"turn-'
_STARTED = b'event_msg","payload":{"type":"task_started","turn_id":"turn-'
_COMPLETE = b'event_msg","payload":{"type":"task_complete","turn_id":"turn-'
_COUNT = b'event_msg","payload":{"type":"token_count","info":'


class TurnWriter:
    """Begins and ends turns, and keeps apart what would run into one message.

    ``is_open``: a turn goes on; ``prompts``: how many texts were submitted in it; ``model``: who responds.
    """

    __slots__ = ("_count", "_logs", "is_open", "model", "prompts")

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        self._count = 0
        self.is_open = False
        self.prompts = 0
        self.model: str | None = None

    @property
    def id(self) -> str:
        """The id of the present turn."""
        return f"turn-{self._count}"

    def context(self, model: str | None) -> None:
        """A ``turn_context``: what follows is a message of its own, by ``model``."""
        self.model = model
        named = b"" if model is None else b',"model":%b' % jsonio.encode(model)
        self._logs.line(_CONTEXT, b'%d"%b' % (self._count, named), b"}}\n")

    def start(self) -> None:
        """Begin a turn, ending the one before."""
        self.end()
        self._count += 1
        self.is_open = True
        self.prompts = 0
        self._logs.line(_STARTED, b"%d" % self._count, b'"}}\n')

    def end(self) -> None:
        """End the turn, if there is one."""
        if self.is_open:
            self._logs.line(_COMPLETE, b"%d" % self._count, b'"}}\n')
        self.is_open = False


class _Counts(Struct, omit_defaults=True, gc=False):
    """Token counts as an event writes them."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None


class _Info(Struct, omit_defaults=True, gc=False):
    total_token_usage: _Counts | None = None
    last_token_usage: _Counts | None = None


class CountWriter:
    """Writes what each response cost, and the total so far."""

    __slots__ = ("_logs", "_total")

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        self._total = _Counts()

    def write(self, usage: Usage) -> None:
        """A ``token_count`` event.

        An event whose total has not moved is a repetition; one without a total never is.
        """
        last = _Counts(
            usage.input_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            usage.output_tokens,
            usage.reasoning_tokens,
        )
        info = _Info(self._total if _add(self._total, last) else None, last)
        self._logs.line(_COUNT, jsonio.encode(info), b"}}\n")


def _add(total: _Counts, last: _Counts) -> bool:
    """Add ``last`` to ``total`` in place; whether that moved it. What was never counted stays None."""
    has_moved = False
    if last.input_tokens:
        total.input_tokens = (total.input_tokens or 0) + last.input_tokens
        has_moved = True
    if last.cached_input_tokens:
        total.cached_input_tokens = (total.cached_input_tokens or 0) + last.cached_input_tokens
        has_moved = True
    if last.cache_write_input_tokens:
        total.cache_write_input_tokens = (total.cache_write_input_tokens or 0) + last.cache_write_input_tokens
        has_moved = True
    if last.output_tokens:
        total.output_tokens = (total.output_tokens or 0) + last.output_tokens
        has_moved = True
    if last.reasoning_output_tokens:
        total.reasoning_output_tokens = (total.reasoning_output_tokens or 0) + last.reasoning_output_tokens
        has_moved = True
    return has_moved
