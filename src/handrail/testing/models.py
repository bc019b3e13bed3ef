"""Handrail's own models as cases of the contract: scripted, replaying, and each API played on this machine.

Nothing is patched and nothing leaves the machine: the adapter talks to a loopback server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from handrail.models.errors import RateLimited
from handrail.models.names import model_from_name
from handrail.models.port import Model, ModelRequest, close
from handrail.models.replay import ReplayModel
from handrail.models.scripted import Item, Reply, ScriptedModel
from handrail.testing.contracts.model import ERROR_OF, ModelCase
from handrail.testing.wire import anthropic, google, openai_chat, openai_responses
from handrail.testing.wire.server import Played, WireServer
from handrail.testing.wire.turns import RETRY_AFTER_S, Fault, Turn
from handrail.transcripts.model import Message, Meta, Text, Thinking, Transcript

Spell = Callable[[Turn], Played]


@asynccontextmanager
async def scripted(turns: Sequence[Turn]) -> AsyncGenerator[Model]:
    """A ``ScriptedModel`` that answers ``turns``."""
    yield ScriptedModel([_item(turn) for turn in turns])


def _item(turn: Turn) -> Item:
    if turn.hangs:
        return _never
    if turn.fault is Fault.RATE_LIMITED:
        return RateLimited("as scripted", retry_after_s=RETRY_AFTER_S)
    if turn.fault is not None:
        return ERROR_OF[turn.fault]("as scripted")
    return Reply(content=turn.content, stop_reason=turn.stop_reason, usage=turn.usage)


async def _never(request: ModelRequest) -> str:
    await asyncio.Event().wait()
    raise AssertionError("an event nobody sets was set")


@asynccontextmanager
async def replaying(turns: Sequence[Turn]) -> AsyncGenerator[Model]:
    """A ``ReplayModel`` of a session that holds ``turns``."""
    body: list[Message] = []
    for turn in turns:
        body.append(Message(role="user", content=(Text("go"),)))
        body.append(Message(role="assistant", content=turn.content, stop_reason=turn.stop_reason, usage=turn.usage))
    yield ReplayModel(Transcript(Meta(model="recorded"), tuple(body)))


@asynccontextmanager
async def adapted(name: str, server: WireServer) -> AsyncGenerator[Model]:
    """The model called ``name``, asked at ``server``; its connections are closed at the end."""
    path = "/v1" if name.startswith("openai") else ""
    model = model_from_name(name, base_url=server.url + path, api_key="played", environ={})
    try:
        yield model
    finally:
        await close(model)


def over_the_wire(name: str) -> Callable[[Sequence[Turn]], AbstractAsyncContextManager[Model]]:
    """How to open the adapter's model ``name`` in front of a server that plays its provider."""

    @asynccontextmanager
    async def plays(turns: Sequence[Turn]) -> AsyncGenerator[Model]:
        answers = [SPELLED[name](turn) for turn in turns]
        async with WireServer(answers) as server, adapted(name, server) as model:
            yield model

    return plays


ANTHROPIC = f"anthropic:{anthropic.MODEL}"
RESPONSES = f"openai-responses:{openai_responses.MODEL}"
CHAT = f"openai:{openai_chat.MODEL}"
GOOGLE = f"google:{google.MODEL}"

SPELLED: Mapping[str, Spell] = {
    ANTHROPIC: anthropic.spell,
    RESPONSES: openai_responses.spell,
    CHAT: openai_chat.spell,
    GOOGLE: google.spell,
}
"""How each model of a provider has its turns spelled."""

_SEALED = Thinking("", encrypted="c2VhbGVk")

MODEL_CASES: tuple[ModelCase, ...] = (
    ModelCase("scripted", scripted, thinking=(Thinking("Hm.", signature="s"), _SEALED)),
    ModelCase("replaying", replaying, faults=frozenset(), thinking=(Thinking("Hm.", signature="s"),), hangs=False),
    ModelCase(
        "anthropic",
        over_the_wire(ANTHROPIC),
        thinking=(Thinking("Let me see what is there.", signature="c2lnbmF0dXJl"), _SEALED),
    ),
    ModelCase(
        "openai responses",
        over_the_wire(RESPONSES),
        thinking=(Thinking("Looking at what is there.", encrypted="ZW5jcnlwdGVk"), _SEALED),
    ),
    ModelCase("openai chat", over_the_wire(CHAT), thinking=(Thinking("Let me see."),)),
    ModelCase(
        "google",
        over_the_wire(GOOGLE),
        faults=frozenset(Fault) - {Fault.QUOTA_SPENT, Fault.OVERLOADED_MID_WAY},
        thinking=(Thinking("Let me see what is there."),),
        breaks_calls=False,
    ),
)
"""Every kind of model that Handrail has."""
