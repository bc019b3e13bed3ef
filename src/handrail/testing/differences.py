"""What two canonical sessions differ in, and whether a ``Loss`` accounts for it.

Used as a property: write a session for another harness, read it back, compare. Whatever differs must have been
named. ``uid``, ``uids``, ``is_bridged``, the harness and the parent are expected to differ and are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handrail.testing.alignment import Pair, Place, align
from handrail.transcripts.codec import Loss, LossItem
from handrail.transcripts.compare import differing_fields, is_covered
from handrail.transcripts.model import Common, Message, Meta, Transcript

_META_FREE = frozenset({"harness", "parent"})
_MESSAGE_FREE = frozenset({"uid", "uids", "content", "is_bridged"})

BOUNDARY = "message.boundary"
"""What differs when a message was split in two or joined to the one before it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was.

    ``what`` is a dotted name in the model, down to the field that differs (``meta.title``, ``text.author``,
    ``tool_result.refusal.reason``; a kind alone when the whole block is gone or new). ``message`` and ``block`` are
    indices in the source, None where it has none.
    ``was`` and ``became`` are the two values, None for absence.
    """

    what: str
    message: int | None
    block: int | None
    was: object
    became: object

    def __str__(self) -> str:
        place = "" if self.message is None else f" in message {self.message}"
        place += "" if self.block is None else f", block {self.block}"
        return f"{self.what}{place}: {self.was!r:.300} became {self.became!r:.300}"


def differences(
    source: Transcript[Common], back: Transcript[Common], loss: Loss | None = None
) -> tuple[Difference, ...]:
    """Every difference between ``source`` and what was read back of it.

    ``loss`` only helps to find which block stands for which; nothing is left out because of it.
    """
    pairs = align(source.body, back.body, Loss() if loss is None else loss)
    found = [*_meta(source.meta, back.meta), *_blocks(pairs), *_boundaries(pairs)]
    for here, there in _first_meetings(pairs):
        found += _messages(here, source.body[here], back.body[there])
    return tuple(found)


def unaccounted(loss: Loss, found: Sequence[Difference]) -> tuple[Difference, ...]:
    """Those of ``found`` that ``loss`` does not name."""
    return tuple(difference for difference in found if not any(_names(item, difference) for item in loss.items))


def accounts_for(loss: Loss, found: Sequence[Difference]) -> bool:
    """Whether ``loss`` names every one of ``found``."""
    return not unaccounted(loss, found)


def unfounded(loss: Loss, found: Sequence[Difference]) -> tuple[LossItem, ...]:
    """Items of ``loss`` that name none of ``found``: a loss that cries wolf is not read.

    Only exact claims are judged: of a field of the session or of a message, and of a block by its index. What is
    not compared may be named all the same, and so may the fields of a block that is gone and of its message.
    """
    free = (*(f"meta.{field}" for field in _META_FREE), *(f"message.{field}" for field in _MESSAGE_FREE))
    gone = {(difference.message, difference.block) for difference in found if "." not in difference.what}
    hurt = {message for message, _ in gone}

    def is_judged(item: LossItem) -> bool:
        if any(is_covered(item.what, name) for name in free):
            return False
        if item.what.startswith("message."):
            return item.message not in hurt
        if item.block is not None:
            return (item.message, item.block) not in gone
        return item.what.startswith("meta.")

    return tuple(
        item for item in loss.items if is_judged(item) and not any(_names(item, difference) for difference in found)
    )


def _names(item: LossItem, difference: Difference) -> bool:
    """An item covers its own field and all below it, at its own place and all inside it.

    ``message`` alone covers a message with all its blocks.
    """
    if item.message is not None and item.message != difference.message:
        return False
    if item.block is not None and item.block != difference.block:
        return False
    return is_covered(difference.what, item.what)


def _meta(was: Meta, became: Meta) -> Iterator[Difference]:
    for what, old, new in differing_fields("meta", was, became, _META_FREE):
        yield Difference(what, None, None, old, new)


def _messages(number: int, was: Message, became: Message) -> Iterator[Difference]:
    for what, old, new in differing_fields("message", was, became, _MESSAGE_FREE):
        yield Difference(what, number, None, old, new)


def _blocks(pairs: Sequence[Pair]) -> Iterator[Difference]:
    """Changed and missing blocks, and new ones that stand for no missing one."""
    position: int | None = None
    missing = False
    extra: list[Place] = []
    for here, there in [*pairs, (None, None)]:
        if here is not None and there is not None:
            if here.block is not None and there.block is not None:
                for what, old, new in differing_fields(here.kind, here.block, there.block):
                    yield Difference(what, here.message, here.index, old, new)
        elif here is not None:
            yield Difference(here.kind, here.message, here.index, here.block, None)
            missing = True
        elif there is not None:
            extra.append(there)
            continue
        if here is None or there is not None:
            if not missing:
                yield from (Difference(place.kind, position, None, None, place.block) for place in extra)
            missing, extra = False, []
        position = position if here is None else here.message


def _meetings(pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    """Pairs of messages that share a block, in order, each once."""
    met = dict.fromkeys((here.message, there.message) for here, there in pairs if here and there)
    return list(met)


def _first_meetings(pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    first: dict[int, int] = {}
    for here, there in _meetings(pairs):
        first.setdefault(here, there)
    return list(first.items())


def _boundaries(pairs: Sequence[Pair]) -> Iterator[Difference]:
    halves: dict[int, int] = {}
    whole: dict[int, int] = {}
    for here, there in _meetings(pairs):
        if here in halves:
            yield Difference(BOUNDARY, here, None, "one message", "several")
        if there in whole:
            yield Difference(BOUNDARY, here, None, "a message of its own", f"joined to message {whole[there]}")
        halves[here] = there
        whole[there] = here
