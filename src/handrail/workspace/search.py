"""Search in the files of a workspace, as a program of its own: ``python -m handrail.workspace.search``.

A pattern that a model wrote can take a regular expression for ever, and nothing stops one from within. So the search
runs in a child process, which can be killed: it reads one ``Wanted`` as JSON and writes one ``Hit`` a line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from handrail.workspace.confined import Confined, PathRefused
from handrail.workspace.patterns import compile_pattern

SHOWN_CHARS = 500
"""How much of a line a hit shows."""

_BINARY_PROBE = 8192
_MAX_FILE_BYTES = 32 * 1024 * 1024


class Wanted(Struct, frozen=True, kw_only=True):
    """What to look for, and where: ``path`` is a file or folder of ``root``, ``glob`` picks files below it."""

    root: str
    pattern: str
    path: str = "."
    glob: str | None = None
    ignores_case: bool = False
    max_hits: int = 1000


class Hit(Struct, frozen=True):
    """One line that fits, its number from 1, at most ``SHOWN_CHARS`` of it."""

    path: str
    line: int
    text: str


def find(wanted: Wanted) -> Iterator[Hit]:
    """The lines that fit, file by file, at most ``max_hits``; ``re.error`` for a pattern that is none.

    Files with a null byte near the start, larger than 32 MiB or unreadable are passed over.
    """
    expression = re.compile(wanted.pattern, re.IGNORECASE if wanted.ignores_case else 0)
    confined = Confined(Path(wanted.root))
    left = wanted.max_hits
    for path in _files(confined, wanted):
        for hit in _hits(confined, path, expression):
            if not left:
                return
            left -= 1
            yield hit


def _files(confined: Confined, wanted: Wanted) -> Iterator[str]:
    try:
        found = confined.walk(wanted.path)
        first = next(found, None)
    except NotADirectoryError:
        yield "/".join(confined.locate(wanted.path))
        return
    fits = compile_pattern(wanted.glob).fullmatch if wanted.glob else None
    while first is not None:
        if fits is None or fits(first):
            yield first
        first = next(found, None)


def _hits(confined: Confined, path: str, expression: re.Pattern[str]) -> Iterator[Hit]:
    try:
        with confined.open(path) as stream:
            data = stream.read(_MAX_FILE_BYTES + 1)
    except OSError:
        return
    if len(data) > _MAX_FILE_BYTES or b"\0" in data[:_BINARY_PROBE]:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        text = line.removesuffix("\r")
        if expression.search(text):
            yield Hit(path, number, text[:SHOWN_CHARS])


def main() -> int:
    """0 with the hits; 2 with one line that says what was wrong with the request."""
    wanted = msgspec.json.decode(sys.stdin.buffer.read(), type=Wanted)
    try:
        for hit in find(wanted):
            sys.stdout.buffer.write(msgspec.json.encode(hit) + b"\n")
    except re.error as problem:
        sys.stderr.write(f"the pattern is no regular expression: {problem}\n")
        return 2
    except (PathRefused, OSError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
