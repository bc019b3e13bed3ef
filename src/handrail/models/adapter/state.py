"""What a reply holds that means something to its provider only, as it is kept in ``Message.provider``.

``{"origin": …, "id": …, "details": …, "blocks": {"0": {"id": …, "details": …}}}``: a block has an entry when the
adapter made it, so a reply that came from elsewhere has none and nothing of it is sent back as if it had.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from handrail.transcripts.model import Json


class BlockState(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The provider's own id for a block, and whatever else it wants back."""

    id: str | None = None
    details: Mapping[str, Json] = {}


class ReplyState(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Where a reply came from, its id there, and the state of its blocks by index."""

    origin: str = ""
    id: str | None = None
    details: Mapping[str, Json] = {}
    blocks: Mapping[str, BlockState] = {}


def as_json(state: ReplyState) -> Json:
    """``state`` for ``Message.provider``."""
    return msgspec.to_builtins(state)


def reply_state(value: Json, origin: str) -> ReplyState | None:
    """The state in a ``Message.provider``; None when it is another origin's, or no state of ours."""
    if not isinstance(value, dict) or value.get("origin") != origin:
        return None
    try:
        return msgspec.convert(value, ReplyState)
    except msgspec.ValidationError:
        return None


def block_state(value: Json, origin: str, index: int) -> BlockState | None:
    """The state of the block ``index``, or None."""
    state = reply_state(value, origin)
    return None if state is None else state.blocks.get(str(index))
