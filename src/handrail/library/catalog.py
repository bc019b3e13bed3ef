"""The union of all stores: what sessions there are, and which one a person means.

Stores answer from heads and tails; nothing here reads a session whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from handrail.errors import AmbiguousSession, HandrailError, SessionNotFound
from handrail.transcripts.codec import SessionRef, Store

_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)
_SHOWN_CANDIDATES = 10


class Unread(Struct, frozen=True, kw_only=True, gc=False):
    """Something that could not be read: ``where`` names the store or the session, ``message`` says why."""

    harness: str
    where: str
    message: str


class Catalog(Struct, frozen=True):
    """Every session that was found, newest first (those of unknown time last), and the stores that failed."""

    sessions: tuple[SessionRef, ...] = ()
    unread: tuple[Unread, ...] = ()

    def top_level(self) -> Iterator[SessionRef]:
        """The sessions a person started: all but sub-agents."""
        return (ref for ref in self.sessions if not is_subagent(ref))

    def subagents(self) -> dict[tuple[str, str], list[SessionRef]]:
        """Sub-agent sessions by ``(harness, id of the parent)``, newest first."""
        found: dict[tuple[str, str], list[SessionRef]] = {}
        for ref in self.sessions:
            if ref.parent is not None and is_subagent(ref):
                found.setdefault((ref.harness, ref.parent.session), []).append(ref)
        return found

    def of_harness(self, harness: str | None) -> Catalog:
        """Only the sessions of ``harness``; all of them for None."""
        if harness is None:
            return self
        return Catalog(tuple(ref for ref in self.sessions if ref.harness == harness), self.unread)

    def find_exact(self, needle: str) -> SessionRef | None:
        """The session whose id is ``needle``, else the one with that title; None when there is none.

        Copies of one id (the same session in two folders) count once, the newest stands for them.
        ``AmbiguousSession`` when several sessions share the title.
        """
        if not needle:
            return None
        by_id = _distinct(ref for ref in self.sessions if ref.id == needle)
        if by_id:
            return _the_one(by_id, f"the id {needle!r}")
        by_title = _distinct(ref for ref in self.sessions if ref.meta.title == needle)
        return _the_one(by_title, f"the title {needle!r}") if by_title else None

    def find_prefix(self, needle: str) -> SessionRef | None:
        """The one session whose id starts with ``needle``; None when there is none, an error for several."""
        if not needle:
            return None
        found = _distinct(ref for ref in self.sessions if ref.id.startswith(needle))
        return _the_one(found, f"ids that start with {needle!r}") if found else None

    def short_ids(self, at_least: int = 8) -> dict[str, str]:
        """For each id its shortest prefix that no other id starts with, ``at_least`` characters long."""
        ids = sorted({ref.id for ref in self.sessions})
        short: dict[str, str] = {}
        for index, own in enumerate(ids):
            neighbours = ids[max(0, index - 1) : index] + ids[index + 1 : index + 2]
            needed = max((_shared_length(own, other) + 1 for other in neighbours), default=0)
            short[own] = own[: max(at_least, needed)]
        return short


def is_subagent(ref: SessionRef) -> bool:
    """Whether another session started this one as its sub-agent."""
    return ref.parent is not None and ref.parent.kind == "subagent"


def discover(stores: Mapping[str, Store[Any]]) -> Catalog:
    """The sessions of all ``stores`` (by harness name), newest first, stable; of unknown time last.

    A store that fails contributes what it gave before and is reported in ``unread``.
    """
    found: list[SessionRef] = []
    unread: list[Unread] = []
    for name, store in stores.items():
        try:
            for ref in store.discover():
                found.append(ref)
        except (HandrailError, OSError, ValueError) as problem:
            unread.append(Unread(harness=name, where=f"the {name} store", message=str(problem)))
    found.sort(key=lambda ref: ref.meta.timestamp or _BEFORE_ALL, reverse=True)
    return Catalog(tuple(found), tuple(unread))


def not_found(needle: str, harness: str | None) -> SessionNotFound:
    """The error for a reference that nothing answers to, in the words of who asked."""
    among = f" of {harness}" if harness else ""
    also = ", and there is no such file" if "/" in needle or "\\" in needle else ""
    return SessionNotFound(f"no session{among} answers to {needle!r}{also}", hint="`handrail ls` lists what there is")


def _distinct(refs: Iterable[SessionRef]) -> list[SessionRef]:
    first: dict[tuple[str, str], SessionRef] = {}
    for ref in refs:
        first.setdefault((ref.harness, ref.id), ref)
    return list(first.values())


def _the_one(found: list[SessionRef], what: str) -> SessionRef:
    if len(found) == 1:
        return found[0]
    lines = [f"{ref.harness} {ref.id} {ref.meta.title or ''}".rstrip() for ref in found[:_SHOWN_CANDIDATES]]
    if len(found) > _SHOWN_CANDIDATES:
        lines.append(f"and {len(found) - _SHOWN_CANDIDATES} more")
    raise AmbiguousSession(
        f"{len(found)} sessions answer to {what}: {'; '.join(lines)}",
        hint="say more of the id, or which harness with --from",
    )


def _shared_length(first: str, second: str) -> int:
    length = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        length += 1
    return length
