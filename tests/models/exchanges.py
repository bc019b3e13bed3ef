"""What the adapter sends, as a played provider received it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from msgspec import Struct

from handrail.models.errors import ModelError
from handrail.models.port import ModelRequest, reply_to
from handrail.transcripts.model import Json, Message
from tests.models.conversations import said

pytest.importorskip("pydantic_ai", reason="the provider library is not installed")

from handrail.testing.models import SPELLED, Spell, adapted
from handrail.testing.wire.server import Received, WireServer
from handrail.testing.wire.turns import TEXT, Fault, Turn


class Spec(Struct, frozen=True):
    """A tool on offer."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


_VALUE = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}

PROBE = Spec("probe", "Looks at one thing.", _VALUE)

OTHER = Spec("other", "Does something else.", _VALUE)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Exchange(NamedTuple):
    replies: list[Message]
    received: list[Received]

    @property
    def bodies(self) -> list[Any]:
        return [one.body for one in self.received]


def exchanged(
    name: str, turns: Sequence[Turn], told: Sequence[Message], request: ModelRequest | None = None
) -> Exchange:
    """A conversation with the model ``name``: each of ``told`` is answered by the turn in its place."""

    async def story() -> Exchange:
        messages: tuple[Message, ...] = ()
        replies: list[Message] = []
        answers = [_spell(name)(turn) for turn in turns]
        async with WireServer(answers) as server, adapted(name, server) as model:
            for message in told:
                messages = (*messages, message)
                replies.append((await reply_to(model, ModelRequest(messages=messages))).message)
                messages = (*messages, replies[-1])
        return Exchange(replies, server.requests)

    return asyncio.run(story())


def sent(name: str, messages: Sequence[Message] = (), **request: Any) -> Any:
    """The body of one request."""

    async def story() -> Any:
        asked = ModelRequest(messages=tuple(messages) or (said("go"),), **request)
        async with WireServer([_spell(name)(TEXT)]) as server, adapted(name, server) as model:
            await reply_to(model, asked)
        return server.requests[0].body

    return asyncio.run(story())


def failed(name: str, fault: Fault) -> list[Received]:
    """What was received of a request that failed with ``fault``."""

    async def story() -> list[Received]:
        answer = _spell(name)(Turn(content=TEXT.content, fault=fault))
        async with WireServer([answer]) as server, adapted(name, server) as model:
            with pytest.raises(ModelError):
                await reply_to(model, ModelRequest(messages=(said("go"),)))
        return server.requests

    return asyncio.run(story())


def _spell(name: str) -> Spell:
    provider = name.partition(":")[0]
    return next(spell for known, spell in SPELLED.items() if known.partition(":")[0] == provider)
