"""ContextRead: what a context region holds, or which regions there are."""

from __future__ import annotations

from handrail.agents.tool import ToolContext, ToolError, tool
from handrail.agents.tools.families.regions import asked


@tool(name="ContextRead", parallel=True, twice_is_safe=True)
async def context_read(context: ToolContext, region: str | None = None, key: str | None = None) -> str:
    """Read a context region, or list all regions: their names, what they are for, how much room is left in each.

    region: which one; left out, all are listed
    key: only what it holds under this key
    """
    if region is None:
        if key is not None:
            raise ToolError("A key needs a region.")
        return asked(context, lambda regions: regions.overview())
    return asked(context, lambda regions: regions.read(region, key))


TOOL = context_read
