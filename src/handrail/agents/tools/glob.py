"""Glob: files by the pattern of their path."""

from __future__ import annotations

import re
from itertools import islice

from handrail.agents.tool import ToolContext, ToolError, tool
from handrail.agents.tools.families.reach import plain_failures, reach
from handrail.workspace.patterns import compile_pattern

_MAX_FOUND = 1000


@tool(name="Glob", parallel=True, private=True, twice_is_safe=True)
def glob(pattern: str, context: ToolContext, path: str = ".") -> str:
    """Find files of the workspace by name. Links are not followed; .git, node_modules, .venv and the like are left out.

    pattern: such as ``**/*.py`` or ``src/{a,b}/*.md``, for the path from the workspace; without ``/`` it is a file name
    path: the folder to look in
    """
    try:
        fits = compile_pattern(pattern).fullmatch
    except re.error as problem:
        raise ToolError(f"{pattern!r} is no pattern: {problem}") from problem
    with plain_failures(path):
        found = list(islice((name for name in reach(context).walk(path) if fits(name)), _MAX_FOUND + 1))
    if len(found) > _MAX_FOUND:
        found[_MAX_FOUND:] = [f"[only the first {_MAX_FOUND} files are shown]"]
    return "\n".join(found) or "[no file fits]"


TOOL = glob
