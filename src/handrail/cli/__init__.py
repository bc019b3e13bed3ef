"""The command line: thin, one module per command, nothing loaded before it is needed."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """The console script: run what the arguments ask for and end with its exit code."""
    _open_closed_streams()
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        # Answered here, so that it costs an interpreter and nothing else.
        from handrail import __version__

        sys.stdout.write(f"handrail {__version__}\n")
        return
    if arguments[:2] == ["hook", "run"]:
        # A host waits for it before every call.
        from handrail.cli.hook_run import run as run_hook

        run_hook(arguments[2:])
        return
    from handrail.cli.program import run

    sys.exit(run(arguments))


def _open_closed_streams() -> None:
    """A shell may start us with a stream closed (``>&-``): what would go there goes nowhere."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: PTH123, SIM115
