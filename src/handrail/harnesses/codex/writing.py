"""From messages to a rollout: both logs, in the order and spelling of Codex, the same bytes every time.

What the harness or a host wrote is never written as a user's turn. A ``turn_context`` keeps messages apart that
would run into one another. Everything that does not come back is named in the ``Loss``.
"""

from __future__ import annotations

from handrail import jsonio
from handrail.harnesses.codex.logs import Logs, spell_time
from handrail.harnesses.codex.losses import Losses
from handrail.harnesses.codex.placing import Placing
from handrail.harnesses.codex.writing_deliveries import DeliveryWriter
from handrail.harnesses.codex.writing_responses import ResponseWriter
from handrail.harnesses.codex.writing_turns import CountWriter, TurnWriter
from handrail.transcripts.codec import Loss
from handrail.transcripts.model import Common, Message, Meta, Transcript


class Writer:
    """Writes one session as a rollout, and keeps in mind what a reader would know at each line."""

    def __init__(self, common: Transcript[Common]) -> None:
        self._body = common.body
        self._role: str | None = None
        self._logs = Logs()
        self._losses = Losses()
        self._placing = Placing(self._losses)
        self._turns = TurnWriter(self._logs)
        self._counts = CountWriter(self._logs)
        self._responses = ResponseWriter(self._logs, self._losses)
        self._deliveries = DeliveryWriter(self._logs, self._losses, self._responses, self._turns)
        self._session(common.meta)
        for index, message in enumerate(common.body):
            self._message(index, message)

    def finish(self) -> bytes:
        """The rollout."""
        return self._logs.finish()

    def loss(self) -> Loss:
        """What the rollout could not hold."""
        return self._losses.finish(self._logs.uids())

    def _session(self, meta: Meta) -> None:
        logs = self._logs
        logs.at(meta.timestamp)
        payload = {
            "id": meta.id,
            "timestamp": spell_time(meta.timestamp).decode(),
            "cwd": meta.cwd or "",
            "originator": "codex_cli_rs",
            "cli_version": meta.cli_version or "",
            "source": "cli",
            "model_provider": "openai",
            "model": meta.model,
            "base_instructions": None,
            "git": None if meta.git_branch is None else {"branch": meta.git_branch},
        }
        logs.line(b'session_meta","payload":', jsonio.encode(payload))
        if meta.title:
            logs.event({"type": "thread_name_updated", "thread_id": meta.id, "thread_name": meta.title})
        for field in ("title", "cwd", "cli_version"):
            if getattr(meta, field) == "":
                self._losses.session(f"meta.{field}", "an empty text is none")

    def _message(self, index: int, message: Message) -> None:
        self._fields(index, message)
        blocks = self._placing.placed(index, message)
        if not blocks:
            if not message.content:
                self._losses.message(index, "message", "Codex has no empty message")
            return
        self._logs.at(message.timestamp)
        is_model = message.role == "assistant"
        turns = self._turns
        if self._role == message.role or (is_model and message.model != turns.model):
            turns.context(message.model if is_model else turns.model)
        self._role = message.role
        self._losses.wrote(message, len(self._logs.rows))
        if is_model:
            self._responses.write(index, blocks)
            self._after_response(index, message)
        else:
            self._deliveries.write(index, blocks)

    def _fields(self, index: int, message: Message) -> None:
        """Name the fields that have no place."""
        losses = self._losses
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
        return message.stop_reason == "aborted" and self._placing.is_cut_short(self._body, index)

    def _after_response(self, index: int, message: Message) -> None:
        if message.usage is not None:
            self._counts.write(message.usage)
        elif message.stop_reason != "aborted" and self._placing.is_cut_short(self._body, index):
            self._turns.context(self._turns.model)
