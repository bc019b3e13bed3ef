"""Which repository a folder is part of: what holds for a checkout holds in the work trees beside it."""

from __future__ import annotations

import os
from pathlib import Path

_GIT = ".git"
_MAX_LINK_BYTES = 4096


def repository_of(folder: Path) -> Path:
    """The root of the checkout that ``folder`` is in; of a work tree that of the checkout it was made from; ``folder``
    itself, links followed, where it is in none.

    A work tree is believed only where the checkout knows it too: otherwise any folder could call itself one.
    """
    here = Path(os.path.realpath(folder))
    root = next((one for one in (here, *here.parents) if os.path.lexists(one / _GIT)), None)
    if root is None:
        return here
    return _main_of(root) or root


def _main_of(root: Path) -> Path | None:
    """The checkout that the work tree at ``root`` was made from; None where it is none."""
    link = _read(root / _GIT)
    if link is None or not link.startswith("gitdir:") or "\0" in link:
        return None
    kept = Path(os.path.realpath(root / link.removeprefix("gitdir:").strip()))
    if kept.parent.name != "worktrees" or kept.parent.parent.name != _GIT:
        return None
    back = _read(kept / "gitdir")
    if back is None or "\0" in back or os.path.realpath(kept / back) != os.path.realpath(root / _GIT):
        return None
    return kept.parent.parent.parent


def _read(path: Path) -> str | None:
    """The one line of a small plain file; None where it is none."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return os.fsdecode(stream.read(_MAX_LINK_BYTES)).strip()
    except (OSError, ValueError):
        return None
