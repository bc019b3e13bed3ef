"""What was put into whose file and when: told of every change of a block, so that a hand in it is seen, and so that it
can be looked up which rules another tool had been given at a moment."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.learning.delivery.managed import Wanted


class Delivered(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """From ``at`` on the file of ``target`` in ``repository`` holds a block of ``lines``; of none: no block."""

    repository: str
    target: str
    lines: tuple[Wanted, ...]
    at: datetime


class ReadRecord(Struct, frozen=True):
    """The rows of a file; ``bad`` are the numbers, from 1, of lines that are none."""

    rows: tuple[Delivered, ...] = ()
    bad: tuple[int, ...] = ()

    def last(self, repository: str, target: str) -> Delivered | None:
        """The newest row on that file."""
        return self.before(repository, target, None)

    def before(self, repository: str, target: str, at: datetime | None) -> Delivered | None:
        """The newest row on that file that is not younger than ``at`` (None: of all)."""
        own = [row for row in self.rows if (row.repository, row.target) == (repository, target)]
        held = [row for row in own if at is None or row.at <= at]
        return max(held, key=lambda row: row.at, default=None)


def riding_at(record: ReadRecord, repository: str, targets: Iterable[str], at: datetime) -> tuple[str, ...] | None:
    """The rules that the files of ``targets`` held at ``at``, as far as we put them there.

    None where nothing was ever put into one of them: what stood there then is not known.
    """
    found = [record.before(repository, target, at) for target in targets]
    known = [row for row in found if row is not None]
    if not known:
        return None
    return tuple(dict.fromkeys(line.id for row in known for line in row.lines))


def parse_record(data: bytes) -> ReadRecord:
    """The rows in ``data``; a line that is none costs that line."""
    rows: list[Delivered] = []
    bad: list[int] = []
    for number, (start, end) in enumerate(jsonio.iter_lines(data), 1):
        if not data[start:end].strip():
            continue
        try:
            row = msgspec.convert(jsonio.decode(data[start:end]), Delivered)
        except (jsonio.NotJson, msgspec.ValidationError):
            bad.append(number)
            continue
        if row.at.tzinfo is None:
            bad.append(number)
        else:
            rows.append(row)
    return ReadRecord(tuple(rows), tuple(bad))


def render_delivered(row: Delivered) -> bytes:
    return jsonio.encode(msgspec.to_builtins(row)) + b"\n"
