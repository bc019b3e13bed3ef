"""Files and folders that are there and may not be read: told of, so that nobody takes what they hold for absent."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from stat import S_ISREG

from handrail.errors import StoreError
from handrail.transcripts.codec import SessionRef
from handrail.transcripts.model import Meta, Parent


def entries_of(folder: str, closed: list[str]) -> list[os.DirEntry[str]]:
    """What lies in ``folder``, by name; nothing where there is none.

    A folder that may not be read is put into ``closed``.
    """
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except PermissionError:
        closed.append(folder)
    except OSError:
        pass
    return []


def closed_error(closed: list[str]) -> StoreError | None:
    """What a store says of the folders that it could not look into, once it has given all that lies elsewhere."""
    if not closed:
        return None
    more = f" and {len(closed) - 1} more" if len(closed) > 1 else ""
    return StoreError(f"{closed[0]}{more} may not be read", hint="what lies there is not listed")


def unreadable_ref(harness: str, path: str, session: str, parent: Parent | None = None) -> SessionRef | None:
    """What can be said of the file at ``path`` from outside: its id by its name, its size, and that it is not whole.

    None for what is no regular file, has gone, or bears no id in its name.
    """
    try:
        stat = os.stat(path)  # noqa: PTH116 - the listing works on plain strings
    except OSError:
        return None
    if not session or not S_ISREG(stat.st_mode):
        return None
    return SessionRef(
        harness=harness,
        id=session,
        locator=path,
        meta=Meta(id=session, harness=harness),
        size_bytes=stat.st_size,
        updated_at=datetime.fromtimestamp(stat.st_mtime, UTC),
        is_whole=False,
        parent=parent,
    )
