"""Collecting what a rollout cannot hold, and which row each message became."""

from __future__ import annotations

from handrail.transcripts.codec import Loss, LossItem
from handrail.transcripts.model import Message


class Losses:
    """The ``Loss`` while it is being made; its items are only built when it is asked for."""

    __slots__ = ("_items", "_written")

    def __init__(self) -> None:
        self._items: list[tuple[int | None, int | None, str, str]] = []
        self._written: list[tuple[Message, int]] = []

    def session(self, what: str, why: str) -> None:
        self._items.append((None, None, what, why))

    def message(self, message: int, what: str, why: str) -> None:
        self._items.append((message, None, what, why))

    def block(self, message: int, block: int, what: str, why: str) -> None:
        self._items.append((message, block, what, why))

    def wrote(self, message: Message, row: int) -> None:
        """``message`` begins with the row ``row``, an index into the uids that ``finish`` is given."""
        self._written.append((message, row))

    def finish(self, uids: list[str]) -> Loss:
        """The loss; ``uids`` are those of the rows that were written."""
        found: dict[str, str] = {}
        for message, row in self._written:
            if message.uid:
                found.setdefault(message.uid, uids[row])
            for own in message.uids:
                if own:
                    found.setdefault(own, uids[row])
        items = [LossItem(what=what, why=why, message=at, block=block) for at, block, what, why in self._items]
        return Loss(items=tuple(items), uids=found)
