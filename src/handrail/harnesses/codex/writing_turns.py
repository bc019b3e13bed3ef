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

    __slots__ = ("_count", "_logs", "_number", "is_open", "model", "prompts")

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        self._count = 0
        self._number = b"0"
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
        named = b'"' if model is None else b'","model":%b' % jsonio.encode(model)
        self._logs.line(_CONTEXT, self._number + named, b"}}\n")

    def start(self) -> None:
        """Begin a turn, ending the one before."""
        if self.is_open:
            self._logs.line(_COMPLETE, self._number, b'"}}\n')
        self._count += 1
        self._number = jsonio.encode(self._count)
        self.is_open = True
        self.prompts = 0
        self._logs.line(_STARTED, self._number, b'"}}\n')


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
        total = self._total
        fresh, cached, stored = usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens
        made, thought = usage.output_tokens, usage.reasoning_tokens
        # What was never counted stays None.
        if fresh:
            total.input_tokens = (total.input_tokens or 0) + fresh
        if cached:
            total.cached_input_tokens = (total.cached_input_tokens or 0) + cached
        if stored:
            total.cache_write_input_tokens = (total.cache_write_input_tokens or 0) + stored
        if made:
            total.output_tokens = (total.output_tokens or 0) + made
        if thought:
            total.reasoning_output_tokens = (total.reasoning_output_tokens or 0) + thought
        has_moved = fresh or cached or stored or made or thought
        info = _Info(total if has_moved else None, _Counts(fresh, cached, stored, made, thought))
        self._logs.line(_COUNT, jsonio.encode(info), b"}}\n")
