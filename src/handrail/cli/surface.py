"""What a command prints to and how: data on stdout, everything else on stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeVar

import click

from handrail import app
from handrail.cli.cells import scrub
from handrail.errors import StoreError

if TYPE_CHECKING:
    from handrail.app import Machine

Result = TypeVar("Result")

_SET_BY_AGENTS = ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX")
"""What coding agents set for the commands they run, on whatever terminal."""


@dataclass(frozen=True)
class Surface:
    """The choices that hold for every command: JSON or text, the zone of times (None: this machine's), the roots."""

    environment: Mapping[str, str]
    as_json: bool = False
    zone: tzinfo | None = None
    is_plain: bool = False
    roots: Mapping[str, Path] = field(default_factory=dict)

    def machine(self) -> Machine:
        """The stores of this machine, at the roots that were given, and what the person said of its moments."""
        judging = app.Judging(corrections=app.load_corrections(self.environment))
        return app.open_machine(self.roots, judging=judging)

    @staticmethod
    def folder() -> Path:
        """The folder the command was given in; ``StoreError`` when it is gone."""
        try:
            return Path.cwd()
        except OSError as problem:
            raise StoreError(f"the folder this was started in is gone: {problem.strerror}") from problem

    def emit(self, result: Result, render: Callable[[Result, Surface], Iterable[str]]) -> None:
        """Print ``result``: as one JSON object, or as the lines that ``render`` makes of it."""
        if self.as_json:
            from handrail import jsonio

            self.write(jsonio.encode(result) + b"\n")
        else:
            self.write_text("".join(f"{line}\n" for line in render(result, self)))

    def write(self, data: bytes) -> None:
        """``data`` to stdout as it is; ``BrokenPipeError`` when nobody reads it any more, else ``StoreError``."""
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as problem:
            give_up(sys.stdout)
            raise StoreError(f"standard output cannot be written: {problem.strerror or problem}") from problem

    def write_text(self, text: str) -> None:
        """``text`` to stdout as UTF-8, whatever the locale; what cannot be encoded becomes ``?``."""
        self.write(text.encode("utf-8", "replace"))

    def note(self, text: str) -> None:
        """A line for the person on stderr, scrubbed; where it cannot be written there is nobody to tell."""
        try:
            sys.stderr.write(f"{scrub(text, keep_lines=True)}\n")
            sys.stderr.flush()
        except OSError:
            give_up(sys.stderr)

    def open_stdin(self) -> BinaryIO:
        """Stdin, to be read; a usage error when it is a terminal, since nothing here prompts."""
        if sys.stdin.isatty():
            raise click.UsageError("'-' reads standard input, and that is a terminal")
        return sys.stdin.buffer

    def read_stdin(self) -> bytes:
        """All of stdin, as ``open_stdin`` gives it."""
        return self.open_stdin().read()

    @property
    def terminal_width(self) -> int | None:
        """The cells of a line on the terminal, None when stdout is none."""
        return shutil.get_terminal_size().columns if _is_terminal(sys.stdout) else None

    @property
    def is_terminal(self) -> bool:
        """Whether stdout is a terminal."""
        return _is_terminal(sys.stdout)

    def style(self, text: str, **look: Any) -> str:
        """``text`` in the look that ``click.style`` knows, where colour is wanted."""
        return click.style(text, **look) if self._has_colour() else text

    def _has_colour(self) -> bool:
        if self.is_plain or self.environment.get("NO_COLOR"):
            return False
        if self.environment.get("FORCE_COLOR", "0") not in {"", "0"}:
            return True
        return self.is_terminal and not self._is_for_agent_or_dumb()

    def _is_for_agent_or_dumb(self) -> bool:
        """Whether what reads the terminal makes nothing of colours and moves of the cursor."""
        return self.environment.get("TERM") == "dumb" or any(map(self.environment.get, _SET_BY_AGENTS))

    def progress(self, noun: str) -> Callable[[int, int], None] | None:
        """A reporter of ``done`` of ``total``, on a terminal only; it cleans up after itself at the end."""
        if self.as_json or not _is_terminal(sys.stderr) or self._is_for_agent_or_dumb():
            return None

        def report(done: int, total: int) -> None:
            # A hundred reports are enough for anybody, and writing to a terminal is slow.
            if done < total and total >= 200 and done % (total // 100):
                return
            text = "" if done >= total else f"reading {noun} {done + 1} of {total}"
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

        return report


def give_up(stream: TextIO) -> None:
    """Let what still comes for ``stream`` go nowhere: it cannot be written, and the end must not complain of it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty()
