"""The provider library's model object for an endpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import httpx2
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.profiles.openai import OpenAIModelProfile, openai_model_profile

from handrail.models.endpoints import Api, Endpoint

_WITHOUT_REASONING = re.compile(r"(ft:)?(gpt-(3|4)|chatgpt-)")

_NO_KEY = "none"
"""What is sent where no key is needed: the libraries refuse to send nothing."""

_TIMEOUT_S = 600.0
"""How long a provider may say nothing: a model that thinks hard streams nothing for minutes."""

_CONNECT_TIMEOUT_S = 10.0

_opened: ContextVar[list[httpx2.Response]] = ContextVar("opened")


@contextmanager
def noting_responses() -> Iterator[list[httpx2.Response]]:
    """Note every HTTP response that begins in here, in this task and those it starts.

    Not every SDK closes one that is left early; who has them can.
    """
    noted: list[httpx2.Response] = []
    token = _opened.set(noted)
    try:
        yield noted
    finally:
        _opened.reset(token)


async def _note(response: httpx2.Response) -> None:
    _opened.get([]).append(response)


def http_client() -> httpx2.AsyncClient:
    """What requests go through; its connections belong to the loop it is first used in."""
    timeout = httpx2.Timeout(_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
    return httpx2.AsyncClient(timeout=timeout, follow_redirects=True, event_hooks={"response": [_note]})


def library_model(endpoint: Endpoint, http: httpx2.AsyncClient) -> LibraryModel:
    """The library's model for ``endpoint``; no request is made. Only the SDK it needs is loaded."""
    match endpoint.api:
        case Api.ANTHROPIC:
            return _anthropic(endpoint, http)
        case Api.RESPONSES | Api.CHAT:
            return _openai(endpoint, http)
        case Api.GOOGLE:
            return _google(endpoint, http)


def _anthropic(endpoint: Endpoint, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=endpoint.key or _NO_KEY, base_url=endpoint.base_url, http_client=http)
    return AnthropicModel(endpoint.model, provider=provider)


def _openai(endpoint: Endpoint, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=endpoint.key or _NO_KEY, base_url=endpoint.base_url, http_client=http)
    if endpoint.api is Api.CHAT:
        return OpenAIChatModel(endpoint.model, provider=provider, profile=_chat_profile(endpoint))
    return OpenAIResponsesModel(endpoint.model, provider=provider, profile=_reasoning_profile(endpoint.model))


def _google(endpoint: Endpoint, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=endpoint.key or _NO_KEY, base_url=endpoint.base_url, http_client=http)
    return GoogleModel(endpoint.model, provider=provider)


def _chat_profile(endpoint: Endpoint) -> OpenAIModelProfile | None:
    """A profile that sends schemas as they are, for servers that merely speak the API: strict ones are OpenAI's own."""
    return None if endpoint.base_url is None else OpenAIModelProfile(openai_supports_strict_tool_definition=False)


def _reasoning_profile(model: str) -> OpenAIModelProfile | None:
    """A profile that reasons, for a name the library does not know: else it would drop the encrypted reasoning.

    None where the library knows better, or where the model is of a family that does not reason.
    """
    known = openai_model_profile(model)
    if known.get("supports_thinking") or _WITHOUT_REASONING.match(model):
        return None
    return OpenAIModelProfile(
        supports_thinking=True,
        openai_supports_reasoning=True,
        openai_supports_encrypted_reasoning_content=True,
    )
