"""Every provider of the library behind our port."""

from __future__ import annotations

import asyncio
from typing import TypeAlias

from pydantic_ai.direct import model_request_stream

from handrail.models.adapter.clients import library_model
from handrail.models.adapter.failures import FAILURES, model_error
from handrail.models.adapter.incoming import delta_of, reply_of
from handrail.models.adapter.outgoing import library_messages
from handrail.models.adapter.settings import parameters_of, settings_of
from handrail.models.endpoints import Api, Endpoint
from handrail.models.port import Cancellation, Delta, ModelInfo, ModelReply, ModelRequest, Streamed

_Items: TypeAlias = "asyncio.Queue[Delta | ModelReply | BaseException]"


class AdaptedModel:
    """A model of a provider, or of any server that speaks a provider's API."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._library = library_model(endpoint)
        self.info = ModelInfo(
            endpoint.model, endpoint.provider, context_tokens=self._library.profile.get("context_window")
        )

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

    async def _produce(self, request: ModelRequest, items: _Items) -> None:
        """Put what streams into ``items``, and the reply at the end; raises a ``ModelError`` where there is none."""
        try:
            async with model_request_stream(
                self._library,
                library_messages(
                    request,
                    self._endpoint.origin,
                    self._library.system,
                    results_hold_pictures=self._endpoint.api is not Api.CHAT,
                ),
                model_settings=settings_of(request, self._endpoint),
                model_request_parameters=parameters_of(request),
                instrument=False,
            ) as stream:
                async for event in stream:
                    if (delta := delta_of(event)) is not None:
                        items.put_nowait(delta)
                items.put_nowait(reply_of(stream.get(), self._endpoint.origin, self.info))
        except FAILURES as problem:
            raise model_error(problem) from problem


def _pass_on(task: asyncio.Task[None], items: _Items) -> None:
    """Whatever ended the producing task without a reply is for the one who waits."""
    if not task.cancelled() and (problem := task.exception()) is not None:
        items.put_nowait(problem)
