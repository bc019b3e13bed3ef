"""ContextWrite: replace what a context region holds, or one key of it."""

from __future__ import annotations

from handrail.agents.regions import Write
from handrail.agents.tool import ToolContext, ToolOutput, tool
from handrail.agents.tools.families.regions import change_output


@tool(name="ContextWrite", twice_is_safe=True)
async def context_write(region: str, text: str, context: ToolContext, key: str | None = None) -> ToolOutput:
    """Replace all that a context region holds, or what it holds under a key. You see it from the next message on.

    region: its name
    text: what it is to hold, whole
    key: replace only what is held under this key, other keys stay
    """
    under = "" if key is None else f" under {key!r}"
    return change_output(context, region, Write(text, key), f"Wrote {region}{under}")


TOOL = context_write
