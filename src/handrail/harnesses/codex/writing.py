"""From messages to a rollout: both logs, in the order and spelling of Codex, the same bytes every time.

A ``user_message`` event is written for a person's text and for no other, so that it reads back as one. What the
harness or a host wrote is never written as a user's turn. A ``turn_context`` keeps messages apart that would run
into one another. Everything that does not come back is named in the ``Loss``.
"""

from __future__ import annotations

from typing import Any

from handrail import jsonio
from handrail.harnesses.codex.drafts import write_time
from handrail.harnesses.codex.losses import Losses
from handrail.harnesses.codex.rowids import RowIds, hashed
from handrail.harnesses.codex.writing_blocks import BlockWriter
from handrail.transcripts.codec import Loss
from handrail.transcripts.model import Common, Message, Meta, Transcript, Usage

_NO_TOKENS = Usage(input_tokens=0, output_tokens=0)


def write_rollout(common: Transcript[Common]) -> tuple[bytes, Loss]:
    """The bytes of a rollout that holds ``common``, and what it could not hold."""
    writer = _Writer(common)
    writer.session(common.meta)
    for index, message in enumerate(common.body):
        writer.message(index, message)
    return b"".join(writer.lines), writer.losses.finish()


class _Writer:
    """Appends lines and keeps in mind what a reader would know at each of them."""

    def __init__(self, common: Transcript[Common]) -> None:
        self.lines: list[bytes] = []
        self.losses = Losses()
        self.ids = RowIds(self.lines.__getitem__)
        self.time = ""
        self._body = common.body
        self._blocks = BlockWriter(self)
        self._model: str | None = None
        self._role: str | None = None
        self._totals: dict[str, int] = {}
        self._turns = 0
        self.is_turn = False
        self.prompts = 0

    # Lines

    def line(self, kind: str, payload: bytes) -> bytes:
        """Append one line of the present time and return it."""
        line = b'{"timestamp":"%b","type":"%b","payload":%b}' % (self.time.encode(), kind.encode(), payload)
        self.lines.append(line)
        self.lines.append(b"\n")
        return line

    def event(self, payload: dict[str, Any]) -> bytes:
        return self.line("event_msg", jsonio.encode(payload))

    # The session

    def session(self, meta: Meta) -> None:
        self.time = write_time(meta.timestamp)
        git = None if meta.git_branch is None else {"branch": meta.git_branch}
        payload: dict[str, Any] = {
            "id": meta.id,
            "timestamp": self.time,
            "cwd": meta.cwd or "",
            "originator": "codex_cli_rs",
            "cli_version": meta.cli_version or "",
            "source": "cli",
            "model_provider": "openai",
            "model": meta.model,
            "base_instructions": None,
            "git": git,
        }
        self.line("session_meta", jsonio.encode(payload))
        if meta.title:
            self.event({"type": "thread_name_updated", "thread_id": meta.id, "thread_name": meta.title})
        for field in ("title", "cwd", "cli_version"):
            if getattr(meta, field) == "":
                self.losses.session(f"meta.{field}", "an empty text is none")

    def message(self, index: int, message: Message) -> None:
        self._fields(index, message)
        blocks = self._blocks.writable(index, message)
        if not blocks:
            if not message.content:
                self.losses.message(index, "message", "Codex has no empty message")
            return
        self.time = write_time(message.timestamp)
        is_model = message.role == "assistant"
        if self._role == message.role or (is_model and message.model != self._model):
            self.context(message.model if is_model else self._model)
        self._role = message.role
        first = len(self.lines)
        written = self._blocks.write(index, message, blocks)
        if written is not None:
            self.losses.wrote(message, written)
        elif len(self.lines) == first:
            return
        if is_model:
            self._after_response(index, message)

    def _fields(self, index: int, message: Message) -> None:
        losses = self.losses
        if message.taint is not None:
            losses.message(index, "message.taint", "Codex does not record it")
        if message.provider is not None:
            losses.message(index, "message.provider", "provider state means nothing to another harness")
        if message.origin is not None:
            losses.message(index, "message.origin", "the session is written as one of its own")
        if message.stop_reason is not None and not self._is_aborted(index, message):
            losses.message(index, "message.stop_reason", "Codex does not record it")
        if message.role == "user":
            if message.model is not None:
                losses.message(index, "message.model", "a user's message has no model in Codex")
            if message.usage is not None:
                losses.message(index, "message.usage", "a user's message has no usage in Codex")

    def _is_aborted(self, index: int, message: Message) -> bool:
        """Whether the mark of an aborted turn that follows says it of this response."""
        return message.stop_reason == "aborted" and self._blocks.is_cut_short(self._body, index)

    def _after_response(self, index: int, message: Message) -> None:
        if message.usage is not None:
            self._count(message.usage)
        if self._blocks.is_cut_short(self._body, index) and message.stop_reason != "aborted":
            self.context(self._model)

    def _count(self, usage: Usage) -> None:
        last = {
            "input_tokens": usage.input_tokens,
            "cached_input_tokens": usage.cache_read_input_tokens,
            "cache_write_input_tokens": usage.cache_creation_input_tokens,
            "output_tokens": usage.output_tokens,
            "reasoning_output_tokens": usage.reasoning_tokens,
        }
        given = {name: count for name, count in last.items() if count is not None}
        info: dict[str, Any] = {"last_token_usage": given}
        if any(given.values()):
            for name, count in given.items():
                self._totals[name] = self._totals.get(name, 0) + count
            info = {"total_token_usage": self._totals, **info}
        self.event({"type": "token_count", "info": info})

    # Turns

    def context(self, model: str | None) -> None:
        """A ``turn_context``: what follows is a message of its own, by ``model``."""
        self._model = model
        named = {} if model is None else {"model": model}
        self.line("turn_context", jsonio.encode({"turn_id": f"turn-{self._turns}", **named}))

    def start_turn(self) -> None:
        """Begin a turn, ending the one before."""
        self.end_turn()
        self._turns += 1
        self.is_turn = True
        self.prompts = 0
        self.event({"type": "task_started", "turn_id": f"turn-{self._turns}"})

    def end_turn(self) -> None:
        """End the turn, if there is one."""
        if self.is_turn:
            self.event({"type": "task_complete", "turn_id": f"turn-{self._turns}"})
        self.is_turn = False

    @property
    def turn_id(self) -> str:
        return f"turn-{self._turns}"

    def uid(self, name: str | None, line: bytes) -> str:
        """The uid a reader gives the record ``line``."""
        return self.ids.unique(hashed(line) if name is None else name)


Writer = _Writer
