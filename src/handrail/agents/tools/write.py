"""Write: a whole file at once."""

from __future__ import annotations

from handrail.agents.tool import ToolContext, tool
from handrail.agents.tools.families.reach import plain_failures, reach


@tool(name="Write", destructive=True, twice_is_safe=True)
def write(file_path: str, content: str, context: ToolContext) -> str:
    """Write a whole file of the workspace, over the old one if there is one. Missing folders are made.

    file_path: relative to the workspace, or absolute inside it
    content: all the file is to hold
    """
    data = content.encode()
    with plain_failures(file_path):
        is_new = reach(context).write(file_path, data)
    return f"{'Made' if is_new else 'Replaced'} {file_path} ({len(data)} bytes)."


TOOL = write
