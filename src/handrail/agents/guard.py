"""The mark on processes that a hook started, so that what they start sets off no hooks again.

It stands apart from hooks because the program that hosts call must know it and start fast.
"""

from __future__ import annotations

from collections.abc import Mapping

GUARD = "HANDRAIL_HOOK"
"""Set in what a hook command starts, so that a hook which runs Handrail does not set off hooks again."""


def is_inside_hook(environment: Mapping[str, str]) -> bool:
    """Whether this process was started by a hook command: its own hook commands must stay quiet then."""
    return bool(environment.get(GUARD))
