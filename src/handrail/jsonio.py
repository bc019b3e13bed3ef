"""JSON lines that keep their bytes, and the one canonical spelling.

Reading is two-step: msgspec first (fast, strict), the standard library where msgspec refuses what real files
hold (lone surrogates written as escapes, ``NaN``). Lines are cut at the byte ``\\n`` and nowhere else:
U+2028, U+2029 and U+0085 are legal inside a string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()
_canonical = msgspec.json.Encoder(order="sorted")

BOM = b"\xef\xbb\xbf"
MAX_DEPTH_ERROR = "nested too deeply"


class NotJson(ValueError):
    """The bytes are no JSON value; the message says why."""


def decode(raw: bytes | memoryview) -> Any:
    """One JSON value, read as leniently as is safe; ``NotJson`` when the bytes are none.

    Escaped lone surrogates stay as they are, ``NaN`` and infinities become floats, integers keep every digit.
    Raw bytes that are not UTF-8 are read with U+FFFD in their place.
    """
    try:
        return _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    except RecursionError as problem:
        raise NotJson(MAX_DEPTH_ERROR) from problem
    try:
        return json.loads(bytes(raw).decode("utf-8", "replace"))
    except RecursionError as problem:
        raise NotJson(MAX_DEPTH_ERROR) from problem
    except ValueError as problem:
        raise NotJson(str(problem)) from problem


def encode(value: Any) -> bytes:
    """Compact JSON of ``value``. Lone surrogates are written as escapes, so every string can be written."""
    try:
        return _encoder.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return _encode_odd(value)


def canonical(value: Any) -> bytes:
    """The canonical spelling: keys sorted by code point, no white space, UTF-8, shortest escapes.

    Digests and stored events use this spelling and no other. A float that is no number has no spelling here and
    raises ``ValueError``.
    """
    try:
        return _canonical.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return _encode_odd(value, sort_keys=True)


def _encode_odd(value: Any, *, sort_keys: bool = False) -> bytes:
    plain = msgspec.to_builtins(value)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


_SURROGATE = re.compile("[\ud800-\udfff]")


def iter_lines(data: bytes) -> Iterator[tuple[int, int]]:
    """``(start, end)`` of every line of ``data``, the line feed left out; a last line without one counts.

    The parts between are exactly the line feeds, so the spans tell every byte of the file apart.
    """
    start = 0
    size = len(data)
    while start < size:
        end = data.find(b"\n", start)
        if end < 0:
            yield start, size
            return
        yield start, end
        start = end + 1


def iter_chunk_lines(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """``(offset, line)`` for a stream of chunks; memory is bounded by the longest line."""
    offset = 0
    pending: list[bytes] = []
    for chunk in chunks:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            pending.append(chunk[start:end])
            line = b"".join(pending) if len(pending) > 1 else pending[0]
            pending.clear()
            yield offset, line
            offset += len(line) + 1
            start = end + 1
        if start < len(chunk):
            pending.append(chunk[start:])
    if pending:
        yield offset, b"".join(pending)
