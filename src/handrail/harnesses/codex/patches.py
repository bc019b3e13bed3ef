"""The ``apply_patch`` grammar, as far as one patch is one typed call.

A patch that adds one file is a ``Write``, a patch of one hunk in one file an ``Edit``. What the typed call cannot
hold (which lines are context, the words after ``@@``) is its *shape*: with the call it gives the patch back, so the
mapping loses nothing. Every other patch stays as it is.
"""

from __future__ import annotations

import re
from typing import Any

from handrail.transcripts.model import Edit, Write

_BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_ADD = "*** Add File: "
_UPDATE = "*** Update File: "
_EOF = "*** End of File"

Shape = dict[str, Any]
"""``marks``: one of `` -+`` a line of the hunk; ``header``: what stands in its ``@@`` line; ``tail``: how it ends."""


def read_patch(patch: str) -> tuple[Write | Edit, Shape] | None:
    """The typed call of ``patch`` and its shape, which give the same patch back; None for any other patch."""
    if patch.count("\n@@") > 1 or patch.count("\n*** ") > 3:
        return None
    lines = patch.split("\n")
    tail = "\n" if lines[-1] == "" else ""
    if tail:
        lines.pop()
    if len(lines) < 4 or lines[0] != _BEGIN or lines[-1] != _END:
        return None
    inner = lines[1:-1]
    found: tuple[Write | Edit, Shape] | None = None
    if inner[0].startswith(_ADD):
        found = _read_add(inner)
    elif inner[0].startswith(_UPDATE):
        found = _read_update(inner)
    if found is None:
        return None
    if tail:
        found[1]["tail"] = tail
    return found


_ADDED = frozenset("+")
_MARKS = frozenset(" -+")


def _read_add(inner: list[str]) -> tuple[Write, Shape] | None:
    body = inner[1:]
    if not _ADDED.issuperset([line[:1] for line in body]):
        return None
    return Write(inner[0][len(_ADD) :], "\n".join(line[1:] for line in body)), {}


def _read_update(inner: list[str]) -> tuple[Edit, Shape] | None:
    if len(inner) < 3 or not inner[1].startswith("@@"):
        return None
    shape: Shape = {}
    body = inner[2:]
    if body[-1] == _EOF:
        shape["eof"] = True
        body.pop()
    marks = [line[:1] for line in body]
    if not body or not _MARKS.issuperset(marks):
        return None
    shape["marks"] = "".join(marks)
    if inner[1] != "@@":
        shape["header"] = inner[1][2:]
    old = "\n".join([line[1:] for line in body if line[0] != "+"])
    new = "\n".join([line[1:] for line in body if line[0] != "-"])
    return Edit(inner[0][len(_UPDATE) :], old, new), shape


def render_patch(call: Write | Edit, shape: Shape) -> str | None:
    """The patch of a call and the shape it was read with; None where they do not belong together."""
    if type(call) is Write:
        middle = [f"{_ADD}{call.file_path}", *(f"+{line}" for line in call.content.split("\n"))]
    elif type(call) is Edit:
        hunk = _hunk(call, str(shape.get("marks", "")))
        if hunk is None:
            return None
        middle = [f"{_UPDATE}{call.file_path}", f"@@{shape.get('header', '')}", *hunk]
    else:
        return None
    ends = [_EOF] if shape.get("eof") else []
    return "\n".join([_BEGIN, *middle, *ends, _END]) + str(shape.get("tail", ""))


def _hunk(call: Edit, marks: str) -> list[str] | None:
    old = call.old_string.split("\n") if set(marks) - {"+"} else []
    new = call.new_string.split("\n") if set(marks) - {"-"} else []
    if len(old) != len(marks) - marks.count("+") or len(new) != len(marks) - marks.count("-"):
        return None
    lines: list[str] = []
    had, has = iter(old), iter(new)
    for mark in marks:
        if mark == "+":
            lines.append(f"+{next(has)}")
        else:
            line = next(had)
            if mark == " " and next(has) != line:
                return None
            lines.append(f"{mark}{line}")
    return lines


def files_of(patch: str) -> list[str]:
    """The paths a patch names, in order, each once."""
    return list(dict.fromkeys(_NAMED.findall(f"\n{patch}")))


_NAMED = re.compile(r"\n\*\*\* (?:Add File|Update File|Delete File|Move to): (.*)")
