"""What the processes of one drill leave behind besides the journal: an append-only file that no crash takes back.

The journal is what is judged; the notes are the witness. A note is one line, written by one system call to a file
opened for appending, so that lines of several processes never mix and a killed process leaves whole ones.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct


class Reached(Struct, frozen=True, tag=True, gc=False):
    """The process came to ``point``, a place where it may be ended."""

    point: str


class Acknowledged(Struct, frozen=True, tag=True, gc=False):
    """The journal said that everything up to event ``seq`` of ``session`` is kept."""

    session: str
    seq: int


class Asked(Struct, frozen=True, tag=True, gc=False):
    """A model was asked for the reply after ``replies`` others of ``run``."""

    session: str
    run: str
    replies: int


class Ran(Struct, frozen=True, tag=True, gc=False):
    """A tool of ``agent`` began to work on ``call``: the effect that must not happen twice."""

    agent: str
    tool: str
    call: str


class Posted(Struct, frozen=True, tag=True, gc=False):
    """Somebody's message under ``key`` stands in the inbox of ``session``; ``ask`` is the question it answers."""

    session: str
    key: str
    ask: str | None = None


class Refused(Struct, frozen=True, tag=True, gc=False):
    """Somebody's message was not taken, and they were told ``why``."""

    session: str
    key: str
    why: str


Happened: TypeAlias = Reached | Acknowledged | Asked | Ran | Posted | Refused


class Note(Struct, frozen=True):
    """What happened, and in which ``process`` (``driver 2``)."""

    process: str
    what: Happened


class Notes:
    """The notes of one process. ``is_durable`` ones reach the disk before the process goes on."""

    def __init__(self, path: Path, process: str) -> None:
        self._process = process
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def add(self, what: Happened, *, is_durable: bool = False) -> None:
        """Write one note."""
        os.write(self._handle, msgspec.json.encode(Note(self._process, what)) + b"\n")
        if is_durable:
            os.fsync(self._handle)

    def close(self) -> None:
        """Write no more."""
        os.close(self._handle)


_decoder = msgspec.json.Decoder(Note)


def read_notes(path: Path) -> tuple[Note, ...]:
    """All notes in the order they were written; none where there is no file yet."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ()
    return tuple(_decoder.decode_lines(data))
