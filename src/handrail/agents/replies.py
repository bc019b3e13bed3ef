"""A model's reply as it is recorded: checked, since a model is other people's code, and one call an id."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec.structs import replace

from handrail.agents.containment import misfit
from handrail.harnesses.families.writable import writable
from handrail.models.errors import MalformedReply
from handrail.models.port import ModelReply
from handrail.transcripts.model import Artifact, Block, Image, Message, Text, Thinking, ToolUse

_SAID = (Text, Thinking, ToolUse, Image, Artifact)
"""What a response can hold. The rest (results, decisions, interrupts) is what others do, and no model's to claim."""


def recordable(reply: ModelReply) -> ModelReply:
    """``reply`` as the journal keeps it; ``MalformedReply`` where it could not be read again or speaks for others."""
    if not isinstance(reply.message, Message):
        raise MalformedReply(f"the reply holds no message but {type(reply.message).__name__}")
    if problem := misfit(reply):
        raise MalformedReply(f"the reply does not fit: {problem}")
    foreign = next((block for block in reply.message.content if not isinstance(block, _SAID)), None)
    if foreign is not None:
        raise MalformedReply(f"the reply holds a {type(foreign).__name__}, which no response can")
    message = writable(reply.message, 0, [])
    cost = reply.cost if reply.cost is not None and math.isfinite(reply.cost) else None
    return replace(reply, message=replace(message, content=tuple(_distinct(message.content))), cost=cost)


def _distinct(content: tuple[Block, ...]) -> Iterator[Block]:
    """``content`` with an id of its own for each call: some servers give all calls of a response the same."""
    taken: set[str] = {block.id for block in content if isinstance(block, ToolUse)}
    seen: set[str] = set()
    for block in content:
        if isinstance(block, ToolUse) and block.id in seen:
            block = replace(block, id=_free(block.id, taken))
            taken.add(block.id)
        if isinstance(block, ToolUse):
            seen.add(block.id)
        yield block


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
