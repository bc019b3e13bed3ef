"""Lines of the instruction files that stand in repositories, so that rules can be held against them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from handrail import files
from handrail.errors import StoreError
from handrail.learning.delivery.managed import BlockFault, without_block
from handrail.learning.delivery.targets import TARGETS, place_of
from handrail.learning.rules.pairs import Line
from handrail.learning.rules.sentence import MAX_CHARS

_MAX_BYTES = 1 << 20
_LEADING = re.compile(r"^\s*(?:[-*+•]|\d+[.)])?\s*")


def lines_in(repositories: Iterable[str]) -> tuple[Line, ...]:
    """The sentences of the instruction files of ``repositories``, without what we put there; each file once.

    Files that are missing, too large or cannot be read have none, and neither have code blocks and headings.
    """
    seen: set[Path] = set()
    found: list[Line] = []
    for repository in dict.fromkeys(repositories):
        root = Path(repository)
        if not root.is_absolute():
            continue
        for target in TARGETS:
            path = _path(root, target.path)
            if path is not None and path not in seen:
                seen.add(path)
                found.extend(_lines(path, target.path))
    return tuple(found)


def _path(root: Path, relative: str) -> Path | None:
    target = next(one for one in TARGETS if one.path == relative)
    try:
        path = place_of(root, target)
        found = files.look_at(path)
    except (StoreError, OSError):
        return None
    return path if found is not None and path.is_file() and found.st_size <= _MAX_BYTES else None


def _lines(path: Path, name: str) -> Iterator[Line]:
    try:
        data = files.read_bytes(path)
    except StoreError:
        return
    ours = _ours(data)
    is_code = False
    for number, raw in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if raw.lstrip().startswith("```"):
            is_code = not is_code
            continue
        text = _LEADING.sub("", raw).strip()
        if text and not is_code and number not in ours and not raw.startswith("#") and len(text) <= MAX_CHARS:
            yield Line(f"{name}:{number}", text)


def _ours(data: bytes) -> range:
    """The numbers of the lines that we put there; none where the marks are torn."""
    try:
        rest = without_block(data)
    except BlockFault:
        return range(0)
    if rest == data:
        return range(0)
    before = next(
        (index for index, (one, other) in enumerate(zip(data, rest, strict=False)) if one != other), len(rest)
    )
    first = data.count(b"\n", 0, before) + 1
    return range(first, first + data.count(b"\n") - rest.count(b"\n") + 1)
