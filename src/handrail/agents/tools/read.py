"""Read: a file's lines, numbered, or a picture."""

from __future__ import annotations

import base64
from typing import Annotated, BinaryIO

import pydantic

from handrail.agents.tool import ToolContext, ToolError, tool
from handrail.agents.tools.families.reach import plain_failures, reach
from handrail.transcripts.model import Image

_DEFAULT_LINES = 2000
_LINE_CHARS = 2000
_MAX_PICTURE_BYTES = 5 * 1024 * 1024
_PROBE_BYTES = 8192
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


@tool(name="Read", parallel=True, private=True, twice_is_safe=True)
def read(
    file_path: str,
    context: ToolContext,
    offset: Annotated[int, pydantic.Field(ge=1)] = 1,
    limit: Annotated[int, pydantic.Field(ge=1)] = _DEFAULT_LINES,
) -> str | Image:
    """Read a file of the workspace: its lines with their numbers, or a picture (PNG, JPEG, GIF, WebP).

    file_path: relative to the workspace, or absolute inside it
    offset: the first line to show, from 1
    limit: how many lines to show
    """
    with plain_failures(file_path), reach(context).open(file_path) as stream:
        start = stream.read(_PROBE_BYTES)
        kind = _picture_kind(start)
        if kind is not None:
            return _picture(stream, start, kind, file_path)
        if b"\0" in start:
            raise ToolError(f"{file_path} is binary, not text")
        stream.seek(0)
        return _numbered(stream, offset, limit, file_path)


def _picture_kind(start: bytes) -> str | None:
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _PICTURES.items() if start.startswith(magic)), None)


def _picture(stream: BinaryIO, start: bytes, kind: str, path: str) -> Image:
    data = start + stream.read(_MAX_PICTURE_BYTES + 1 - len(start))
    if len(data) > _MAX_PICTURE_BYTES:
        raise ToolError(f"{path} is a picture of more than {_MAX_PICTURE_BYTES // 1024 // 1024} MiB, too large to show")
    return Image(kind, base64.b64encode(data).decode())


def _numbered(stream: BinaryIO, offset: int, limit: int, path: str) -> str:
    shown: list[str] = []
    number = 0
    for number, raw in enumerate(stream, 1):
        if number >= offset + limit:
            shown.append(f"[more lines follow; go on with offset={number}]")
            break
        if number >= offset:
            shown.append(f"{number:>6}\t{_line(raw)}")
    if not shown:
        return f"[{path} is empty]" if number == 0 else f"[{path} has only {number} lines]"
    return "\n".join(shown)


def _line(raw: bytes) -> str:
    text = raw.rstrip(b"\r\n").decode("utf-8", "replace")
    cut = len(text) - _LINE_CHARS
    return text if cut <= 0 else f"{text[:_LINE_CHARS]} [{cut} more characters in this line]"


TOOL = read
