"""Sends that wait for a person: the call is put aside whole, and nothing leaves until somebody lets it."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from handrail.agents.tool import Tool, ToolContext, ToolOutput
from handrail.errors import StoreError
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json, Taint


class StagedCall(Struct, frozen=True, kw_only=True):
    """A call that was put aside: what it would send, and what had entered the conversation by then."""

    call_id: str
    tool: str
    input: Json
    taint: Taint


class Outbox(Protocol):
    """Where calls are put aside."""

    async def stage(self, call: StagedCall) -> str:
        """Keep ``call`` and return the id it is found by; ``StoreError`` when it cannot be kept."""
        ...


def routed(tool: Tool, outbox: Outbox) -> Tool:
    """``tool`` with its calls put into ``outbox`` instead of being run.

    Nothing leaves and nothing is changed, so the copy neither sends nor destroys and the interlock lets it pass.
    A call that cannot be put aside is an error for the model; it is not run then either.
    """

    async def stage(input: Json, context: ToolContext) -> ToolOutput:
        call = StagedCall(call_id=context.call_id, tool=tool.name, input=input, taint=context.taint)
        try:
            staged = await outbox.stage(call)
        except StoreError as problem:
            return ToolOutput(f"{tool.name} could not be put aside and was not run: {problem}", is_error=True)
        text = f"{tool.name} was put aside as {staged}. Nothing was sent yet; a person decides about it."
        return ToolOutput(text, details={"staged": staged})

    traits = ToolTraits(private=tool.traits.private)
    return replace(tool, handler=stage, traits=traits, is_terminal=False, function=None)
