"""JSON lines that keep their bytes, and the one canonical spelling.

Reading is two-step: msgspec first (fast, strict), the standard library where msgspec refuses what real files
hold (lone surrogates written as escapes, ``NaN``). Lines are cut at the byte ``\\n`` and nowhere else:
U+2028, U+2029 and U+0085 are legal inside a string.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()
_canonical = msgspec.json.Encoder(order="sorted")

BOM = b"\xef\xbb\xbf"
MAX_DEPTH_ERROR = "nested too deeply"
MAX_DEPTH = 500
"""How deep what is written may be nested. How deep can be read depends on how deep the reader itself is called: about
1,000 levels at most; what is written within this bound can be read from anywhere."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BRACKET = re.compile(rb"[][{}]")


class NotJson(ValueError):
    """The bytes are no JSON value; the message says why."""


def decode(raw: bytes | memoryview | str) -> Any:
    """One JSON value, read as leniently as is safe; ``NotJson`` when the bytes are none.

    Escaped lone surrogates stay as they are, ``NaN`` and infinities become floats, integers keep every digit.
    Raw bytes that are not UTF-8 are read with U+FFFD in their place.
    """
    try:
        return _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeError):
        pass
    except RecursionError as problem:
        raise NotJson(MAX_DEPTH_ERROR) from problem
    try:
        return json.loads(raw if isinstance(raw, str) else bytes(raw).decode("utf-8", "replace"))
    except RecursionError as problem:
        raise NotJson(MAX_DEPTH_ERROR) from problem
    except ValueError as problem:
        raise NotJson(str(problem)) from problem


def encode(value: Any) -> bytes:
    """Compact JSON of ``value``; a float that is no number becomes ``null``.

    Lone surrogates are written as escapes, so every string can be written.
    """
    try:
        return _encoder.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return _spell(msgspec.to_builtins(value, str_keys=True), in_order=False)


def canonical(value: Any) -> bytes:
    """The canonical spelling: keys sorted by code point, no white space, UTF-8, shortest escapes.

    Digests and stored events use this spelling and no other. A float that is no number has no spelling here and
    raises ``ValueError``. Lone surrogates are written as escapes.
    """
    try:
        spelled = _canonical.encode(value)
    except (UnicodeEncodeError, OverflowError):
        spelled = _spell(msgspec.to_builtins(value, str_keys=True), in_order=True)
    # The encoder writes null for a float that is no number; only where there is a null can there have been one.
    if b"null" in spelled and _has_no_number(msgspec.to_builtins(value, str_keys=True)):
        raise ValueError("a float that is no number has no canonical spelling")
    return spelled


def is_deep(encoded: bytes) -> bool:
    """Whether the JSON text ``encoded`` is nested deeper than ``MAX_DEPTH``."""
    if encoded.count(b"[") + encoded.count(b"{") <= MAX_DEPTH:
        return False
    depth = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", encoded)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest > MAX_DEPTH


def _has_no_number(value: Any) -> bool:
    if type(value) is float:
        return not math.isfinite(value)
    if type(value) is dict:
        return any(map(_has_no_number, value.values()))
    return type(value) in (list, tuple) and any(map(_has_no_number, value))


def _spell(value: Any, *, in_order: bool) -> bytes:
    """What the encoder would write, with what it refuses (lone surrogates) written as escapes."""
    if type(value) is str:
        return _spell_text(value)
    if type(value) is dict:
        keys = sorted(value) if in_order else value
        return b"{%b}" % b",".join(_spell_text(key) + b":" + _spell(value[key], in_order=in_order) for key in keys)
    if type(value) in (list, tuple):
        return b"[%b]" % b",".join(_spell(item, in_order=in_order) for item in value)
    return _encoder.encode(value)


def _spell_text(text: str) -> bytes:
    pieces = _SURROGATE.split(text)
    return b'"%b"' % b"".join(
        f"\\u{ord(piece):04x}".encode() if _SURROGATE.match(piece) else _encoder.encode(piece)[1:-1] for piece in pieces
    )


_SURROGATE = re.compile("([\ud800-\udfff])")


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
