"""Every provider of the library behind our port."""

from __future__ import annotations

import asyncio
from typing import TypeAlias
from weakref import WeakKeyDictionary

from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import Model as LibraryModel

from handrail.models.adapter.clients import http_client, library_model, noting_responses
from handrail.models.adapter.failures import FAILURES, model_error
from handrail.models.adapter.incoming import delta_of, reply_of
from handrail.models.adapter.outgoing import library_messages
from handrail.models.adapter.settings import parameters_of, settings_of
from handrail.models.endpoints import Api, Endpoint
from handrail.models.port import Cancellation, Delta, ModelInfo, ModelReply, ModelRequest, Streamed

_Items: TypeAlias = "asyncio.Queue[Delta | ModelReply | BaseException]"


class _Line:
    """The library's model for an endpoint and the connections it keeps."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.http = http_client()
        self.library = library_model(endpoint, self.http)


class AdaptedModel:
    """A model of a provider, or of any server that speaks a provider's API."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()
        # Nothing is connected yet, so it serves the first loop that asks.
        self._unused: _Line | None = _Line(endpoint)
        context_tokens = self._unused.library.profile.get("context_window")
        self.info = ModelInfo(endpoint.model, endpoint.provider, context_tokens=context_tokens)

    async def stream(self, request: ModelRequest, cancellation: Cancellation | None = None) -> Streamed:
        """See ``Model``."""
        if cancellation is not None:
            cancellation.raise_if_cancelled()
        items: _Items = asyncio.Queue()
        # The library's stream lives and dies in one task, whoever waits for it and however that ends.
        producing = asyncio.ensure_future(self._produce(request, items))
        producing.add_done_callback(lambda task: _pass_on(task, items))
        try:
            while True:
                item = await (items.get() if cancellation is None else cancellation.guard(items.get()))
                if isinstance(item, BaseException):
                    raise item
                yield item
                if isinstance(item, ModelReply):
                    return
        finally:
            producing.cancel()
            await asyncio.wait({producing})

    async def aclose(self) -> None:
        """Close the connections that the running loop opened."""
        line = self._lines.pop(asyncio.get_running_loop(), None)
        if line is not None:
            await line.http.aclose()

    def _line(self) -> _Line:
        """The line of the running loop: kept connections belong to one loop and die with it."""
        loop = asyncio.get_running_loop()
        found = self._lines.get(loop)
        if found is None:
            found = self._lines[loop] = self._unused or _Line(self._endpoint)
            self._unused = None
        return found

    async def _produce(self, request: ModelRequest, items: _Items) -> None:
        """Put what streams into ``items``, and the reply at the end; raises a ``ModelError`` where there is none."""
        with noting_responses() as responses:
            try:
                await self._ask(self._line().library, request, items)
            except FAILURES as problem:
                raise model_error(problem) from problem
            finally:
                for response in responses:
                    await response.aclose()

    async def _ask(self, library: LibraryModel, request: ModelRequest, items: _Items) -> None:
        messages = library_messages(
            request,
            self._endpoint.origin,
            library.system,
            results_hold_pictures=self._endpoint.api is not Api.CHAT,
        )
        async with model_request_stream(
            library,
            messages,
            model_settings=settings_of(request, self._endpoint),
            model_request_parameters=parameters_of(request),
            instrument=False,
        ) as stream:
            async for event in stream:
                if (delta := delta_of(event)) is not None:
                    items.put_nowait(delta)
            items.put_nowait(reply_of(stream.get(), self._endpoint.origin, self.info))


def _pass_on(task: asyncio.Task[None], items: _Items) -> None:
    """Whatever ended the producing task without a reply is for the one who waits."""
    if not task.cancelled() and (problem := task.exception()) is not None:
        items.put_nowait(problem)
