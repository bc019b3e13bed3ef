"""A reply that is known already, streamed as if it were being made: a delta a block, then the reply."""

from __future__ import annotations

from collections.abc import Iterator

from handrail import jsonio
from handrail.models.port import Delta, ModelReply, TextDelta, ThinkingDelta, ToolCallDelta
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Text, Thinking, ToolUse


def played(reply: ModelReply) -> Iterator[Delta | ModelReply]:
    """The deltas of ``reply``, then ``reply`` itself."""
    for index, block in enumerate(reply.message.content):
        if type(block) is Text and block.text:
            yield TextDelta(index, block.text)
        elif type(block) is Thinking and block.text:
            yield ThinkingDelta(index, block.text)
        elif type(block) is ToolUse:
            name, input = render_call(block.call)
            spelled = input if isinstance(input, str) else jsonio.encode(input).decode()
            yield ToolCallDelta(index, block.id, name, spelled)
    yield reply
