"""The book on disk: one rule a line, readable, and every byte kept that is not changed.

A line that cannot be read costs that line: it is reported, kept where it stands, and hides nothing else. Fields that a
newer release wrote survive. Who writes holds the lock from reading to writing, and what appears is whole or not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from handrail import files, jsonio
from handrail.errors import StoreError
from handrail.learning.rules.model import Rule, RuleBook

FILE = "rules.jsonl"
OWN = "own-rules.md"
"""The owner's own rules: a text file with one rule a line that code only reads."""


class BadLine(Struct, frozen=True, gc=False):
    """A line that is no rule; ``line`` counts from 1."""

    line: int
    reason: str


class _Line(Struct, frozen=True):
    raw: bytes
    rule: Rule | None = None
    fields: dict[str, Any] | None = None


class Loaded(Struct, frozen=True):
    """What the file holds."""

    book: RuleBook
    bad: tuple[BadLine, ...] = ()
    lines: tuple[_Line, ...] = ()


def parse(data: bytes) -> Loaded:
    """The book in ``data``. Of two lines with one id the later counts."""
    lines: list[_Line] = []
    bad: list[BadLine] = []
    book = RuleBook()
    for number, (start, end) in enumerate(jsonio.iter_lines(data), 1):
        raw = data[start:end]
        try:
            line = _read(raw)
        except (jsonio.NotJson, msgspec.ValidationError, ValueError) as problem:
            bad.append(BadLine(number, str(problem)))
            line = _Line(raw)
        lines.append(line)
        if line.rule is not None:
            book = book.with_rule(line.rule)
    return Loaded(book, tuple(bad), tuple(lines))


def render(book: RuleBook, before: Loaded) -> bytes:
    """``book`` as a file that follows ``before``: lines whose rule did not change are the bytes they were."""
    last = {line.rule.id: index for index, line in enumerate(before.lines) if line.rule is not None}
    out = [_kept(line, book, index in last.values()) for index, line in enumerate(before.lines)]
    out += [_line_of(rule, {}) for rule in book if rule.id not in last]
    return b"".join(line + b"\n" for line in out)


class RuleStore:
    """The rules in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FILE
        self.own = folder / OWN

    def load(self) -> Loaded:
        """What stands there; an empty book where nothing does, and nothing is created by looking."""
        if files.look_at(self.file) is None:
            return Loaded(RuleBook())
        return parse(files.read_bytes(self.file))

    def update(self, change: Callable[[RuleBook], RuleBook]) -> RuleBook:
        """Read, change, write, as the only writer. A book that came out the same is not written.

        ``StoreError`` where the folder cannot be written; whatever ``change`` raises leaves the file as it was.
        """
        with files.lock(self.folder / "rules.lock"):
            before = self.load()
            after = change(before.book)
            if after != before.book:
                _check_grown(before.book, after)
                files.write_atomically(self.file, render(after, before), replace=True)
        return after

    def owners(self) -> tuple[str, ...]:
        """The owner's own sentences: the lines of their file that are neither empty, headings nor comments."""
        if files.look_at(self.own) is None:
            return ()
        return tuple(_sentences(files.read_bytes(self.own).decode("utf-8", "replace")))


def _check_grown(before: RuleBook, after: RuleBook) -> None:
    """A rule may change and never vanish: losing one is a fault of ours, and nothing is written then."""
    lost = [rule.id for rule in before if after.get(rule.id) is None]
    if lost:
        raise StoreError(f"rules would be lost: {', '.join(lost)}")


def _read(raw: bytes) -> _Line:
    if not raw.strip():
        return _Line(raw)
    fields = jsonio.decode(raw)
    if not isinstance(fields, dict):
        raise jsonio.NotJson("a rule is an object")
    return _Line(raw, msgspec.convert(fields, Rule), fields)


def _kept(line: _Line, book: RuleBook, counts: bool) -> bytes:
    """The line as it was, unless it is the one that counts of a rule that changed."""
    rule = book.get(line.rule.id) if counts and line.rule is not None else None
    return line.raw if rule is None or rule == line.rule else _line_of(rule, line.fields or {})


def _line_of(rule: Rule, fields: dict[str, Any]) -> bytes:
    """The rule as a line, with the fields of ``fields`` that this release does not know."""
    known = set(Rule.__struct_fields__)
    unknown = {key: value for key, value in fields.items() if key not in known}
    return jsonio.encode({**msgspec.to_builtins(rule), **unknown})


def _sentences(text: str) -> Iterator[str]:
    is_comment = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("<!--"):
            is_comment = "-->" not in stripped
            continue
        if is_comment:
            is_comment = "-->" not in stripped
            continue
        plain = stripped.lstrip("-*• ").strip()
        if plain and not stripped.startswith("#"):
            yield plain
