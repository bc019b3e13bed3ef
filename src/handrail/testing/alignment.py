"""Which block of a session that was read back stands for which block of its source.

A target may drop, join, split and lower blocks, so positions say nothing. The alignment is the one that keeps
order and explains most: equal blocks before blocks of equal words before blocks of one kind, and, where words
repeat, the message that the ``Loss`` says was written for it. Blocks that the ``Loss`` names as gone are paired
last. Any alignment is an honest explanation; the question is only whether there is one in which nothing went
missing unsaid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from handrail.transcripts.calls import render_call
from handrail.transcripts.codec import Loss
from handrail.transcripts.model import (
    Artifact,
    Block,
    Common,
    Compaction,
    Decision,
    Image,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

EMPTY = "message"
"""The kind of the stand-in for a message that holds no blocks."""

_WHOLE = 40_000
"""Pairs of blocks up to which a session is aligned in one piece."""


@dataclass(frozen=True, slots=True)
class Place:
    """A block in its place: ``message`` and ``index`` (None for the stand-in of an empty message)."""

    message: int
    index: int | None
    role: str
    kind: str
    words: object
    block: Block | None
    uids: frozenset[str]


Pair = tuple[Place | None, Place | None]
"""A source block and the one that stands for it; one side is None where there is none."""


def places(body: Common) -> list[Place]:
    """Every block of ``body`` in order; an empty message is one ``EMPTY`` place."""
    return [place for number, message in enumerate(body) for place in _places_of(number, message)]


def align(source: Common, back: Common, loss: Loss) -> list[Pair]:
    """Pairs in order. Every block of both sides is in exactly one of them."""
    here, there = places(source), places(back)
    scorer = _Scorer(loss)
    pairs: list[Pair] = []
    for left, right in _segments(here, there, loss.uids):
        pairs += _align_segment(left, right, scorer.score)
    return pairs


def kind_of(block: Block) -> str:
    """The tag of ``block`` in JSON: ``text``, ``tool_use``, …"""
    return str(type(block).__struct_config__.tag)


def _places_of(number: int, message: Message) -> Iterator[Place]:
    uids = frozenset((message.uid, *message.uids)) - {""}
    if not message.content:
        yield Place(number, None, message.role, EMPTY, None, None, uids)
    for index, block in enumerate(message.content):
        yield Place(number, index, message.role, kind_of(block), _words(block), block, uids)


def _words(block: Block) -> object:
    """What a person would know the block by, whatever else about it changed."""
    match block:
        case Text() | Thinking():
            return block.text
        case ToolUse():
            return render_call(block.call)
        case ToolResult():
            return block.content
        case Image():
            return block.data, block.url
        case Artifact():
            return block.name, block.text, block.data, block.path
        case Compaction():
            return block.summary
        case Decision():
            return block.choice, block.comment, block.before, block.after
        case _:
            return None


class _Scorer:
    """How well one block stands for another; 0 or less means not at all."""

    def __init__(self, loss: Loss) -> None:
        self._written = loss.uids
        self._gone = {(item.message, item.block, item.what) for item in loss.items}

    def score(self, here: Place, there: Place) -> int:
        if here.kind != there.kind:
            return 0
        if here.block == there.block:
            score = 10
        elif here.words == there.words:
            score = 7
        else:
            score = 4
        if here.role != there.role:
            score -= 2
        if any(self._written.get(uid) in there.uids for uid in here.uids):
            score += 2
        if (here.message, here.index, here.kind) in self._gone or (here.message, None, EMPTY) in self._gone:
            score -= 5
        return score


def _align_segment(here: Sequence[Place], there: Sequence[Place], score: Callable[[Place, Place], int]) -> list[Pair]:
    """The order-keeping pairing with the highest sum of scores."""
    rows, columns = len(here), len(there)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    scores = [[score(left, right) for right in there] for left in here]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            skip = max(best[row + 1][column], best[row][column + 1])
            gain = scores[row][column]
            best[row][column] = max(skip, gain + best[row + 1][column + 1]) if gain > 0 else skip
    pairs: list[Pair] = []
    row = column = 0
    while row < rows and column < columns:
        gain = scores[row][column]
        if gain > 0 and best[row][column] == gain + best[row + 1][column + 1]:
            pairs.append((here[row], there[column]))
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            pairs.append((here[row], None))
            row += 1
        else:
            pairs.append((None, there[column]))
            column += 1
    pairs += [(place, None) for place in here[row:]]
    pairs += [(None, place) for place in there[column:]]
    return pairs


def _segments(
    here: Sequence[Place], there: Sequence[Place], written: Mapping[str, str]
) -> Iterator[tuple[Sequence[Place], Sequence[Place]]]:
    """Cut a long session where the ``Loss`` says that a source message opens a target message."""
    if len(here) * len(there) <= _WHOLE:
        yield here, there
        return
    opens: dict[str, int] = {}
    for column, place in enumerate(there):
        for uid in place.uids:
            opens.setdefault(uid, column)
    start_here = start_there = 0
    for row, place in enumerate(here):
        if row and here[row - 1].message == place.message:
            continue
        targets = [opens[uid] for uid in (written.get(uid, "") for uid in place.uids) if uid in opens]
        if targets and min(targets) > start_there and there[min(targets) - 1].message != there[min(targets)].message:
            yield here[start_here:row], there[start_there : min(targets)]
            start_here, start_there = row, min(targets)
    yield here[start_here:], there[start_there:]
