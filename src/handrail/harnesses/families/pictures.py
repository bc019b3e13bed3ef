"""How large a picture is: from its base64 text, without decoding more of it than its head."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import NamedTuple

MAX_PICTURE_BYTES = 5 * 1024 * 1024
"""The largest picture that the models' providers take (bytes of the file)."""

MAX_PICTURE_SIDE = 8000
"""The longest side of a picture that they take (pixels)."""

MAX_REQUEST_BYTES = 32 * 1024 * 1024
"""The largest request they take; all pictures of a session go out with each."""

_HEAD_CHARS = 1 << 17
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class Picture(NamedTuple):
    """A picture in a record: the size of its base64 text and of the file, in bytes; its sides in pixels, 0 unknown."""

    encoded: int
    size: int
    width: int
    height: int

    @property
    def is_too_large(self) -> bool:
        """Whether a request that holds it is refused."""
        return self.size > MAX_PICTURE_BYTES or max(self.width, self.height) > MAX_PICTURE_SIDE

    @property
    def shown(self) -> str:
        """The sides and size, for people."""
        sides = f"{self.width:,}x{self.height:,} pixels, " if self.width else ""
        return f"{sides}{self.size:,} bytes"


def measure(data: str) -> Picture:
    """The measures of the picture whose base64 text is ``data``."""
    padding = len(data) - len(data.rstrip("="))
    width, height = _sides(_head(data))
    return Picture(len(data), max(0, len(data) * 3 // 4 - padding), width, height)


def digest(data: str) -> str:
    """The SHA-256 of the picture's bytes; of its text where that is no base64."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raw = data.encode("utf-8", "surrogatepass")
    return hashlib.sha256(raw).hexdigest()


def _head(data: str) -> bytes:
    cut = data[:_HEAD_CHARS]
    try:
        return base64.b64decode(cut[: len(cut) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _sides(head: bytes) -> tuple[int, int]:
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    if head.startswith((b"GIF87a", b"GIF89a")) and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    if head.startswith(b"\xff\xd8"):
        return _jpeg_sides(head)
    return 0, 0


def _jpeg_sides(head: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        if head[at + 1] in _FRAMES:
            return int.from_bytes(head[at + 7 : at + 9], "big"), int.from_bytes(head[at + 5 : at + 7], "big")
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return 0, 0
