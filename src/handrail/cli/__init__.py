"""The command line: thin, one module per command, nothing loaded before it is needed."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """The console script: run what the arguments ask for and end with its exit code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        # Answered here, so that it costs an interpreter and nothing else.
        from handrail import __version__

        sys.stdout.write(f"handrail {__version__}\n")
        return
    from handrail.cli.program import run

    sys.exit(run(arguments))
