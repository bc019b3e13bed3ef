"""Bytes that are no file, kept in one while they are looked at: what a pipe gives, a copy that is not proved yet."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from handrail.errors import HandrailError, StoreError
from handrail.files import OpenFile


def spool(chunks: Iterable[bytes], name: str) -> OpenFile:
    """``chunks`` in a file that has no name, so that nobody else can open it, and that is gone however this ends.

    Errors call it ``name``. ``StoreError`` where there is no room for it, or ``chunks`` cannot be read.
    """
    # It brings compression and random numbers with it, and most who import this only read files.
    import tempfile

    try:
        with tempfile.TemporaryFile() as stream:
            for chunk in chunks:
                stream.write(chunk)
            stream.flush()
            return OpenFile(Path(name), os.dup(stream.fileno()))
    except HandrailError:
        raise
    except OSError as problem:
        raise StoreError(
            f"{name} cannot be kept while it is looked at: {problem.strerror or problem}",
            hint="TMPDIR names a folder with more room",
        ) from problem
