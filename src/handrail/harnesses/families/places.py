"""Where the values of a JSON record stand in its bytes, so that one can be replaced and the others left alone.

Works on records that are damaged inside their strings (NUL bytes, bytes that are not UTF-8): a token is found by its
quotes and brackets only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from handrail import jsonio

Path = tuple[str | int, ...]

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s\x00{}\[\],:"]+', re.DOTALL)


class Place(NamedTuple):
    """A value: the keys and indices that lead to it, and its bytes from ``start`` to ``end`` of the record."""

    path: Path
    start: int
    end: int


def iter_places(raw: bytes) -> Iterator[Place]:
    """Every value of the object ``raw``, an inner one before the one that holds it. Never raises."""
    path: list[str | int] = []
    starts: list[int] = []
    closers: list[bytes] = []
    key: str | None = None
    for found in _TOKEN.finditer(raw):
        token = found.group()
        if token in (b"{", b"["):
            starts.append(found.start())
            closers.append(b"}" if token == b"{" else b"]")
            path.append("" if token == b"{" else 0)
            key = None
        elif token in (b"}", b"]"):
            if not closers or closers.pop() != token:
                return
            path.pop()
            yield Place(tuple(path), starts.pop(), found.end())
        elif token == b",":
            key = None
            if path and isinstance(path[-1], int):
                path[-1] += 1
        elif token == b":":
            if path and key is not None:
                path[-1] = key
        elif closers and closers[-1] == b"}" and key is None and token[:1] == b'"':
            key = _text(token)
        else:
            yield Place(tuple(path), found.start(), found.end())


def _text(token: bytes) -> str:
    try:
        value = jsonio.decode(token.replace(b"\x00", b""))
    except jsonio.NotJson:
        return ""
    return value if isinstance(value, str) else ""


def find_places(raw: bytes, wanted: Callable[[Path], bool]) -> dict[Path, tuple[int, int]]:
    """``(start, end)`` of the values whose path is ``wanted``; of a key that stands twice the last, as readers do."""
    return {place.path: (place.start, place.end) for place in iter_places(raw) if wanted(place.path)}


def replaced(raw: bytes, new: dict[Path, bytes]) -> Iterator[tuple[Path, int, int, bytes]]:
    """``(path, start, end, bytes)`` for each value of ``raw`` that ``new`` names; one that is missing is put in first.

    Only a missing value of the object itself can be put in; a missing inner one is left out.
    """
    found = find_places(raw, new.__contains__)
    opening = raw.find(b"{") + 1
    for path, value in new.items():
        if path in found:
            yield path, *found[path], value
        elif len(path) == 1:
            yield path, opening, opening, jsonio.encode(path[0]) + b":" + value + b","
