"""From messages to a rollout: both logs, in the order and spelling of Codex, the same bytes every time.

A ``user_message`` event is written for a person's text and for no other, so that it reads back as one. What the
harness or a host wrote is never written as a user's turn. A ``turn_context`` keeps messages apart that would run
into one another. Everything that does not come back is named in the ``Loss``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from handrail import jsonio
from handrail.harnesses.codex.drafts import write_time
from handrail.harnesses.codex.losses import Losses
from handrail.harnesses.codex.rowids import RowIds, hashed
from handrail.harnesses.codex.writing_blocks import BlockWriter
from handrail.transcripts.codec import Loss
from handrail.transcripts.model import Common, Message, Meta, Transcript, Usage


def write_rollout(common: Transcript[Common]) -> tuple[bytes, Loss]:
    """The bytes of a rollout that holds ``common``, and what it could not hold."""
    writer = _Writer(common)
    writer.session(common.meta)
    for index, message in enumerate(common.body):
        writer.message(index, message)
    return b"\n".join([*writer.lines, b""]), writer.losses.finish()


class _Writer:
    """Appends lines and keeps in mind what a reader would know at each of them."""

    def __init__(self, common: Transcript[Common]) -> None:
        self.lines: list[bytes] = []
        self.losses = Losses()
        self.ids = RowIds(self.lines.__getitem__)
        self._stamp = self._item_head = self._event_head = b""
        self._body = common.body
        self._blocks = BlockWriter(self)
        self._model: str | None = None
        self._role: str | None = None
        self._totals = _Counts()
        self._turns = 0
        self.is_turn = False
        self.prompts = 0

    # Lines

    def at(self, instant: datetime | None) -> None:
        """What is written next happened at ``instant``."""
        stamp = b'{"timestamp":"%b","type":"' % write_time(instant).encode()
        self._stamp = stamp
        self._item_head = stamp + b'response_item","payload":'
        self._event_head = stamp + b'event_msg","payload":'

    def line(self, kind: bytes, payload: dict[str, Any]) -> bytes:
        """Append a line of ``kind`` and return it."""
        line = b'%b%b","payload":%b}' % (self._stamp, kind, jsonio.encode(payload))
        self.lines.append(line)
        return line

    def item(self, payload: bytes) -> bytes:
        """Append an item, given as JSON, and return its line."""
        line = b"%b%b}" % (self._item_head, payload)
        self.lines.append(line)
        return line

    def event(self, payload: bytes) -> None:
        """Append an event, given as JSON."""
        self.lines.append(b"%b%b}" % (self._event_head, payload))

    # The session

    def session(self, meta: Meta) -> None:
        self.at(meta.timestamp)
        git = None if meta.git_branch is None else {"branch": meta.git_branch}
        payload: dict[str, Any] = {
            "id": meta.id,
            "timestamp": write_time(meta.timestamp),
            "cwd": meta.cwd or "",
            "originator": "codex_cli_rs",
            "cli_version": meta.cli_version or "",
            "source": "cli",
            "model_provider": "openai",
            "model": meta.model,
            "base_instructions": None,
            "git": git,
        }
        self.line(b"session_meta", payload)
        if meta.title:
            name = {"type": "thread_name_updated", "thread_id": meta.id, "thread_name": meta.title}
            self.event(jsonio.encode(name))
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
        self.at(message.timestamp)
        is_model = message.role == "assistant"
        if self._role == message.role or (is_model and message.model != self._model):
            self.context(message.model if is_model else self._model)
        self._role = message.role
        self.losses.wrote(message, self._blocks.write(index, message, blocks))
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
        last = _Counts(
            usage.input_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            usage.output_tokens,
            usage.reasoning_tokens,
        )
        has_any = False
        totals = self._totals
        for name in _Counts.__struct_fields__:
            count = getattr(last, name)
            if count:
                has_any = True
                setattr(totals, name, (getattr(totals, name) or 0) + count)
        # An event whose total has not moved is a repetition; one without a total never is.
        info = jsonio.encode(_Info(totals if has_any else None, last))
        self.event(b'{"type":"token_count","info":%b}' % info)

    # Turns

    def context(self, model: str | None) -> None:
        """A ``turn_context``: what follows is a message of its own, by ``model``."""
        self._model = model
        named = {} if model is None else {"model": model}
        self.line(b"turn_context", {"turn_id": self.turn_id, **named})

    def start_turn(self) -> None:
        """Begin a turn, ending the one before."""
        self.end_turn()
        self._turns += 1
        self.is_turn = True
        self.prompts = 0
        self.event(b'{"type":"task_started","turn_id":"turn-%d"}' % self._turns)

    def end_turn(self) -> None:
        """End the turn, if there is one."""
        if self.is_turn:
            self.event(b'{"type":"task_complete","turn_id":"turn-%d"}' % self._turns)
        self.is_turn = False

    @property
    def turn_id(self) -> str:
        """The id of the present turn."""
        return f"turn-{self._turns}"

    def uid(self, name: str | None, line: bytes) -> str:
        """The uid a reader gives the record ``line``."""
        return self.ids.unique(hashed(line) if name is None else name)


class _Counts(Struct, omit_defaults=True):
    """Token counts as an event writes them."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None


class _Info(Struct, omit_defaults=True):
    total_token_usage: _Counts | None = None
    last_token_usage: _Counts | None = None


Writer = _Writer
