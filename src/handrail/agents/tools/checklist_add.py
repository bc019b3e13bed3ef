"""ChecklistAdd: new items for a checklist, which keeps them from stage to stage."""

from __future__ import annotations

from handrail.agents.regions import AddItems
from handrail.agents.tool import ToolContext, ToolOutput, tool
from handrail.agents.tools.families.regions import change_output, checklist_of


@tool(name="ChecklistAdd", twice_is_safe=True)
async def checklist_add(items: list[str], context: ToolContext, region: str | None = None) -> ToolOutput:
    """Add open items to the checklist; their numbers come back.

    items: what is to be done, one text an item
    region: which checklist, where there are several
    """
    name = checklist_of(context, region)
    return change_output(context, name, AddItems(tuple(items)), "Added")


TOOL = checklist_add
