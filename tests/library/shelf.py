"""Refs made by hand, and stores that answer from a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from handrail.errors import StoreError
from handrail.transcripts.codec import SessionRef
from handrail.transcripts.model import Meta, Parent, Transcript


def ref(
    id: str,
    *,
    day: int | None = None,
    title: str | None = None,
    harness: str = "toy",
    parent: Parent | None = None,
    locator: str | None = None,
) -> SessionRef:
    """A session that started on ``day`` of May 2026, at an unknown time for None."""
    started = None if day is None else datetime(2026, 5, day, tzinfo=UTC)
    return SessionRef(
        harness=harness,
        id=id,
        locator=locator or f"/shelf/{harness}/{id}",
        meta=Meta(id=id, timestamp=started, title=title, harness=harness),
        parent=parent,
    )


class ListedStore:
    """A store that discovers the refs it was given, then fails when told to; it holds no bytes."""

    def __init__(self, refs: Iterable[SessionRef], failure: Exception | None = None) -> None:
        self._refs = tuple(refs)
        self._failure = failure

    def discover(self) -> Iterator[SessionRef]:
        yield from self._refs
        if self._failure is not None:
            raise self._failure

    def load(self, ref: SessionRef | str) -> Transcript[Any]:
        raise StoreError(f"nothing behind {ref}")

    def save(self, native: Transcript[Any]) -> SessionRef:
        raise StoreError("nothing can be saved here")

    def delete(self, ref: SessionRef) -> None:
        raise StoreError("nothing can be deleted here")

    def fingerprint(self, ref: SessionRef) -> str:
        return ""
