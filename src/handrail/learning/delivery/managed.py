"""A block of rules in somebody's instruction file: put in, changed, taken out, and every other byte left alone.

The block says where it begins and ends, which rule each line is, and the digest of what was written, so that a hand in
it is seen. Taking it out gives back the very bytes that stood there before it was put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from msgspec import Struct

from handrail.errors import HandrailError
from handrail.learning.rules.model import Rule

TITLE = "## Rules from corrections (kept by Handrail)"

_BEGIN = re.compile(rb"<!-- handrail:rules begin pad=(\d) end=(lf|crlf) sha256=([0-9a-f]{64}) -->")
_BEGIN_LIKE = re.compile(rb"<!--\s*handrail:rules\s+begin\b")
_END = b"<!-- handrail:rules end -->"
_LINE = re.compile(r"^- (?P<text>.*?)(?:\s*<!-- (?P<id>r[0-9a-f]{6,}) -->)?\s*$")
_BOM = b"\xef\xbb\xbf"


class BlockFault(HandrailError, ValueError):
    """The marks of the block in a file are not as they were written; nothing is changed."""

    code = "block_fault"
    exit_code = 4


class Wanted(Struct, frozen=True, gc=False):
    """A line of the block: the rule's id, its sentence, and where its evidence stands."""

    id: str
    text: str


class Hand(Struct, frozen=True, kw_only=True):
    """What the owner did to the block by hand: rules put otherwise, rules taken out, sentences added."""

    changed: tuple[Wanted, ...] = ()
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed or self.added)


def lines_of(rules: Iterable[Rule]) -> tuple[Wanted, ...]:
    """The rules as lines; a rule that counts in some folders says in which."""
    return tuple(Wanted(rule.id, _said(rule)) for rule in rules)


def with_block(data: bytes, lines: Sequence[Wanted]) -> bytes:
    """``data`` with the block of ``lines`` in the place of the one it has, or at its end; without one for no lines.

    Line ends and a mark at the beginning of the file are kept. ``BlockFault`` where the marks are torn.
    """
    found = _find(data)
    if not lines:
        return without_block(data)
    if found is not None:
        return data[: found.start] + _written(lines, found.pad, found.newline) + data[found.end :]
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    pad = _pad(data)
    return data + newline * pad + _written(lines, pad, newline) + newline


def without_block(data: bytes) -> bytes:
    """``data`` as it was before the block was put in; the same bytes where there is none."""
    found = _find(data)
    if found is None:
        return data
    before, after = data[: found.start], data[found.end :]
    for _ in range(found.pad):
        before = before.removesuffix(found.newline)
    return before + after.removeprefix(found.newline)


def block_in(data: bytes) -> tuple[Wanted, ...] | None:
    """The lines of the block in ``data``; None where there is none. A line without an id has an empty one."""
    found = _find(data)
    return None if found is None else _lines(found.body)


def hand_in(data: bytes, written: Sequence[Wanted]) -> Hand:
    """What the owner did to the block since ``written`` was put there; nothing where its digest still fits."""
    found = _find(data)
    if found is None or found.is_whole:
        return Hand()
    texts = {line.id: line.text for line in written}
    present = _lines(found.body)
    kept = {line.id for line in present if line.id}
    return Hand(
        changed=tuple(line for line in present if line.id in texts and line.text != texts[line.id]),
        removed=tuple(id for id in texts if id not in kept),
        added=tuple(line.text for line in present if not line.id or line.id not in texts),
    )


class _Found(Struct, frozen=True):
    start: int
    end: int
    pad: int
    newline: bytes
    body: str
    is_whole: bool


def _find(data: bytes) -> _Found | None:
    begins = list(_BEGIN_LIKE.finditer(data))
    ends = data.count(_END)
    if not begins and not ends:
        return None
    exact = _BEGIN.match(data, begins[0].start()) if begins else None
    if len(begins) != 1 or ends != 1 or exact is None or data.find(_END) < exact.end():
        raise BlockFault(
            f"the marks of the block are torn ({len(begins)} beginnings, {ends} ends)",
            hint="put the marks right by hand, or delete the block with both of its marks",
        )
    end = data.find(_END) + len(_END)
    body = data[exact.end() : data.find(_END)].replace(b"\r\n", b"\n")
    digest = sha256(body).hexdigest().encode()
    return _Found(
        start=exact.start(),
        end=end,
        pad=int(exact.group(1)),
        newline=b"\r\n" if exact.group(2) == b"crlf" else b"\n",
        body=body.decode("utf-8", "replace"),
        is_whole=digest == exact.group(3),
    )


def _written(lines: Sequence[Wanted], pad: int, newline: bytes) -> bytes:
    texts = (TITLE, "", *(f"- {line.text} <!-- {line.id} -->" for line in lines))
    body = ("\n" + "\n".join(texts) + "\n").encode()
    end = "crlf" if newline == b"\r\n" else "lf"
    mark = f"<!-- handrail:rules begin pad={pad} end={end} sha256={sha256(body).hexdigest()} -->".encode()
    return mark + body.replace(b"\n", newline) + _END


def _lines(body: str) -> tuple[Wanted, ...]:
    found = (_LINE.match(line) for line in body.split("\n"))
    return tuple(Wanted(line["id"] or "", line["text"].strip()) for line in found if line is not None and line["text"])


def _pad(data: bytes) -> int:
    """How many line ends set the block off from what stands before it."""
    if not data.removeprefix(_BOM):
        return 0
    return 1 if data.endswith(b"\n") else 2


def _said(rule: Rule) -> str:
    paths = rule.scope.paths
    return f"{rule.text} (in {', '.join(paths)})" if paths else rule.text
