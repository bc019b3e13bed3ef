"""Running a block as somebody whom file modes bind, whoever runs the tests."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_OTHER_USER = 65534


@contextlib.contextmanager
def without_privileges() -> Iterator[None]:
    """The block runs as another user where root runs it; a plain user is bound already."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_OTHER_USER)
    try:
        yield
    finally:
        os.seteuid(0)
