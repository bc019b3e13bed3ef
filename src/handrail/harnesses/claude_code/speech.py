"""Who speaks in a user row of Claude Code, text by text.

The marker table says what is known not to be a person's. What is left is a person's when the row proves it was
submitted as a prompt (``permissionMode``, ``thinkingMetadata``, ``promptSource``), or when it comes from a version
that kept no such proof. Where a program wrote the prompts, and where proof is missing that should be there, the
author is unknown.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import NamedTuple

from handrail.harnesses.claude_code.envelopes import is_envelope
from handrail.harnesses.claude_code.wire import ABSENT, PROOF_ALWAYS, PROOF_SINCE, Row, RowOrigin
from handrail.harnesses.families.markers import (
    CLAUDE_CODE_INTERRUPTS,
    CLAUDE_CODE_ORIGINS,
    CLAUDE_CODE_TEXTS,
    Marker,
    split_marked,
)
from handrail.transcripts.model import Author, Block, Interrupt, Text, Via

_MAY_BE_MARKED = ("<", "[", "{", "Caveat: ", "Stop ", "Operation ", "Base ", "Unknown ", "Warmup")
_PLAIN_ENDS = frozenset(string.ascii_letters + string.digits + ".,:;!?)'\"`")
_PLAIN_STARTS = _PLAIN_ENDS - {opening[0] for opening in _MAY_BE_MARKED}
"""First and last characters of nearly all texts; where both are met, no marker can begin or end there."""


class Speaker(NamedTuple):
    """Who wrote a text, and how it reached the agent."""

    author: Author
    by: str | None = None
    via: Via | None = None


_PLAN = Speaker(Author.HARNESS, "plan")
_SKILL = Speaker(Author.HARNESS, "skill")
_COMMAND = Speaker(Author.HARNESS, "command")
_PEER = Speaker(Author.PEER)
_PERSON = Author.PERSON
_PROMPT = Speaker(_PERSON, None, Via.PROMPT)
QUEUED = Speaker(_PERSON, None, Via.QUEUE)
STEER = Speaker(_PERSON, None, Via.STEER)
UNKNOWN = Speaker(Author.UNKNOWN)


class Setting(NamedTuple):
    """What a file as a whole says about who writes its prompts.

    ``has_proof``: some row proves a prompt. ``version`` is that of the first row that names one, None when none does.
    ``is_editor``: a person sat at an editor, whose prompts carry no proof.
    """

    is_driven: bool = False
    has_proof: bool = False
    version: tuple[int, ...] | None = None
    is_editor: bool = False

    def accepts_absence(self, version: tuple[int, ...] | None) -> bool:
        """Whether a bare text of a row of ``version`` may be a prompt though nothing proves it."""
        if self.is_editor:
            return True
        if self.has_proof:
            return version is not None and version < PROOF_SINCE
        return self.version is None or self.version < PROOF_ALWAYS


def has_proof(row: Row) -> bool:
    """Whether ``row`` was submitted as a prompt."""
    return row.permissionMode is not None or row.promptSource is not None or row.thinkingMetadata is not ABSENT


def origin_speaker(origin: RowOrigin | None) -> Speaker | None:
    """Who ``origin`` says has spoken; None when it says nothing. A kind that is not known is nobody we know."""
    if origin is None or origin.kind is None:
        return None
    author, by = CLAUDE_CODE_ORIGINS.get(origin.kind, (Author.UNKNOWN, None))
    return Speaker(author, origin.name or by)


def steer_speaker(origin: RowOrigin | None, *, is_driven: bool) -> Speaker:
    """Who wrote a text that was queued and handed to the agent at work."""
    named = origin_speaker(origin)
    if named is not None and named.author is not _PERSON:
        return named
    return UNKNOWN if is_driven and named is None else STEER


def meta_speaker(row: Row) -> Speaker:
    """Who wrote the unmarked text of a user row that the harness itself put in."""
    if row.planContent is not ABSENT:
        return _PLAN
    return _SKILL if row.sourceToolUseID is not None else _COMMAND


def is_plain_prompt(row: Row, setting: Setting) -> bool:
    """Whether ``row_speaker`` is a person by the commonest road: a row of proof that says nothing else of itself."""
    return (
        (row.permissionMode is not None or row.promptSource is not None)
        and not setting.is_driven
        and not row.isMeta
        and not row.isSidechain
        and row.origin is None
        and row.planContent is ABSENT
    )


def row_speaker(row: Row, setting: Setting, version: Callable[[], tuple[int, ...] | None]) -> Speaker:
    """Who wrote the unmarked text of a user row; ``version`` tells what wrote it, asked only where it matters."""
    if row.planContent is not ABSENT:
        return _PLAN
    if row.isMeta:
        return meta_speaker(row)
    named = origin_speaker(row.origin) if row.origin is not None else None
    if named is not None and named.author is not _PERSON:
        return named
    if row.isSidechain:
        return _PEER
    if named is None and setting.is_driven:
        return UNKNOWN
    if named is not None or has_proof(row):
        return QUEUED if row.promptSource == "queued" else _PROMPT
    return _PROMPT if setting.accepts_absence(version() if setting.has_proof else None) else UNKNOWN


def speak(text: str, speaker: Speaker, *, is_typed: bool) -> list[Block]:
    """The blocks of one text of a user row: marked stretches are their markers', the rest is the speaker's.

    ``is_typed`` says that the row proves a prompt, so that words a person could type are not taken for a marker.
    """
    if not text:
        return []
    if is_plain(text):
        author, by, via = speaker
        return [Text(text, author, by, via)]
    if text in CLAUDE_CODE_INTERRUPTS:
        return [Interrupt()]
    pieces = split_marked(text, CLAUDE_CODE_TEXTS, is_typed=is_typed)
    return [_piece(piece, marker, speaker, is_typed) for piece, marker in pieces]


def is_plain(text: str) -> bool:
    """Whether no marker can begin or end ``text``; an empty one is not plain, because it is nothing at all."""
    if not text:
        return False
    if text[0] in _PLAIN_STARTS and text[-1] in _PLAIN_ENDS:
        return True
    return not text.lstrip().startswith(_MAY_BE_MARKED) and not text.rstrip().endswith(">")


def _piece(text: str, marker: Marker | None, speaker: Speaker, is_typed: bool) -> Text:
    if marker is not None:
        return Text(text, marker.author, marker.by)
    if speaker.author is _PERSON and not is_typed and is_envelope(text):
        return Text(text, Author.UNKNOWN)
    return Text(text, speaker.author, speaker.by, speaker.via)
