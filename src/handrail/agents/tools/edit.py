"""Edit: one exact replacement in a file."""

from __future__ import annotations

from handrail.agents.tool import ToolContext, tool
from handrail.agents.tools.families.editing import replaced
from handrail.agents.tools.families.reach import plain_failures, reach


@tool(name="Edit", destructive=True)
def edit(file_path: str, old_string: str, new_string: str, context: ToolContext, replace_all: bool = False) -> str:
    """Replace one text in a file of the workspace. It must be there exactly once, letter for letter.

    file_path: relative to the workspace, or absolute inside it
    old_string: what to replace, with enough around it to be the only such place
    new_string: what to put there
    replace_all: replace it wherever it is
    """
    confined = reach(context)
    with plain_failures(file_path):
        data, count = replaced(
            confined.read(file_path), old_string, new_string, replaces_all=replace_all, path=file_path
        )
        confined.write(file_path, data)
    return f"Replaced {count} {'place' if count == 1 else 'places'} in {file_path}."


TOOL = edit
