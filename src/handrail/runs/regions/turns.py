"""The conversation as turns that stay whole: where it may be cut, what is cut, and what could not be sent anyway."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.blueprints.regions import Sliding
from handrail.journal.vocabulary import RegionEntry
from handrail.runs.regions.size import Estimate, size_bytes
from handrail.transcripts.model import Block, Command, Image, Message, Text, Thinking, ToolResult, ToolUse

_IMAGE_BYTES = 6_000
"""What a picture counts for, whatever its size on disk: providers scale it down to some 1,500 tokens."""

_STEPS = 4
"""A conversation that outgrows its budget is cut by whole quarters of it, so that its start moves seldom."""


Place: TypeAlias = tuple[int, int]
"""A block: the index of its message, and its own in it."""


class Turn(Struct, frozen=True, gc=False):
    """Messages ``start`` to ``end`` (half-open) that leave together: a response with its results, or a delivery."""

    start: int
    end: int


def without_orphans(messages: Sequence[Message]) -> tuple[Message, ...]:
    """``messages`` without calls that have no result, results that have no call, and what is then empty.

    A provider refuses a request with either half alone. Of an id used twice the nearest halves belong together.
    """
    pairs = _pairs(messages)
    kept: list[Message] = []
    for index, message in enumerate(messages):
        content = tuple(block for at, block in enumerate(message.content) if _is_sendable(block, (index, at), pairs))
        if content:
            kept.append(message if len(content) == len(message.content) else replace(message, content=content))
    return tuple(kept)


def _is_sendable(block: Block, place: Place, pairs: dict[Place, Place]) -> bool:
    return place in pairs or not (_is_call(block) or type(block) is ToolResult)


def _is_call(block: Block) -> TypeGuard[ToolUse]:
    """Whether ``block`` is a call that a model made; a command that a person ran is answered by nobody."""
    return type(block) is ToolUse and type(block.call) is not Command


def _pairs(messages: Sequence[Message]) -> dict[Place, Place]:
    """The place of each call that was answered with that of its result, and the other way round."""
    pairs: dict[Place, Place] = {}
    waiting: dict[str, Place] = {}
    for index, message in enumerate(messages):
        for at, block in enumerate(message.content):
            if _is_call(block):
                waiting[block.id] = (index, at)
            elif type(block) is ToolResult and (call := waiting.pop(block.tool_use_id, None)) is not None:
                pairs[call] = (index, at)
                pairs[(index, at)] = call
    return pairs


def turns_of(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """The turns of ``messages``: no call is in another turn than its result."""
    return tuple(Turn(start, end) for start, end in pairwise(_cuts(messages)))


def _cuts(messages: Sequence[Message]) -> Iterator[int]:
    """Every place before, between and after ``messages`` that separates no call from its result."""
    furthest: dict[int, int] = {}
    for (index, _), (other, _) in _pairs(messages).items():
        furthest[index] = max(furthest.get(index, 0), other)
    reach = 0
    for index in range(len(messages)):
        if index >= reach:
            yield index
        reach = max(reach, furthest.get(index, 0) + 1)
    yield len(messages)


def first_kept(region: Sliding, turns: Sequence[Turn], tokens: Sequence[int], budget: int) -> int:
    """The index of the first of ``turns`` that ``region`` shows; ``tokens`` are those of each turn.

    The newest turn is always shown, whatever its size: there is nothing to ask without it.
    """
    by_count = _dropped_by_count(region, len(turns))
    by_size = _dropped_by_size(tokens, budget)
    return min(max(by_count, by_size), max(len(turns) - 1, 0))


def _dropped_by_count(region: Sliding, count: int) -> int:
    match region.strategy:
        case "per_item":
            return max(count - region.max_items, 0)
        case "bulk":
            # Each time one too many has gathered, as many as gathered are dropped: a step for each time so far.
            step = region.overflow + 1
            over = count - region.max_items - region.overflow
            return step * -(-over // step) if over > 0 else 0
        case "compact":
            return 0


def _dropped_by_size(tokens: Sequence[int], budget: int) -> int:
    """How many of the oldest turns are too much for ``budget``, dropped a good piece at a time."""
    over = sum(tokens) - budget
    if over <= 0:
        return 0
    step = max(budget // _STEPS, 1)
    to_drop = -(-over // step) * step
    dropped = 0
    for count, size in enumerate(tokens, 1):
        dropped += size
        if dropped >= to_drop:
            return count
    return len(tokens)


def covered_turns(entries: Sequence[RegionEntry], messages: Sequence[Message], turns: Sequence[Turn]) -> int:
    """How many of ``turns`` the last of ``entries``, the summary of the conversation, stands for.

    It is kept under the uid of the last message it sums up, behind what people said by then. Where that message is
    gone, or the conversation went back to before it, it stands for nothing. For the newest turn none ever stands.
    """
    through = entries[-1].key if entries else None
    last = next((at for at, message in enumerate(messages) if through and message.uid == through), None)
    return 0 if last is None else sum(turn.end <= last + 1 for turn in turns[:-1])


def turns_before(turns: Sequence[Turn], index: int) -> int:
    """How many of ``turns`` begin before message ``index``."""
    return sum(turn.start < index for turn in turns)


def turn_tokens(messages: Sequence[Message], turn: Turn, estimate: Estimate) -> int:
    """The tokens of ``turn`` as it is sent, roughly."""
    return sum(estimate.of_bytes(message_bytes(message)) for message in messages[turn.start : turn.end])


def message_bytes(message: Message) -> int:
    """The bytes of what ``message`` says; a picture counts for what a model sees of it."""
    return sum(map(_block_bytes, message.content))


def _block_bytes(block: Block) -> int:
    match block:
        case Text() | Thinking():
            return size_bytes(block.text)
        case ToolResult(content=str() as content):
            return size_bytes(content)
        case Image():
            return _IMAGE_BYTES
        case _:
            return len(jsonio.encode(block))
