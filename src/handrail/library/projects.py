"""Projects: the folder a session ran in, under the name people call it by.

The recorded folder is what counts, never a store's folder name, which several projects can share.
"""

from __future__ import annotations

import fnmatch
import re

_SEPARATORS = re.compile(r"[/\\]+")
_WORKTREE = re.compile(r"[/\\]\.(?:[a-z]+[/\\])?worktrees[/\\][^/\\]+$")
_WINDOWS = re.compile(r"[A-Za-z]:[/\\]|\\\\")


def project_name(cwd: str | None) -> str | None:
    """The last component of ``cwd`` (either kind of separator); None when it is unknown.

    A worktree that an agent's tool made inside a project (``shop/.worktrees/x``) belongs to that project.
    """
    parts = [part for part in _SEPARATORS.split(_WORKTREE.sub("", cwd or "")) if part]
    return parts[-1] if parts else None


def in_project(cwd: str | None, wanted: str) -> bool:
    """Whether a session that ran in ``cwd`` belongs to the project ``wanted``.

    ``wanted`` is a folder (``cwd`` is it or lies below it), or a name or glob of a folder's name (case does not
    matter). A session without a recorded folder belongs to none.
    """
    if not cwd:
        return False
    if _SEPARATORS.search(wanted):
        own, above = _compared(cwd), _compared(wanted)
        return own[: len(above)] == above
    return fnmatch.fnmatchcase((project_name(cwd) or "").casefold(), wanted.casefold())


def _compared(path: str) -> list[str]:
    parts = [part for part in _SEPARATORS.split(path) if part]
    # One project on Windows is recorded as c:\ and as C:\.
    return [part.casefold() for part in parts] if _WINDOWS.match(path) else parts
