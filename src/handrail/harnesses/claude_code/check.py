"""What reads back otherwise although it was written: the rest of a ``Loss``.

The writer names what it leaves out. But a text may happen to look like a marker, two deliveries may read as one,
a mark may be followed by a prompt. Instead of foretelling each of these, what was written is read and compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from handrail.harnesses.claude_code.written import Written
from handrail.transcripts.codec import LossItem
from handrail.transcripts.compare import differing_fields, is_covered
from handrail.transcripts.model import Block, Common, Message, Meta, Transcript

_META_FREE = frozenset({"harness"})
_MESSAGE_FREE = frozenset({"uid", "uids", "content"})
_WHYS = {
    "message.taint": "rows do not record what had entered the conversation",
    "message.provider": "state of another provider",
    "message.timestamp": "this row has no time of its own",
    "message.is_bridged": "written as one chain: no parent is missing",
    "meta.timestamp": "a session starts with its first turn here",
    "meta.model": "the model is that of the first response here",
    "meta.parent": "a session names no parent here",
}


def unnamed_losses(written: Written, back: Transcript[Common]) -> Iterator[LossItem]:
    """The differences between what was given to the writer and ``back`` that the writer has not named.

    Each is named by the field that differs, inside of structs too. What the writer named, or named as part of
    something larger, is not named again.
    """
    yield from _meta(written.meta, back.meta)
    named: defaultdict[tuple[int | None, int | None], set[str]] = defaultdict(set)
    for item in written.losses:
        named[item.message, item.block].add(item.what)
    for group, messages in _groups(written, back.body):
        for item in _compare(written, group, messages):
            here = named[item.message, None] | named[item.message, item.block]
            if not any(is_covered(item.what, name) for name in here):
                yield item


def _meta(was: Meta, became: Meta) -> Iterator[LossItem]:
    for what, _, _ in differing_fields("meta", was, became, _META_FREE):
        yield _item(what, None)


def _groups(written: Written, back: Common) -> Iterator[tuple[list[int], list[Message]]]:
    """Source messages with the messages they read back as; those that share one stand together."""
    place = {uid: index for index, message in enumerate(back) for uid in message.uids}
    group: list[int] = []
    read: list[int] = []
    for index, own in enumerate(written.row_ids):
        found = sorted({place[uid] for uid in own if uid in place})
        if group and (not found or not read or found[0] > read[-1]):
            yield group, [back[at] for at in read]
            group, read = [], []
        group.append(index)
        read += [at for at in found if at not in read]
    if group:
        yield group, [back[at] for at in read]


def _compare(written: Written, group: list[int], read: list[Message]) -> Iterator[LossItem]:
    kept = [
        (index, at, block)
        for index in group
        for at, block in enumerate(written.body[index].content)
        if (index, at) not in written.dropped
    ]
    blocks = [block for message in read for block in message.content]
    if len(kept) != len(blocks):
        for index in group:
            if written.row_ids[index] or written.body[index].content:
                yield _item("message", index, why="it reads back as other blocks")
        return
    if len(group) > 1 or len(read) > 1:
        for index in group:
            yield _item("message.boundary", index, why="it reads back split, or joined to another delivery")
    for (index, at, was), became in zip(kept, blocks, strict=True):
        yield from _block(index, at, was, became)
    for index in group:
        if read and written.row_ids[index]:
            yield from _message(index, written.body[index], _first_of(read, written.row_ids[index]))


def _first_of(read: Sequence[Message], own: Sequence[str]) -> Message:
    return next((message for message in read if not set(own).isdisjoint(message.uids)), read[0])


def _message(index: int, was: Message, became: Message) -> Iterator[LossItem]:
    for what, _, _ in differing_fields("message", was, became, _MESSAGE_FREE):
        yield _item(what, index)


def _block(index: int, at: int, was: Block, became: Block) -> Iterator[LossItem]:
    if was == became and repr(was) == repr(became):
        return
    kind = str(was.__struct_config__.tag)
    if type(was) is not type(became):
        yield _item(kind, index, at, "it reads back as another kind of block")
        return
    for what, _, _ in differing_fields(kind, was, became):
        yield _item(what, index, at)


def _item(what: str, message: int | None, block: int | None = None, why: str | None = None) -> LossItem:
    return LossItem(what=what, why=why or _WHYS.get(what, "it reads back otherwise"), message=message, block=block)
