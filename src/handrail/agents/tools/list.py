"""List: what stands in a folder."""

from __future__ import annotations

from handrail.agents.tool import ToolContext, tool
from handrail.agents.tools.families.reach import plain_failures, reach
from handrail.workspace.confined import Entry


@tool(name="List", parallel=True, private=True, twice_is_safe=True)
def list_folder(context: ToolContext, path: str = ".") -> str:
    """List a folder of the workspace: folders end in ``/``, links in ``@``, files carry their size in bytes.

    path: relative to the workspace, or absolute inside it
    """
    with plain_failures(path):
        entries = reach(context).entries(path)
    return "\n".join(_line(entry) for entry in entries) or "[empty]"


def _line(entry: Entry) -> str:
    if entry.is_link:
        return f"{entry.name}@"
    return f"{entry.name}/" if entry.is_folder else f"{entry.name}  {entry.size_bytes}"


TOOL = list_folder
