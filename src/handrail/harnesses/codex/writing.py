"""From messages to a rollout: both logs, in the order and spelling of Codex, the same bytes every time.

What the harness or a host wrote is never written as a user's turn. A ``turn_context`` keeps messages apart that
would run into one another. Everything that does not come back is named in the ``Loss``.
"""

from __future__ import annotations

from handrail import jsonio
from handrail.harnesses.codex.logs import Logs, spell_stamps
from handrail.harnesses.codex.losses import Losses
from handrail.harnesses.codex.placing import Placing
from handrail.harnesses.codex.writing_deliveries import DeliveryWriter
from handrail.harnesses.codex.writing_responses import ResponseWriter
from handrail.harnesses.codex.writing_turns import CountWriter, TurnWriter
from handrail.transcripts.codec import Loss
from handrail.transcripts.model import Common, Meta, Transcript


class Writer:
    """Writes one session as a rollout, and keeps in mind what a reader would know at each line."""

    def __init__(self, common: Transcript[Common]) -> None:
        self._body = common.body
        self._left_out: set[int] = set()
        self._logs = Logs()
        self._losses = Losses()
        self._placing = Placing(self._losses)
        self._turns = TurnWriter(self._logs)
        self._counts = CountWriter(self._logs)
        self._responses = ResponseWriter(self._logs, self._losses)
        self._deliveries = DeliveryWriter(self._logs, self._losses, self._responses, self._turns)
        self._session(common.meta)
        self._messages(common.body)

    def finish(self) -> bytes:
        """The rollout."""
        return self._logs.finish()

    def loss(self) -> Loss:
        """What the rollout could not hold."""
        written = [message for index, message in enumerate(self._body) if index not in self._left_out]
        return self._losses.finish(self._body, written, self._logs.uids())

    def _session(self, meta: Meta) -> None:
        logs = self._logs
        logs.begin(spell_stamps((meta.timestamp,))[0])
        payload = {
            "id": meta.id,
            "timestamp": logs.time,
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

    def _messages(self, body: Common) -> None:
        """Write the messages, each as one that a reader keeps apart from the one before."""
        logs, losses, placing, turns = self._logs, self._losses, self._placing, self._turns
        role_before: str | None = None
        stamps = spell_stamps(message.timestamp for message in body)
        for index, (message, stamp) in enumerate(zip(body, stamps, strict=True)):
            if message.stop_reason == "aborted" and placing.is_cut_short(body, index):
                losses.is_told(index)
            blocks = placing.placed(index, message)
            if not blocks:
                if not message.content:
                    losses.message(index, "message", "Codex has no empty message")
                self._left_out.add(index)
                continue
            logs.begin(stamp)
            role = message.role
            if role == "assistant":
                if role_before == role or message.model != turns.model:
                    turns.context(message.model)
                self._responses.write(index, blocks)
                if message.usage is not None:
                    self._counts.write(message.usage)
                elif message.stop_reason != "aborted" and placing.is_cut_short(body, index):
                    turns.context(turns.model)
            else:
                if role_before == role:
                    turns.context(turns.model)
                self._deliveries.write(index, blocks)
            role_before = role
