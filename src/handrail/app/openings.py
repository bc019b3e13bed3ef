"""How a session begins: the first words a person typed, for listings of sessions that nobody gave a title."""

from __future__ import annotations

from pathlib import Path

from handrail.app.machine import Machine
from handrail.errors import StoreError
from handrail.harnesses.handrail.store import HandrailStore
from handrail.library.catalog import is_subagent
from handrail.transcripts.codec import SessionRef, is_person
from handrail.transcripts.model import Text

HEAD_BYTES = 1 << 18
HEAD_LINES = 50
MAX_CHARS = 200


def find_opening(machine: Machine, ref: SessionRef) -> str | None:
    """The first words of a person in the head of the session behind ``ref``, cut to ``MAX_CHARS``.

    To a sub-agent nobody but another agent speaks: there the first words are that one's. None when the head holds
    none, or when it cannot be read.
    """
    head = _read_lines(machine, ref) or _read_head(ref.locator)
    if not head:
        return None
    codec = machine.infos[ref.harness].codec
    for message in codec.to_common(codec.parse(head)).body:
        for block in message.content:
            if isinstance(block, Text) and (is_person(block) or is_subagent(ref)) and block.text.strip():
                return block.text.strip()[:MAX_CHARS]
    return None


def _read_lines(machine: Machine, ref: SessionRef) -> bytes | None:
    """The first events of a journal that is no file."""
    store = machine.stores[ref.harness]
    try:
        lines = store.lines(ref, limit=HEAD_LINES) if isinstance(store, HandrailStore) else None
    except StoreError:
        return None
    return None if lines is None else b"\n".join(lines)


def _read_head(locator: str) -> bytes:
    """The whole lines among the first ``HEAD_BYTES`` of a file, all of it when it is smaller."""
    try:
        with Path(locator).open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except (OSError, ValueError):
        return b""
    return head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1]
