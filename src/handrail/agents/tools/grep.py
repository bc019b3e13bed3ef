"""Grep: lines by a regular expression, searched in a child process that can be killed."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import msgspec

from handrail.agents.process import run_process
from handrail.agents.tool import ToolContext, ToolError, tool
from handrail.workspace.search import Hit, Wanted

_MAX_HITS = 1000
_SEARCH_S = 60.0


@tool(name="Grep", parallel=True, private=True, twice_is_safe=True)
async def grep(
    pattern: str, context: ToolContext, path: str = ".", glob: str | None = None, ignore_case: bool = False
) -> str:
    """Search the files of the workspace for lines that fit a regular expression (Python's).

    .git, node_modules, .venv and the like, binary and very large files are left out.

    pattern: the regular expression, for one line
    path: the file or folder to search
    glob: only in files whose path fits, such as ``**/*.py``
    ignore_case: take capital and small letters for the same
    """
    root = context.workspace_root.resolve()
    wanted = Wanted(
        root=str(root), pattern=pattern, path=path, glob=glob, ignores_case=ignore_case, max_hits=_MAX_HITS + 1
    )
    # -P keeps the workspace off the import path: a module in it must not take the place of ours.
    ran = await run_process(
        [sys.executable, "-P", "-m", "handrail.workspace.search"],
        cwd=Path("/"),
        environment=context.environment,
        stdin=msgspec.json.encode(wanted),
        timeout_s=_SEARCH_S,
    )
    if ran.is_timed_out:
        raise ToolError(f"the search took longer than {_SEARCH_S:g} seconds: use a simpler pattern or fewer files")
    if ran.exit_code != 0:
        raise ToolError(ran.errors.strip()[-500:] or f"the search ended with exit code {ran.exit_code}")
    hits = [msgspec.json.decode(line, type=Hit) for line in ran.output.splitlines()]
    return _rendered(hits[:_MAX_HITS], is_cut=len(hits) > _MAX_HITS)


def _rendered(hits: list[Hit], *, is_cut: bool) -> str:
    parts = [
        "\n".join([path, *(f"{hit.line}: {hit.text}" for hit in group)])
        for path, group in groupby(hits, key=lambda hit: hit.path)
    ]
    if is_cut:
        parts.append(f"[only the first {_MAX_HITS} lines are shown]")
    return "\n\n".join(parts) or "[no line fits]"


TOOL = grep
