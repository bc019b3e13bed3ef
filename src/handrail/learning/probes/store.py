"""The measurements on disk: one row a line, added to and never rewritten, every other byte left as it is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from handrail import files
from handrail.learning.probes.ledger import ProbeRow, ReadLedger, parse_rows, render_row

FILE = "probes.jsonl"


class LedgerStore:
    """The rows in one folder. Who adds holds the lock from reading to writing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FILE

    def load(self) -> ReadLedger:
        """What stands there; nothing where nothing does, and looking creates nothing."""
        if files.look_at(self.file) is None:
            return ReadLedger(())
        return parse_rows(files.read_bytes(self.file))

    def add(self, rows: Iterable[ProbeRow]) -> None:
        """Add ``rows``, all of them or none. A line that was torn stays a line of its own and costs only itself.

        ``StoreError`` where the folder cannot be written.
        """
        added = b"".join(map(render_row, rows))
        if not added:
            return
        with files.lock(self.folder / "probes.lock"):
            before = files.read_bytes(self.file) if files.look_at(self.file) is not None else b""
            whole = before if not before or before.endswith(b"\n") else before + b"\n"
            files.write_atomically(self.file, whole + added, replace=True)
