"""The provider library's model object for an endpoint."""

from __future__ import annotations

import re

from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile, openai_model_profile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from handrail.models.endpoints import Api, Endpoint

_WITHOUT_REASONING = re.compile(r"(ft:)?(gpt-(3|4)|chatgpt-)")

_NO_KEY = "none"
"""What is sent where no key is needed: the libraries refuse to send nothing."""


def library_model(endpoint: Endpoint) -> LibraryModel:
    """The library's model for ``endpoint``; no request is made."""
    key = endpoint.key or _NO_KEY
    match endpoint.api:
        case Api.ANTHROPIC:
            return AnthropicModel(endpoint.model, provider=AnthropicProvider(api_key=key, base_url=endpoint.base_url))
        case Api.RESPONSES:
            provider = OpenAIProvider(api_key=key, base_url=endpoint.base_url)
            return OpenAIResponsesModel(endpoint.model, provider=provider, profile=_reasoning_profile(endpoint.model))
        case Api.CHAT:
            provider = OpenAIProvider(api_key=key, base_url=endpoint.base_url)
            return OpenAIChatModel(endpoint.model, provider=provider, profile=_chat_profile(endpoint))
        case Api.GOOGLE:
            return GoogleModel(endpoint.model, provider=GoogleProvider(api_key=key, base_url=endpoint.base_url))


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
