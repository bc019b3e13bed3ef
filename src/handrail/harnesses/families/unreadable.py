"""A session file that is there and may not be read: listed all the same, so that nobody takes it for absent."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from stat import S_ISREG

from handrail.transcripts.codec import SessionRef
from handrail.transcripts.model import Meta, Parent


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
