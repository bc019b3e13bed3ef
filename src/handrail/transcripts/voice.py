"""Whose words may stand where: a model's response never holds a person's."""

from __future__ import annotations

from msgspec.structs import replace

from handrail.transcripts.model import Author, Block, Text


def as_response(content: tuple[Block, ...]) -> tuple[Block, ...]:
    """``content`` of an assistant message, in which no text is a person's: one that claims to be is nobody's.

    The same tuple where there is nothing to change.
    """
    if not any(map(claims_person, content)):
        return content
    return tuple(replace(block, author=Author.UNKNOWN) if claims_person(block) else block for block in content)


def claims_person(block: Block) -> bool:
    """Whether ``block`` is text that says a person wrote it."""
    return type(block) is Text and block.author is Author.PERSON
