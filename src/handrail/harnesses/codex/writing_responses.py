"""A model's response as Codex's items and the events that show it."""

from __future__ import annotations

from handrail import jsonio
from handrail.harnesses.codex.call_writing import is_kept, write_call
from handrail.harnesses.codex.logs import Logs
from handrail.harnesses.codex.losses import Losses
from handrail.harnesses.codex.placing import Numbered
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import Author, Json, Text, Thinking, ToolUse

_SHOWN = b'event_msg","payload":{"type":"agent_message","message":'
_SAID = b'response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":'
_SHOWN_THOUGHT = b'event_msg","payload":{"type":"agent_reasoning","text":'
_THOUGHT = b'response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":'

_NO_MORE = b'}],"encrypted_content":null}}\n'
_MODEL = Author.MODEL


class ResponseWriter:
    """Writes responses. ``names`` are the tools that were called, by call; ``searches`` what was searched for."""

    __slots__ = ("_logs", "_losses", "names", "searches")

    def __init__(self, logs: Logs, losses: Losses) -> None:
        self._logs = logs
        self._losses = losses
        self.names: dict[str, str] = {}
        self.searches: dict[str, Json] = {}

    def write(self, message: int, blocks: list[Numbered]) -> None:
        """Write the blocks of the message with the index ``message``."""
        for number, block in blocks:
            if type(block) is Text:
                self._said(message, number, block)
            elif type(block) is Thinking:
                self._thought(message, number, block)
            elif type(block) is ToolUse:
                self._call(message, number, block)

    def _said(self, message: int, number: int, block: Text) -> None:
        if block.author != _MODEL:
            self._losses.block(message, number, "text.author", "what stands in a response is the model's in Codex")
        if block.by is not None:
            self._losses.block(message, number, "text.by", "Codex does not record it")
        if block.via is not None:
            self._losses.block(message, number, "text.via", "Codex does not record it")
        self._logs.said(_SHOWN, _SAID, jsonio.encode(block.text), b"}]}}\n")

    def _thought(self, message: int, number: int, block: Thinking) -> None:
        if block.signature is not None:
            why = "a signature means something to the provider that made it only"
            self._losses.block(message, number, "thinking.signature", why)
        if not block.text:
            self._logs.item({"type": "reasoning", "summary": [], "encrypted_content": block.encrypted})
            return
        end = _NO_MORE if block.encrypted is None else b'}],"encrypted_content":%b}}\n' % jsonio.encode(block.encrypted)
        self._logs.said(_SHOWN_THOUGHT, _THOUGHT, jsonio.encode(block.text), end)

    def _call(self, message: int, number: int, block: ToolUse) -> None:
        native = write_call(block)
        if not is_kept(block, native):
            bare = ToolUse(block.id, block.call)
            native = write_call(bare)
            if block.provider is not None:
                why = "provider state means nothing to another harness"
                self._losses.block(message, number, "tool_use.provider", why)
            if not is_kept(bare, native):
                self._losses.block(message, number, "tool_use", "Codex spells this call in another way")
        self.names[block.id] = call_name(block.call)
        if native["type"] == "web_search_call" and block.id:
            self.searches[block.id] = native["action"]
        self._logs.item(native, block.id or None)
