"""The files a call may reach, with failures in words a model can use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from handrail.agents.tool import ToolContext, ToolError
from handrail.workspace.confined import Confined, PathRefused


def reach(context: ToolContext) -> Confined:
    """The workspace of a call."""
    return Confined(context.workspace_root)


@contextlib.contextmanager
def plain_failures(path: str) -> Iterator[None]:
    """Turn what goes wrong with ``path`` into a ``ToolError``."""
    try:
        yield
    except PathRefused as problem:
        raise ToolError(str(problem)) from problem
    except FileNotFoundError as problem:
        raise ToolError(f"{path} does not exist", hint=problem.strerror) from problem
    except IsADirectoryError as problem:
        raise ToolError(f"{path} is a folder") from problem
    except NotADirectoryError as problem:
        raise ToolError(f"{path} is no folder") from problem
    except OSError as problem:
        raise ToolError(f"{path}: {problem.strerror or problem}") from problem
