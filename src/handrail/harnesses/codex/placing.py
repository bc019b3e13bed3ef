"""Which blocks of a message have a place in a rollout, and why the others have none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from handrail.harnesses.codex.losses import Losses
from handrail.transcripts.model import (
    Author,
    Block,
    Common,
    Compaction,
    Image,
    Interrupt,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

_NEVER_TURNS = frozenset({Author.HARNESS, Author.HOST})


class Placing:
    """Tells the blocks of one session's messages, which it is asked for in their order."""

    __slots__ = ("_losses", "_refused")

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._refused: set[str] = set()

    def placed(self, index: int, message: Message) -> Sequence[Block]:
        """The blocks of ``message`` that have a place in Codex; the others are named as lost."""
        why_not = self._why_not_said if message.role == "assistant" else self._why_not_told
        for block in message.content:
            if why_not(block) is not None:
                return self._sorted_out(index, message.content, why_not)
        return message.content

    def _sorted_out(self, index: int, content: Sequence[Block], why_not: Callable[[Block], str | None]) -> list[Block]:
        kept: list[int] = []
        for number, block in enumerate(content):
            why = why_not(block)
            if why is None:
                kept.append(number)
            else:
                self._leave(block)
                self._losses.block(index, number, kind_of_block(block), why)
        self._losses.are_kept(index, kept)
        return [content[number] for number in kept]

    def _leave(self, block: Block) -> None:
        """``block`` is not written; if it is a call, neither will its result be."""
        if type(block) is ToolUse:
            self._refused.add(block.id)

    def is_cut_short(self, body: Common, index: int) -> bool:
        """Whether the first thing written after message ``index`` is the mark of an aborted turn, and the response
        is still open then: nothing of it was counted."""
        if body[index].usage is not None:
            return False
        for following in range(index + 1, len(body)):
            message = body[following]
            why_not = self._why_not_said if message.role == "assistant" else self._why_not_told
            for block in message.content:
                if type(block) is Interrupt and message.role == "user":
                    return True
                if why_not(block) is None:
                    return False
                self._leave(block)
        return False

    def _why_not_said(self, block: Block) -> str | None:
        if type(block) is Text:
            if block.author in _NEVER_TURNS:
                return "what a harness or a host wrote is no response of the model"
            return None if block.text else "Codex has no empty text"
        if type(block) is ToolUse or type(block) is Thinking:
            return None
        return "Codex has no such block in a response"

    def _why_not_told(self, block: Block) -> str | None:
        if type(block) is ToolResult:
            is_answer = block.tool_use_id in self._refused
            return "the result of a call that could not be written" if is_answer else None
        if type(block) is Text:
            if block.author in _NEVER_TURNS:
                return "what a harness or a host wrote is never written as a user's turn"
            return None if block.text else "Codex has no empty text"
        if type(block) is ToolUse:
            return "a call that a person made has no place in Codex"
        if type(block) is Image:
            return None if block.data or block.url else "an image without data"
        if type(block) is Interrupt or type(block) is Compaction:
            return None
        return "Codex has no such block"


def kind_of_block(block: Block) -> str:
    """The kind of ``block`` as a ``Loss`` names it."""
    return str(type(block).__struct_config__.tag)
