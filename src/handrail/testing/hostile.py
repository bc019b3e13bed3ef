"""The bytes that real disks hold and that no writer would write on purpose.

Each case has a name, so that a failing test says which. The cases come from reports of what happened to real
session files: power cuts, full disks, two writers, editors that add a byte-order mark, tool output cut in the
middle of a character.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

DEEP = 100_000
"""Levels of nesting in the deep case; far past what a recursive reader survives."""

HUGE = 2 << 20
"""Bytes in the longest line."""

_BOM = b"\xef\xbb\xbf"

LONELY: dict[str, bytes] = {
    "nothing": b"",
    "one line feed": b"\n",
    "blank lines": b"\n\n \n\t\n\r\n",
    "a byte-order mark alone": _BOM,
    "nul bytes": b"\x00" * 300,
    "one open brace": b"{",
    "json of other types": b'[]\n"text"\n5\nnull\ntrue\n1.5\n',
    "objects that say nothing": b'{}\n{"type":5}\n{"type":null}\n{"type":"user"}\n{"type":"user","message":7}\n',
    "not utf-8": b'{"type":"user","message":{"content":"\xff\xfe\xc3("}}\n',
    "not json": b"once upon a time\n<html></html>\n",
    "nan and infinity": b'{"type":"user","a":NaN,"b":Infinity,"c":-Infinity}\n',
    "numbers past every machine word": b'{"type":"user","n":1180591620717411303424,"m":1e400,"k":-1e-400}\n',
    "deep lists": b'{"type":"user","message":' + b"[" * DEEP + b"]" * DEEP + b"}\n",
    "deep objects": b'{"type":"user","message":' + b'{"a":' * DEEP + b"1" + b"}" * (DEEP + 1) + b"\n",
    "deep and never closed": b"[" * DEEP,
    "one huge line": b'{"type":"user","message":{"role":"user","content":"' + b"x" * HUGE + b'"}}\n',
    "the same key twice": b'{"type":"user","type":"assistant","message":1,"message":{"content":"x","content":[]}}\n',
    "a zip archive": b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(range(256)),
    "a database": b"SQLite format 3\x00\x10\x00\x01\x01\x00@  " + b"\x00" * 64,
}
"""Inputs that need no valid session to be made from."""


def around(data: bytes) -> Iterator[tuple[str, bytes]]:
    """``(name, bytes)`` of every way in which the valid session ``data`` may have been hurt."""
    rows = _rows(data)
    middle = len(rows) // 2
    before, after = b"".join(rows[:middle]), b"".join(rows[middle:])
    yield "as it is", data
    yield "a byte-order mark first", _BOM + data
    yield "windows line ends", data.replace(b"\n", b"\r\n")
    yield "old mac line ends", data.replace(b"\n", b"\r")
    yield "no last line feed", data.rstrip(b"\n")
    yield "a nul run in the middle", before + b"\x00" * 300 + after
    yield "a nul line in the middle", before + b"\x00" * 300 + b"\n" + after
    yield "blank lines between", b"\n\n".join(row.rstrip(b"\n") for row in rows) + b"\n"
    yield "rows glued together", data.replace(b"\n", b"")
    yield "lists between the rows", b"[]\n".join(rows)
    yield "twice in one file", data + data
    yield "rows in reverse", b"".join(reversed(rows))
    yield "latin-1 in the middle", before + b'{"type":"user","message":{"content":"caf\xe9"}}\n' + after
    yield "a lone surrogate in every string", data.replace(b'":"', b'":"\\ud83c')
    yield "a raw surrogate in every string", data.replace(b'":"', b'":"\xed\xa0\xbc')
    yield "unicode line ends in every string", data.replace(b'":"', '":"\u2028\u2029\u0085'.encode())
    yield "numbers for strings", data.replace(b'":"', b'":1180591620717411303424,"x":"')
    yield "lists as deep as a reader just bears", _deepened(data, 950)
    yield "lists as deep as few readers bear", _deepened(data, 400)
    yield "null for strings", data.replace(b'":"', b'":null,"x":"')
    yield "lists for objects", data.replace(b":{", b":[").replace(b"}", b"]")
    yield from _torn(rows)


def _deepened(data: bytes, levels: int) -> bytes:
    """The first strings and objects of every kind of place replaced by nested lists."""
    nested = b"[" * levels + b"]" * levels
    hurt = data.replace(b'":"', b'":' + nested + b',"x":"', 40)
    return hurt + b"\n".join(row.replace(b'":{', b'":{"deep":' + nested + b",", 4) for row in _rows(data)[:20])


def _rows(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    rows = [part + b"\n" for part in parts[:-1]]
    return [*rows, parts[-1]] if parts[-1] else rows


def _torn(rows: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    whole = b"".join(rows)
    for share in (0.3, 0.6, 0.95):
        yield f"torn at {share:.0%}", whole[: int(len(whole) * share)]
    for index in {0, len(rows) // 2, len(rows) - 1}:
        if 0 <= index < len(rows):
            stub = rows[index][: len(rows[index]) // 2]
            rest = b"".join(rows[index + 1 :])
            again = b"".join(rows[index:])
            before = b"".join(rows[:index])
            yield f"row {index + 1} cut and the next glued to it", before + stub + rest
            yield f"row {index + 1} cut, then written again on the same line", before + stub + again
            yield f"row {index + 1} cut, then written again", before + stub + b"\n" + again


def noise(seed: int, size: int = 600) -> bytes:
    """Random bytes with line feeds and braces among them, the same for the same ``seed``."""
    source = random.Random(seed)
    alphabet = bytes(range(256)) + b'{}[]",:\n\\' * 12
    return bytes(source.choice(alphabet) for _ in range(source.randrange(size)))


def mutated(data: bytes, seed: int) -> bytes:
    """``data`` with one to six small wounds: bytes changed, cut out, doubled or moved; by ``seed``."""
    source = random.Random(seed)
    wounded = bytearray(data)
    for _ in range(source.randint(1, 6)):
        if not wounded:
            break
        start = source.randrange(len(wounded))
        end = min(len(wounded), start + source.choice((1, 1, 2, 8, 60)))
        match source.randrange(5):
            case 0:
                wounded[start] = source.choice(b'{}[]",:\n\\\x00\xff019atn')
            case 1:
                del wounded[start:end]
            case 2:
                wounded[start:start] = wounded[start:end]
            case 3:
                piece = wounded[start:end]
                del wounded[start:end]
                there = source.randrange(len(wounded) + 1)
                wounded[there:there] = piece
            case _:
                wounded[start:start] = bytes(source.randrange(256) for _ in range(source.randint(1, 4)))
    return bytes(wounded)
