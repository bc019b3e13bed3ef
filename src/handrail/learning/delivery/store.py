"""The record of what was delivered, on disk: one row a line, added to and never rewritten."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from handrail import files
from handrail.learning.delivery.record import Delivered, ReadRecord, parse_record, render_delivered

FILE = "delivered.jsonl"


class DeliveryStore:
    """The rows in one folder. Who adds holds the lock from reading to writing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FILE

    def load(self) -> ReadRecord:
        """What stands there; nothing where nothing does, and looking creates nothing."""
        if files.look_at(self.file) is None:
            return ReadRecord()
        return parse_record(files.read_bytes(self.file))

    def add(self, rows: Iterable[Delivered]) -> None:
        """Add ``rows``, all of them or none; ``StoreError`` where the folder cannot be written."""
        added = b"".join(map(render_delivered, rows))
        if not added:
            return
        with files.lock(self.folder / "delivered.lock"):
            before = files.read_bytes(self.file) if files.look_at(self.file) is not None else b""
            whole = before if not before or before.endswith(b"\n") else before + b"\n"
            files.write_atomically(self.file, whole + added, replace=True)
