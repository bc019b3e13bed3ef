"""The lessons on disk: one record a line, added to and never rewritten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from handrail import files
from handrail.learning.reflecting.lesson import Journalled, Reflected, Row, parse_rows, render_rows

FILE = "lessons.jsonl"


class LessonStore:
    """The records in one folder. Who adds holds the lock from reading to writing; all of what is added, or none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FILE

    def load(self) -> Journalled:
        """What stands there; nothing where nothing does, and looking creates nothing."""
        if files.look_at(self.file) is None:
            return Journalled()
        return parse_rows(files.read_bytes(self.file))

    def add(self, make: Callable[[Journalled], Sequence[Row]]) -> tuple[Row, ...]:
        """Add what ``make`` gives, asked once nobody else can add any more; a moment that is mined is not added again.

        ``StoreError`` where the folder cannot be written; whatever ``make`` raises adds nothing.
        """
        with files.lock(self.folder / "lessons.lock"):
            before = files.read_bytes(self.file) if files.look_at(self.file) is not None else b""
            present = parse_rows(before)
            mined = set(present.mined)
            added: list[Row] = []
            for row in make(present):
                if isinstance(row, Reflected):
                    if row.key in mined:
                        continue
                    mined.add(row.key)
                added.append(row)
            if added:
                whole = before if not before or before.endswith(b"\n") else before + b"\n"
                files.write_atomically(self.file, whole + render_rows(added), replace=True)
        return tuple(added)
