"""ChecklistNote: a note on an item of a checklist."""

from __future__ import annotations

from handrail.agents.regions import NoteItem
from handrail.agents.tool import ToolContext, ToolOutput, tool
from handrail.agents.tools.families.regions import change_output, checklist_of


@tool(name="ChecklistNote", twice_is_safe=True)
async def checklist_note(number: int, note: str, context: ToolContext, region: str | None = None) -> ToolOutput:
    """Add a note to an item of the checklist: what was found, what is in the way.

    number: the number of the item
    note: one or two sentences
    region: which checklist, where there are several
    """
    name = checklist_of(context, region)
    return change_output(context, name, NoteItem(number, note), f"Noted on item {number}")


TOOL = checklist_note
