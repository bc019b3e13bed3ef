"""What checks did in other hosts, and when each host last called the hook: small files in one folder, 0600.

The rows are added to and never rewritten but to stay small. A torn row costs that row.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from handrail import files, jsonio
from handrail.learning.checks.force import MAX_REFUSALS

FOLDER = "hooks"
FILE = "fired.jsonl"
MAX_BYTES = 1 << 20
"""From this size on the older half of the rows goes."""

FORGOTTEN_AFTER = timedelta(hours=1)
"""How long a refusal counts towards letting pass: a session of another host may go on for days."""

FRESH = timedelta(minutes=1)
"""How old a last-fired record may be and still be left as it is: a host calls many times a minute."""

Did = Literal["refused", "let_pass", "noted", "asked", "failed"]
Kind = TypeVar("Kind", bound=Struct)


class Firing(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One time a check fired, or the hook failed (``rule`` may be empty then). ``what`` is a redacted excerpt."""

    at: datetime
    host: str
    event: str
    session: str
    did: Did
    rule: str = ""
    what: str = ""
    why: str | None = None


class LastFired(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """The last time a host called the hook for an event. ``version`` is Handrail's, ``why`` what went wrong, if."""

    at: datetime
    host: str
    event: str
    session: str
    version: str
    why: str | None = None


class Installed(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """Where and when the hook was put into a host's settings."""

    at: datetime
    host: str
    file: str


def lets_pass(rows: Iterable[Firing], session: str, rule: str, now: datetime) -> bool:
    """Whether ``rule`` has refused often enough in ``session`` lately."""
    refused = (row for row in rows if row.did == "refused" and (row.session, row.rule) == (session, rule))
    return sum(now - row.at < FORGOTTEN_AFTER for row in refused) >= MAX_REFUSALS


class FiringStore:
    """The records below the folder of the loop."""

    def __init__(self, learning: Path) -> None:
        self.folder = learning / FOLDER
        self.file = self.folder / FILE

    def rows(self) -> tuple[Firing, ...]:
        """Every row that can be read, in order; none where there is no file."""
        if files.look_at(self.file) is None:
            return ()
        return tuple(_rows(files.read_bytes(self.file)))

    def add(self, make: Callable[[tuple[Firing, ...]], Sequence[Firing]]) -> tuple[Firing, ...]:
        """Add what ``make`` gives of the rows there are, asked once nobody else can add any more.

        ``OSError`` (``StoreError`` among them) where they cannot be written; whatever ``make`` raises adds nothing.
        """
        with files.lock(self.folder / "fired.lock"):
            before = files.read_bytes(self.file) if files.look_at(self.file) is not None else b""
            rows = tuple(make(tuple(_rows(before))))
            added = b"".join(jsonio.encode(row) + b"\n" for row in rows)
            torn = b"" if not before or before.endswith(b"\n") else b"\n"
            if len(before) + len(added) > MAX_BYTES:
                kept = before[before.find(b"\n", len(before) // 2) + 1 :]
                files.write_atomically(self.file, kept + torn + added, replace=True)
            elif added:
                _append(self.file, torn + added)
        return rows

    def last(self, host: str, event: str) -> LastFired | None:
        """The last time ``host`` called for ``event``; None where it never did, or the record cannot be read."""
        return _record(self._last_file(host, event), LastFired)

    def note_last(self, fired: LastFired) -> None:
        """Remember that the host called. A record that says the same and is fresh is left as it is."""
        before = self.last(fired.host, fired.event)
        if before is not None and _says_the_same(before, fired) and fired.at - before.at < FRESH:
            return
        files.write_atomically(self._last_file(fired.host, fired.event), jsonio.encode(fired), replace=True)

    def installed(self, host: str) -> Installed | None:
        """When the hook was last put into the settings of ``host``."""
        return _record(self._installed_file(host), Installed)

    def note_installed(self, installed: Installed) -> None:
        files.write_atomically(self._installed_file(installed.host), jsonio.encode(installed), replace=True)

    def forget_installed(self, host: str) -> None:
        """The hook is in no settings of ``host`` any more."""
        if files.look_at(self._installed_file(host)) is not None:
            self._installed_file(host).unlink(missing_ok=True)

    def _last_file(self, host: str, event: str) -> Path:
        return self.folder / f"last-{host}-{event if event.isalpha() and len(event) < 40 else 'other'}.json"

    def _installed_file(self, host: str) -> Path:
        return self.folder / f"installed-{host}.json"


def _says_the_same(one: LastFired, other: LastFired) -> bool:
    return (one.session, one.version, one.why) == (other.session, other.version, other.why)


def _append(file: Path, data: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, files.PRIVATE_FILE)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def _rows(data: bytes) -> Iterator[Firing]:
    for start, end in jsonio.iter_lines(data):
        row = _read(data[start:end], Firing)
        if row is not None:
            yield row


def _record(file: Path, kind: type[Kind]) -> Kind | None:
    return _read(files.read_bytes(file), kind) if files.look_at(file) is not None else None


def _read(raw: bytes, kind: type[Kind]) -> Kind | None:
    """The record, None where the bytes are none: a torn row, or one of a newer release."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeError):
        return None
