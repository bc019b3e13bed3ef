"""ContextAppend: add to what a context region holds."""

from __future__ import annotations

from handrail.agents.regions import Append
from handrail.agents.tool import ToolContext, ToolOutput, tool
from handrail.agents.tools.families.regions import change_output


@tool(name="ContextAppend", twice_is_safe=True)
async def context_append(region: str, text: str, context: ToolContext, key: str | None = None) -> ToolOutput:
    """Add an entry to a context region, or add to what it holds under a key; what is there stays.

    region: its name
    text: what to add
    key: add to what is held under this key
    """
    under = "" if key is None else f" under {key!r}"
    return change_output(context, region, Append(text, key), f"Added to {region}{under}")


TOOL = context_append
