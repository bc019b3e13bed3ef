"""No answer before a certain tool was called and did not fail."""

from __future__ import annotations

from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import ToolResult, ToolUse


class RequireTool:
    """Asks for ``tool`` up to ``times`` times when the model answers without having called it; then lets it be."""

    name = "require_tool"

    def __init__(self, tool: str, *, note: str | None = None, times: int = 3) -> None:
        self.tool = tool
        self.note = note or f"Call the tool {tool} before you end."
        self.times = times
        self._asked = 0

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``."""
        if ctx.boundary is not RoundBoundary.ASSISTANT_MESSAGE_COMMITTED or self._asked >= self.times:
            return RoundDecision.proceed()
        if not ctx.can_continue or self._was_called(ctx):
            return RoundDecision.proceed()
        self._asked += 1
        return RoundDecision.inject(self.note)

    def _was_called(self, ctx: RoundContext) -> bool:
        blocks = [block for message in ctx.history for block in message.content]
        called = {block.id for block in blocks if type(block) is ToolUse and call_name(block.call) == self.tool}
        return any(type(block) is ToolResult and block.tool_use_id in called and not block.is_error for block in blocks)


STRATEGY = RequireTool
