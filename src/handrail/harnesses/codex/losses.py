"""Collecting what a rollout cannot hold.

What a message has no place for can be told from the message alone, so it is only looked for when the ``Loss`` is
asked for. The rest is named by the writers as they meet it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handrail.transcripts.codec import Loss, LossItem
from handrail.transcripts.model import Common, Message


class Losses:
    """The ``Loss`` while it is being made."""

    __slots__ = ("_items", "_kept", "_told")

    def __init__(self) -> None:
        self._items: list[LossItem] = []
        self._told: set[int] = set()
        self._kept: dict[int, Sequence[int]] = {}

    def session(self, what: str, why: str) -> None:
        """Name something of the session."""
        self._items.append(LossItem(what=what, why=why))

    def message(self, message: int, what: str, why: str) -> None:
        """Name something of a message."""
        self._items.append(LossItem(what=what, why=why, message=message))

    def block(self, message: int, place: int, what: str, why: str) -> None:
        """Name something of a block: of those of ``message`` that are written, the one in ``place``."""
        kept = self._kept.get(message)
        block = place if kept is None else kept[place]
        self._items.append(LossItem(what=what, why=why, message=message, block=block))

    def are_kept(self, message: int, blocks: Sequence[int]) -> None:
        """Of ``message`` only the blocks with the indices ``blocks`` are written."""
        self._kept[message] = blocks

    def is_told(self, message: int) -> None:
        """The stop reason of ``message`` is told: the mark of an aborted turn follows."""
        self._told.add(message)

    def finish(self, body: Common, written: Sequence[Message], uids: Sequence[str]) -> Loss:
        """The loss of ``body``; ``uids`` are those of the rows that the messages ``written`` begin with."""
        found: dict[str, str] = {}
        for message, uid in zip(written, uids, strict=True):
            for own in (message.uid, *message.uids):
                if own:
                    found.setdefault(own, uid)
        fields = [
            LossItem(what=f"message.{field}", why=why, message=index)
            for index, message in enumerate(body)
            for field, why in _lost_fields(message, index in self._told)
        ]
        items = sorted(fields + self._items, key=lambda item: -1 if item.message is None else item.message)
        return Loss(items=tuple(items), uids=found)


def _lost_fields(message: Message, is_told: bool) -> Iterator[tuple[str, str]]:
    """The fields of ``message`` that have no place, and why; ``is_told`` when its stop reason has one."""
    if message.taint is not None:
        yield "taint", "Codex does not record it"
    if message.provider is not None:
        yield "provider", "provider state means nothing to another harness"
    if message.origin is not None:
        yield "origin", "the session is written as one of its own"
    if message.stop_reason is not None and not is_told:
        yield "stop_reason", "Codex does not record it"
    if message.role == "user":
        if message.model is not None:
            yield "model", "a user's message has no model in Codex"
        if message.usage is not None:
            yield "usage", "a user's message has no usage in Codex"
