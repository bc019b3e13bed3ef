"""A model's response as Codex's items and the events that show it."""

from __future__ import annotations

from collections.abc import Sequence

from handrail import jsonio
from handrail.harnesses.codex.call_writing import is_kept, write_call, write_typed
from handrail.harnesses.codex.logs import Logs
from handrail.harnesses.codex.losses import Losses
from handrail.transcripts.model import Author, Block, Json, Raw, Text, Thinking, ToolCall, ToolUse

_SHOWN = b'event_msg","payload":{"type":"agent_message","message":'
_SAID = b'response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":'
_SHOWN_THOUGHT = b'event_msg","payload":{"type":"agent_reasoning","text":'
_THOUGHT = b'response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":'

_NO_MORE = b'}],"encrypted_content":null}}\n'
_MODEL = Author.MODEL


class ResponseWriter:
    """Writes responses. ``calls`` are the calls that were written, by id; ``searches`` what was searched for."""

    __slots__ = ("_logs", "_losses", "calls", "searches")

    def __init__(self, logs: Logs, losses: Losses) -> None:
        self._logs = logs
        self._losses = losses
        self.calls: dict[str, ToolCall] = {}
        self.searches: dict[str, Json] = {}

    def write(self, message: int, blocks: Sequence[Block]) -> None:
        """Write the ``blocks`` of the message with the index ``message``."""
        for place, block in enumerate(blocks):
            if type(block) is Text:
                if block.author != _MODEL or block.by is not None or block.via is not None:
                    self._name_lost(message, place, block)
                self._logs.said(_SHOWN, _SAID, jsonio.encode(block.text), b"}]}}\n")
            elif type(block) is Thinking:
                self._thought(message, place, block)
            elif type(block) is ToolUse:
                self._call(message, place, block)

    def _name_lost(self, message: int, place: int, block: Text) -> None:
        if block.author != _MODEL:
            self._losses.block(message, place, "text.author", "what stands in a response is the model's in Codex")
        if block.by is not None:
            self._losses.block(message, place, "text.by", "Codex does not record it")
        if block.via is not None:
            self._losses.block(message, place, "text.via", "Codex does not record it")

    def _thought(self, message: int, place: int, block: Thinking) -> None:
        if block.signature is not None:
            why = "a signature means something to the provider that made it only"
            self._losses.block(message, place, "thinking.signature", why)
        if not block.text:
            self._logs.item({"type": "reasoning", "summary": [], "encrypted_content": block.encrypted})
            return
        end = _NO_MORE if block.encrypted is None else b'}],"encrypted_content":%b}}\n' % jsonio.encode(block.encrypted)
        self._logs.said(_SHOWN_THOUGHT, _THOUGHT, jsonio.encode(block.text), end)

    def _call(self, message: int, place: int, block: ToolUse) -> None:
        call = block.call
        self.calls[block.id] = call
        if block.provider is None and not isinstance(call, Raw):
            self._logs.item(write_typed(block.id, call), block.id)
            return
        native = write_call(block)
        if not is_kept(block, native):
            bare = ToolUse(block.id, call)
            native = write_call(bare)
            if block.provider is not None:
                why = "provider state means nothing to another harness"
                self._losses.block(message, place, "tool_use.provider", why)
            if not is_kept(bare, native):
                self._losses.block(message, place, "tool_use", "Codex spells this call in another way")
        if native["type"] == "web_search_call" and block.id:
            self.searches[block.id] = native["action"]
        self._logs.item(native, block.id)
