"""The adapter lives in whatever loop it is asked in, and goes when it is told to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import aclosing, contextmanager

import pytest

pytest.importorskip("pydantic_ai", reason="the provider library is not installed")

from handrail.agents.cancellation import CancellationToken, Cancelled
from handrail.models.names import model_from_name
from handrail.models.port import Model, ModelReply, ModelRequest, TextDelta, close, reply_to
from handrail.testing.models import SPELLED, adapted
from handrail.testing.wire.server import WireServer
from handrail.testing.wire.turns import TEXT, Turn
from tests.models.conversations import said, text_of

_REQUEST = ModelRequest(messages=(said("go"),))
_HANGS = Turn(content=TEXT.content, hangs=True)


@contextmanager
def _served_from_a_loop_of_its_own(server: WireServer) -> Iterator[None]:
    """``server`` serving in a thread, so that it outlives the loops of those who ask."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        yield
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _asked_and_closed(model: Model) -> ModelReply:
    try:
        return await reply_to(model, _REQUEST)
    finally:
        await close(model)


@pytest.mark.parametrize("name", list(SPELLED))
def test_one_model_serves_one_loop_after_another(name: str) -> None:
    server = WireServer([SPELLED[name](TEXT)])
    with _served_from_a_loop_of_its_own(server):
        path = "/v1" if name.startswith("openai") else ""
        model = model_from_name(name, base_url=server.url + path, api_key="played", environ={})
        replies = [asyncio.run(_asked_and_closed(model)) for _ in range(3)]
    assert [text_of(reply.message) for reply in replies] == [text_of(replies[0].message)] * 3


@pytest.mark.parametrize("name", list(SPELLED))
def test_requests_at_once_do_not_mix(name: str) -> None:
    async def story() -> list[str]:
        async with WireServer([SPELLED[name](TEXT)]) as server, adapted(name, server) as model:
            replies = await asyncio.gather(*(reply_to(model, _REQUEST) for _ in range(8)))
        return [text_of(reply.message) for reply in replies]

    (expected,) = (block.text for block in TEXT.content if hasattr(block, "text"))
    assert [expected] * 8 == asyncio.run(story())


@pytest.mark.parametrize("name", list(SPELLED))
def test_a_cancelled_request_is_ended_at_the_provider_too(name: str) -> None:
    async def story() -> None:
        async with WireServer([SPELLED[name](_HANGS)]) as server, adapted(name, server) as model:
            token = CancellationToken()
            with pytest.raises(Cancelled, match="enough"):
                async for item in model.stream(_REQUEST, token):
                    assert isinstance(item, TextDelta)
                    token.cancel("enough")
            await server.abandoned.wait()

    asyncio.run(story())


@pytest.mark.parametrize("name", list(SPELLED))
def test_a_stream_that_is_left_early_is_ended_at_the_provider_too(name: str) -> None:
    async def story() -> None:
        async with WireServer([SPELLED[name](_HANGS)]) as server, adapted(name, server) as model:
            async with aclosing(model.stream(_REQUEST)) as stream:
                async for _ in stream:
                    break
            await server.abandoned.wait()

    asyncio.run(story())


@pytest.mark.parametrize("name", list(SPELLED))
def test_a_task_that_is_cancelled_leaves_nothing_running(name: str) -> None:
    async def story() -> None:
        async with WireServer([SPELLED[name](_HANGS)]) as server, adapted(name, server) as model:
            began = asyncio.Event()

            async def ask() -> None:
                async with aclosing(model.stream(_REQUEST)) as stream:
                    async for _ in stream:
                        began.set()

            asking = asyncio.ensure_future(ask())
            await began.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await server.abandoned.wait()

    asyncio.run(story())
