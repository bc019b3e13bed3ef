"""MultiEdit: several exact replacements in one file, all or none."""

from __future__ import annotations

from handrail.agents.tool import ToolContext, ToolError, tool
from handrail.agents.tools.families.editing import replaced
from handrail.agents.tools.families.reach import plain_failures, reach
from handrail.transcripts.model import EditStep


@tool(name="MultiEdit", destructive=True)
def multi_edit(file_path: str, edits: list[EditStep], context: ToolContext) -> str:
    """Make several replacements in one file of the workspace, in order, each on what the ones before it left.

    When one of them fails, none is made.

    file_path: relative to the workspace, or absolute inside it
    edits: what to replace by what, each as in Edit
    """
    if not edits:
        raise ToolError("edits is empty: there is nothing to do")
    confined = reach(context)
    with plain_failures(file_path):
        data = confined.read(file_path)
        for number, step in enumerate(edits, 1):
            data = _step(data, step, number, file_path)
        confined.write(file_path, data)
    return f"Made {len(edits)} replacements in {file_path}."


def _step(data: bytes, step: EditStep, number: int, path: str) -> bytes:
    try:
        return replaced(data, step.old_string, step.new_string, replaces_all=bool(step.replace_all), path=path)[0]
    except ToolError as problem:
        raise ToolError(f"edit {number}: {problem} No edit was made.") from problem


TOOL = multi_edit
