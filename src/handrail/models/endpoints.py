"""Where models are: which API a provider speaks, at which address, with which key."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from handrail.errors import UnknownName
from handrail.models.errors import BadKey


class Api(StrEnum):
    """The four ways of talking to a model over the network."""

    ANTHROPIC = "anthropic"
    RESPONSES = "responses"
    CHAT = "chat"
    GOOGLE = "google"


class Provider(Struct, frozen=True, kw_only=True):
    """A provider by name. ``base_url`` None is the API's own address; ``keys`` are environment variables, none needed
    where it is empty; ``base_urls`` are those that hold another address."""

    api: Api
    base_url: str | None = None
    keys: tuple[str, ...] = ()
    base_urls: tuple[str, ...] = ()


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(api=Api.ANTHROPIC, keys=("ANTHROPIC_API_KEY",), base_urls=("ANTHROPIC_BASE_URL",)),
    "openai": Provider(api=Api.RESPONSES, keys=("OPENAI_API_KEY",), base_urls=("OPENAI_BASE_URL",)),
    "openai-chat": Provider(api=Api.CHAT, keys=("OPENAI_API_KEY",)),
    "openai-responses": Provider(api=Api.RESPONSES, keys=("OPENAI_API_KEY",)),
    "google": Provider(api=Api.GOOGLE, keys=("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "openrouter": Provider(api=Api.CHAT, base_url="https://openrouter.ai/api/v1", keys=("OPENROUTER_API_KEY",)),
    "ollama": Provider(api=Api.CHAT, base_url="http://localhost:11434/v1"),
    "llamacpp": Provider(api=Api.CHAT, base_url="http://localhost:8080/v1"),
    "lmstudio": Provider(api=Api.CHAT, base_url="http://localhost:1234/v1"),
    "vllm": Provider(api=Api.CHAT, base_url="http://localhost:8000/v1"),
}


class Endpoint(Struct, frozen=True, kw_only=True):
    """One model at one address. ``base_url`` None is the API's own; ``key`` is None where none is needed."""

    provider: str
    model: str
    api: Api
    base_url: str | None = None
    key: str | None = None

    def __repr__(self) -> str:
        """Without the key: an endpoint may be printed."""
        return f"Endpoint({self.origin}, {self.model!r}, {self.api})"

    @property
    def origin(self) -> str:
        """Whose provider-bound state this endpoint understands: its own, and that of no other address."""
        return self.provider if self.base_url is None else f"{self.provider}@{self.base_url}"


def endpoint_of(
    name: str, *, base_url: str | None = None, key: str | None = None, environ: Mapping[str, str]
) -> Endpoint:
    """The endpoint of ``provider:model``.

    With a ``base_url``, ``openai`` means any server that speaks Chat Completions, which most compatible ones do;
    ``openai-responses`` says that it speaks the Responses API. Raises ``UnknownName`` and ``BadKey``.
    """
    prefix, colon, model = name.partition(":")
    provider = PROVIDERS.get(prefix)
    if provider is None or not colon or not model:
        known = ", ".join(PROVIDERS)
        raise UnknownName(
            f"no model {name!r}", hint=f"write PROVIDER:MODEL, local, or scripted:FILE; providers are {known}"
        )
    given = base_url or next((environ[one] for one in provider.base_urls if environ.get(one)), None)
    key = key or next((environ[one] for one in provider.keys if environ.get(one)), None)
    if key is None and provider.keys and given is None:
        raise BadKey(f"there is no key for {prefix}", hint=f"set {' or '.join(provider.keys)}")
    api = Api.CHAT if prefix == "openai" and given is not None else provider.api
    return Endpoint(provider=prefix, model=model, api=api, base_url=given or provider.base_url, key=key)
