"""Collecting what a rollout cannot hold, and which row each message became."""

from __future__ import annotations

from handrail.transcripts.codec import Loss, LossItem
from handrail.transcripts.model import Message


class Losses:
    """The ``Loss`` while it is being made."""

    __slots__ = ("_items", "_uids")

    def __init__(self) -> None:
        self._items: list[LossItem] = []
        self._uids: dict[str, str] = {}

    def session(self, what: str, why: str) -> None:
        self._items.append(LossItem(what=what, why=why))

    def message(self, message: int, what: str, why: str) -> None:
        self._items.append(LossItem(what=what, why=why, message=message))

    def block(self, message: int, block: int, what: str, why: str) -> None:
        self._items.append(LossItem(what=what, why=why, message=message, block=block))

    def wrote(self, message: Message, uid: str) -> None:
        """``message`` begins with the row ``uid``."""
        if message.uid:
            self._uids.setdefault(message.uid, uid)
        for own in message.uids:
            if own:
                self._uids.setdefault(own, uid)

    def finish(self) -> Loss:
        return Loss(items=tuple(self._items), uids=self._uids)
