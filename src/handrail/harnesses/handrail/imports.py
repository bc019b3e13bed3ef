"""A canonical session as events: opened once, every message imported whole; and what JSON has no spelling for."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.journal.events import Event, MessageImported, SessionOpened
from handrail.journal.vocabulary import Actor, ActorKind
from handrail.transcripts.codec import Loss, LossItem
from handrail.transcripts.model import Common, Message, Transcript
from handrail.transcripts.voice import as_response, claims_person

IMPORTER = Actor(ActorKind.HOST, "import")

_JSON_FIELDS = {"ToolUse": ("call", "provider"), "ToolResult": ("content",)}
_NO_SPELLING = "numbers that are none (NaN, infinities) have no JSON; they became null"
_NOBODY = "a model's response holds no person's words; the author became unknown"


def import_session(common: Transcript[Common]) -> tuple[list[Event], Loss]:
    """The events that hold ``common``, and the few things they cannot hold.

    ``RecursionError`` when something in it is nested too deeply to be written at all.
    """
    events = [Event(seq=1, by=IMPORTER, body=SessionOpened(common.meta))]
    items: list[LossItem] = []
    uids: dict[str, str] = {}
    for index, message in enumerate(common.body):
        kept = _writable(message, index, items)
        events.append(Event(seq=index + 2, by=IMPORTER, body=MessageImported(kept)))
        for uid in kept.uids or (kept.uid,):
            if uid:
                uids[uid] = uid
    return events, Loss(items=tuple(items), uids=uids)


def _writable(message: Message, index: int, items: list[LossItem]) -> Message:
    """``message`` as it can be written; what had to change is added to ``items``."""
    if message.role == "assistant":
        for position, block in enumerate(message.content):
            if claims_person(block):
                items.append(LossItem(what="text.author", why=_NOBODY, message=index, block=position))
        message = replace(message, content=as_response(message.content))
    if _has_spelling(message):
        return message
    content = []
    for position, block in enumerate(message.content):
        for field in _JSON_FIELDS.get(type(block).__name__, ()):
            if not _has_spelling(getattr(block, field)):
                block = _respelled(block, field)
                what = f"{block.__struct_config__.tag}.{field}"
                items.append(LossItem(what=what, why=_NO_SPELLING, message=index, block=position))
        content.append(block)
    if not _has_spelling(message.provider):
        message = replace(message, provider=_plain(message.provider))
        items.append(LossItem(what="message.provider", why=_NO_SPELLING, message=index))
    return replace(message, content=tuple(content))


def _has_spelling(value: Any) -> bool:
    try:
        jsonio.canonical(value)
    except ValueError:
        return False
    return True


def _respelled(block: Any, field: str) -> Any:
    value = getattr(block, field)
    plain = _plain(value)
    return replace(block, **{field: msgspec.convert(plain, type(value)) if isinstance(value, Struct) else plain})


def _plain(value: Any) -> Any:
    return jsonio.decode(jsonio.encode(value))
