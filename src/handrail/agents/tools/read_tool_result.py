"""ReadToolResult: the rest of a result that was too long to show."""

from __future__ import annotations

from typing import Annotated

import pydantic

from handrail.agents.paging import READER, page, trailer
from handrail.agents.tool import ToolContext, ToolError, tool


@tool(name=READER, parallel=True, twice_is_safe=True)
def read_tool_result(
    tool_use_id: str,
    context: ToolContext,
    start_line: Annotated[int, pydantic.Field(ge=1)] = 1,
    start_column: Annotated[int, pydantic.Field(ge=1)] = 1,
) -> str:
    """Read on in a tool's result that was cut, from where it was cut.

    tool_use_id: as the cut result says
    start_line: the line to start at, from 1
    start_column: the character of that line to start at, from 1
    """
    text = context.shelf.find(tool_use_id) if context.shelf is not None else None
    if text is None:
        raise ToolError(f"no full result is kept for {tool_use_id!r}")
    if start_line > text.count("\n") + 1:
        raise ToolError(f"that result has only {text.count(chr(10)) + 1} lines")
    shown = page(text, context.limits, start_line, start_column)
    return f"{shown.text}\n{trailer(shown, text, tool_use_id, kept=True)}"


TOOL = read_tool_result
