"""A canonical session as events: opened once, every message imported whole."""

from __future__ import annotations

from handrail.harnesses.families.writable import writable
from handrail.journal.events import Event, MessageImported, SessionOpened
from handrail.journal.vocabulary import Actor, ActorKind
from handrail.transcripts.codec import Loss, LossItem
from handrail.transcripts.model import Common, Transcript

IMPORTER = Actor(ActorKind.HOST, "import")


def import_session(common: Transcript[Common]) -> tuple[list[Event], Loss]:
    """The events that hold ``common``, and the few things they cannot hold.

    ``RecursionError`` when something in it is nested too deeply to be written at all.
    """
    items: list[LossItem] = []
    body = tuple(writable(message, index, items) for index, message in enumerate(common.body))
    uids = {uid: uid for message in body for uid in message.uids or (message.uid,) if uid}
    opened = Event(seq=1, by=IMPORTER, body=SessionOpened(common.meta))
    imported = [Event(seq=index, by=IMPORTER, body=MessageImported(message)) for index, message in enumerate(body, 2)]
    return [opened, *imported], Loss(items=tuple(items), uids=uids)
