"""ContextDelete: take one entry out of a context region."""

from __future__ import annotations

from typing import Annotated

import pydantic

from handrail.agents.regions import Remove
from handrail.agents.tool import ToolContext, ToolError, ToolOutput, tool
from handrail.agents.tools.families.regions import change_output


@tool(name="ContextDelete", twice_is_safe=True)
async def context_delete(
    region: str,
    context: ToolContext,
    key: str | None = None,
    number: Annotated[int, pydantic.Field(ge=1)] | None = None,
) -> ToolOutput:
    """Take one entry out of a context region: by its key, or by its number as ContextRead shows it.

    region: its name
    key: the key of the entry
    number: the number of the item or entry
    """
    if (key is None) == (number is None):
        raise ToolError("Say which entry: give a key or a number, not both.")
    which = repr(key) if key is not None else f"number {number}"
    return change_output(context, region, Remove(key, number), f"Took {which} out of {region}")


TOOL = context_delete
