"""Write the corpus of one release, once: ``python -m tests.journal_compat.writing 0.1.0``.

A folder that is there is never touched. What is written are the files of ``FileJournal`` as they are, one folder a
play, some of the plays in an SQLite file, one event of every kind, and a list of digests that holds it all together.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from handrail.journal.file import FileJournal
from handrail.journal.wire import encode_event
from handrail.runs.journals.sqlite import SqliteJournal

from .plays import PLAYS, Play, chosen, died, open_approval, wishes
from .samples import samples

HERE = Path(__file__).parent
DIGESTS = "SHA256SUMS"
EVERY_KIND = "every-kind.jsonl"
DATABASE = "journal.sqlite"


def write(release: str) -> Path:
    """Write the corpus of ``release`` and return its folder; ``FileExistsError`` when there is one."""
    folder = HERE / release
    folder.mkdir()
    for play in PLAYS:
        asyncio.run(_played(play, folder / play.__name__))
    asyncio.run(_into_database(folder))
    (folder / EVERY_KIND).write_bytes(b"".join(encode_event(event) + b"\n" for event in samples()))
    (folder / DIGESTS).write_text("".join(f"{digest}  {name}\n" for name, digest in digests(folder).items()))
    return folder


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a corpus but the list itself, by its name there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != DIGESTS)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


async def _played(play: Play, place: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch, closing(FileJournal(place, poll_s=0.01)) as journal:
        await play(journal, Path(scratch) / "notes")


async def _into_database(folder: Path) -> None:
    """Some of the plays in one database; they have sessions of different names."""
    with closing(SqliteJournal(folder / DATABASE)) as database, tempfile.TemporaryDirectory() as scratch:
        for play in (open_approval, wishes, died, chosen):
            await play(database, Path(scratch) / play.__name__)
    for left in folder.glob(f"{DATABASE}-*"):
        left.unlink()
    (folder / f"{DATABASE}.lock").unlink(missing_ok=True)


if __name__ == "__main__":
    sys.stdout.write(f"{write(sys.argv[1])}\n")
