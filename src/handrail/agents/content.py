"""What a host may hand over as words: a string, a block, or several blocks; and whose words they become."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec.structs import replace

from handrail.transcripts.model import Artifact, Author, Block, Image, Text, Via

Content: TypeAlias = str | Block | Iterable[Block]
"""Words, or blocks of words, pictures and files."""

_GIVEN = (Text, Image, Artifact)


def blocks_of(content: Content, author: Author, via: Via | None = None, by: str | None = None) -> tuple[Block, ...]:
    """``content`` as blocks that ``author`` gave; a text that names its author already keeps it.

    Texts without a visible character are left out. ``TypeError`` for a block that nobody can hand over (a call, a
    result, a decision …).
    """
    if isinstance(content, str):
        given: tuple[object, ...] = (Text(content),)
    else:
        given = (content,) if isinstance(content, _GIVEN) else tuple(content)  # type: ignore[arg-type]
    return tuple(
        _owned(block, author, via, by) for block in given if not (isinstance(block, Text) and not block.text.strip())
    )


def _owned(block: object, author: Author, via: Via | None, by: str | None) -> Block:
    if not isinstance(block, _GIVEN):
        raise TypeError(f"{type(block).__name__} cannot be handed over: give words, pictures or files")
    if not isinstance(block, Text):
        return block
    if block.author is Author.UNKNOWN:
        return replace(block, author=author, by=block.by or by, via=block.via or via)
    return replace(block, via=block.via or via)


def words_of(blocks: Iterable[Block]) -> str:
    """The texts of ``blocks``, one paragraph each."""
    return "\n\n".join(block.text for block in blocks if type(block) is Text)
