"""Ids: the only reader of randomness, and the one check an id passes before a path is made of it."""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Iterable

from handrail.clock import Clock, SystemClock
from handrail.errors import UnsafeId

_NAMESPACE = uuid.UUID("6b0f5a52-6f6e-5d0a-9d0c-9a1f0b6f7c11")
_FORBIDDEN = frozenset("/\\:\x7f") | {chr(code) for code in range(32)}
_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_ID_BYTES = 200


def check_id(value: str) -> str:
    """Return ``value`` when it may become one component of a path, else raise ``UnsafeId``.

    Refused: the empty id, ``.`` and ``..``, a leading ``-``, separators of any system, ``:``, control
    characters, lone surrogates and more than ``MAX_ID_BYTES`` bytes of UTF-8 (a name of a file has 255, and a
    suffix and a temporary name must fit too).
    """
    reason = None
    if not value:
        reason = "it is empty"
    elif value in {".", ".."}:
        reason = "it names a folder"
    elif value.startswith("-"):
        reason = "it starts like an option"
    elif not _FORBIDDEN.isdisjoint(value):
        reason = "it holds a path separator, a colon or a control character"
    elif _SURROGATE.search(value):
        reason = "it is not valid text"
    elif len(value.encode()) > MAX_ID_BYTES:
        reason = f"it is longer than {MAX_ID_BYTES} bytes"
    if reason is not None:
        raise UnsafeId(f"session id {value[:80]!r} cannot be used as a file name: {reason}")
    return value


def stable_uuid(*parts: str | int) -> str:
    """A UUID that depends on ``parts`` only, so that the same conversion gives the same bytes twice."""
    digest = hashlib.sha1(_NAMESPACE.bytes + _told_apart(parts), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest[:16], version=5))


def short_hash(*parts: str | bytes | int) -> str:
    """Twelve hexadecimal digits of the SHA-256 of ``parts``; for ids that people type."""
    return hashlib.sha256(_told_apart(parts)).hexdigest()[:12]


def _told_apart(parts: Iterable[str | bytes | int]) -> bytes:
    """Every part with its length before it, so that no two lists of parts look alike."""
    raws = (part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass") for part in parts)
    return b"".join(len(raw).to_bytes(8, "big") + raw for raw in raws)


def new_uuid4() -> str:
    """A fresh random UUID."""
    return str(uuid.UUID(bytes=os.urandom(16), version=4))


def new_uuid7(clock: Clock | None = None) -> str:
    """A fresh UUID that sorts by time (RFC 9562, version 7)."""
    milliseconds = int((clock or SystemClock()).now().timestamp() * 1000)
    value = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 7 << 76
    value = value & ~(0x3 << 62) | 2 << 62
    return str(uuid.UUID(int=value))


def chance() -> float:
    """A fresh random number from [0, 1), for spreading waits."""
    return int.from_bytes(os.urandom(6), "big") / (1 << 48)
