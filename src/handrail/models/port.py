"""The Model port: one request in, a stream of deltas out, and exactly one reply at its end.

What a request holds is the canonical model, so a model never sees how a run is driven, and a run never sees how a
provider spells things. Nothing here loads a provider library.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import aclosing
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from msgspec import Struct

from handrail.models.errors import MalformedReply
from handrail.transcripts.model import Json, Message

Value = TypeVar("Value")


class Effort(StrEnum):
    """How hard a model is to think. One that a model does not know is a ``BadRequest``, never another one instead."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


Summary: TypeAlias = Literal["auto", "concise", "detailed"]
"""How much a model is to tell of its reasoning, where it keeps the reasoning itself back."""


class ReasoningOptions(Struct, frozen=True, omit_defaults=True, gc=False):
    """How a model is to reason; None leaves a thing to the provider's default."""

    effort: Effort | None = None
    summary: Summary | None = None


class ModelInfo(Struct, frozen=True, omit_defaults=True, gc=False):
    """Which model: the provider's own ``id`` for it, and who provides it.

    ``context_tokens`` is how much it can be given and ``max_output_tokens`` how much it can say, where known.
    """

    id: str
    provider: str
    context_tokens: int | None = None
    max_output_tokens: int | None = None

    @property
    def name(self) -> str:
        """``provider:id``, what ``model_from_name`` takes."""
        return f"{self.provider}:{self.id}"


class OfferedTool(Protocol):
    """What a model is told of a tool. ``input_schema`` is a JSON Schema whose type is ``object``."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def input_schema(self) -> Mapping[str, Json]: ...


class ModelRequest(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One request.

    ``messages`` is what the model sees, oldest first, every call of it answered. ``instructions`` stand before it.
    ``tool_choice`` is ``auto``, ``none``, ``required`` or the name of the one tool that must be called.
    ``run`` names the run that asks and ``replies`` is how many responses that run has had so far, compacted ones
    too (None: as many as ``messages`` holds); a model that plays a part finds its place by them, no other needs
    them. ``session`` keeps the provider's cache of one conversation together.
    """

    messages: tuple[Message, ...] = ()
    instructions: str = ""
    tools: tuple[OfferedTool, ...] = ()
    tool_choice: str = "auto"
    reasoning: ReasoningOptions | None = None
    max_output_tokens: int | None = None
    session: str | None = None
    run: str | None = None
    replies: int | None = None


class TextDelta(Struct, frozen=True, gc=False):
    """More of the text ``block``, an index into the reply's content."""

    block: int
    text: str


class ThinkingDelta(Struct, frozen=True, gc=False):
    """More of the reasoning ``block``."""

    block: int
    text: str


class ToolCallDelta(Struct, frozen=True, omit_defaults=True, gc=False):
    """More of the call ``block``: ``name`` and ``input`` (JSON text) are fragments to be joined."""

    block: int
    id: str | None = None
    name: str = ""
    input: str = ""


class Restarted(Struct, frozen=True, kw_only=True, gc=False):
    """The request failed and is sent again after ``delay_s`` seconds: what was streamed of it so far is void.

    ``attempt`` is the number of the one that failed, from 1; ``code`` and ``error`` say how.
    """

    attempt: int
    delay_s: float
    code: str
    error: str


Delta: TypeAlias = TextDelta | ThinkingDelta | ToolCallDelta | Restarted
"""What streams. It is for those who watch; the reply that follows holds all of it."""


class ModelReply(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The response: one assistant message with usage, stop reason and provider state.

    ``attempts`` is how many requests it took. ``cost`` is in US dollars by published prices, None where none is known.
    """

    message: Message
    attempts: int = 1
    cost: float | None = None


Streamed: TypeAlias = AsyncGenerator[Delta | ModelReply, None]


class Cancellation(Protocol):
    """What a model needs of a cancellation token."""

    def raise_if_cancelled(self) -> None:
        """Raise when the token is cancelled."""
        ...

    async def guard(self, work: Awaitable[Value]) -> Value:
        """The value of ``work``; raises as soon as the token is cancelled, after ``work`` has ended."""
        ...


class Model(Protocol):
    """Something that answers requests."""

    @property
    def info(self) -> ModelInfo: ...

    def stream(self, request: ModelRequest, cancellation: Cancellation | None = None) -> Streamed:
        """Deltas, then one ``ModelReply`` and nothing after it.

        Raises a ``ModelError`` when there is no reply, and what the token raises as soon as it is cancelled. The
        generator is to be closed when it is left early; the request ends with it.
        """
        ...


@runtime_checkable
class HoldsConnections(Protocol):
    """A model that keeps connections open between requests."""

    async def aclose(self) -> None:
        """Close what the running loop opened; the model can be asked again."""
        ...


async def close(model: Model) -> None:
    """Let go of whatever ``model`` keeps open; for a host that is done with it before its loop ends."""
    if isinstance(model, HoldsConnections):
        await model.aclose()


async def reply_to(model: Model, request: ModelRequest, cancellation: Cancellation | None = None) -> ModelReply:
    """The reply alone; raises as ``stream`` does, and ``MalformedReply`` when the stream ends without one."""
    async with aclosing(model.stream(request, cancellation)) as stream:
        async for item in stream:
            if isinstance(item, ModelReply):
                return item
    raise MalformedReply(f"{model.info.name} ended its stream without a reply")
