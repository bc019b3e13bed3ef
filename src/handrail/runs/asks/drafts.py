"""What somebody is typing into a document, kept until the answer is in: a crash of the editor, of this process or of
the machine costs nothing that reached the disk.

A draft is one file, named after its question, readable by its owner only; an editor is opened on that very file.
"""

from __future__ import annotations

from pathlib import Path

from handrail import files, ids
from handrail.errors import StoreError
from handrail.journal.events import AskOpened


class Drafts:
    """The drafts in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, opened: AskOpened) -> Path:
        """The file to edit: what was typed before, where somebody has begun; else a copy of what is shown.

        ``StoreError`` when it cannot be written.
        """
        path = self._path(opened)
        if files.look_at(path) is None:
            files.write_atomically(path, (opened.shown or "").encode("utf-8", "surrogatepass"))
        return path

    def read(self, opened: AskOpened) -> str | None:
        """What the draft holds now; None where nobody has begun. ``StoreError`` for what is no text in UTF-8."""
        path = self._path(opened)
        if files.look_at(path) is None:
            return None
        try:
            return files.read_bytes(path).decode("utf-8")
        except UnicodeDecodeError as problem:
            raise StoreError(f"the draft {path} is no text in UTF-8: {problem}") from problem

    def discard(self, opened: AskOpened) -> None:
        """Forget the draft, once the question is closed."""
        self._path(opened).unlink(missing_ok=True)

    def _path(self, opened: AskOpened) -> Path:
        suffix = {"markdown": ".md", "json": ".json"}.get(opened.body_format, ".txt")
        return self._folder / f"{ids.check_id(opened.ask)}{suffix}"
