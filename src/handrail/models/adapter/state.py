"""What a reply holds that means something to its provider only.

``Message.provider`` is ``{"origin": …, "id": …, "details": …, "blocks": {"0": {"id": …, "details": …}}}``; blocks that
have nothing of their own are left out. The details of a call (thought signatures) ride on ``ToolUse.provider`` as
``{"origin": …, "details": …}``. What another origin made, or no adapter, has no state here.
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


class CallState(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a provider wants back with a call."""

    origin: str
    details: Mapping[str, Json] = {}


class ReplyState(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Where a reply came from, its id there, and the state of its blocks by index."""

    origin: str
    id: str | None = None
    details: Mapping[str, Json] = {}
    blocks: Mapping[str, BlockState] = {}

    def block(self, index: int) -> BlockState:
        return self.blocks.get(str(index), BlockState())


def as_json(state: ReplyState | CallState) -> Json:
    """``state`` as it is kept."""
    return msgspec.to_builtins(state)


def reply_state(value: Json, origin: str) -> ReplyState | None:
    """The state in a ``Message.provider``; None when it is another origin's, or no state of ours."""
    if not isinstance(value, dict) or value.get("origin") != origin:
        return None
    try:
        return msgspec.convert(value, ReplyState)
    except msgspec.ValidationError:
        return None


def call_details(value: Json, origin: str) -> Mapping[str, Json]:
    """The details in a ``ToolUse.provider``; none when they are another origin's."""
    if not isinstance(value, dict) or value.get("origin") != origin:
        return {}
    try:
        return msgspec.convert(value, CallState).details
    except msgspec.ValidationError:
        return {}
