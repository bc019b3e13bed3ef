"""ChecklistDone: tick items of a checklist off, or open them again."""

from __future__ import annotations

from handrail.agents.regions import MarkItems
from handrail.agents.tool import ToolContext, ToolOutput, tool
from handrail.agents.tools.families.regions import change_output, checklist_of


@tool(name="ChecklistDone", twice_is_safe=True)
async def checklist_done(
    numbers: list[int], context: ToolContext, is_done: bool = True, region: str | None = None
) -> ToolOutput:
    """Tick items of the checklist off once they are done.

    numbers: the numbers of the items
    is_done: false opens them again
    region: which checklist, where there are several
    """
    name = checklist_of(context, region)
    said = f"{'Ticked off' if is_done else 'Opened again'}: {', '.join(map(str, numbers))}"
    return change_output(context, name, MarkItems(tuple(numbers), is_done), said)


TOOL = checklist_done
