"""What is read otherwise where there is no event log: who wrote a user's item, and what was written together.

No ``user_message`` event proves that a text was typed. Before the envelope Codex wrote two texts of its own in the
user's place, which are known by their openings; every other text was submitted as a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from handrail.harnesses.codex import deliveries, responses, speakers
from handrail.harnesses.codex.bare import BareRow, HeaderRow
from handrail.harnesses.codex.boundaries import session_meta
from handrail.harnesses.codex.elements import elements_of
from handrail.harnesses.codex.gathering import Gathering
from handrail.harnesses.codex.item_kinds import Element, Message
from handrail.harnesses.codex.reading import TABLE, Table
from handrail.harnesses.codex.wire import Batch, SessionMeta
from handrail.transcripts.model import Author, Text


def is_prompt(elements: Sequence[Element]) -> bool:
    """Whether an item of the user's was submitted as a prompt: the harness and other agents did not write it."""
    if speakers.is_interrupt(elements):
        return False
    blocks = speakers.read_untyped(elements)
    return bool(blocks) and all(type(block) is not Text or block.author is Author.UNKNOWN for block in blocks)


def _message(gathering: Gathering, payload: Message) -> None:
    if payload.role == "assistant":
        responses.said(gathering, payload)
    elif payload.role == "user":
        elements = elements_of(payload.content)
        if isinstance(gathering.row, BareRow) and is_prompt(elements):
            deliveries.typed(gathering, elements, payload.id or None)
        else:
            deliveries.told(gathering, payload)


def _header(gathering: Gathering, payload: SessionMeta) -> None:
    """The first one says whose the rows are. None was ever written for a copied history."""
    if gathering.own_id is None or not isinstance(gathering.row, HeaderRow):
        session_meta(gathering, payload)


def _batch(gathering: Gathering, payload: Batch) -> None:
    gathering.close()


TABLE_BARE: Table = {**TABLE, Message: _message, SessionMeta: _header, Batch: _batch}
"""What reads each kind of row in a rollout from before the envelope."""
