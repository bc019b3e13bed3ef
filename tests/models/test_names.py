"""A name says where a model is; nothing heavy is loaded to know it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from handrail.errors import UnknownName
from handrail.models.endpoints import Api, Endpoint, endpoint_of
from handrail.models.errors import BadKey


def test_openai_speaks_responses_at_home_and_chat_completions_elsewhere() -> None:
    home = endpoint_of("openai:gpt-5.4", environ={"OPENAI_API_KEY": "k"})
    assert Endpoint(provider="openai", model="gpt-5.4", api=Api.RESPONSES, key="k") == home
    away = endpoint_of("openai:m", base_url="http://host/v1", environ={})
    assert Endpoint(provider="openai", model="m", api=Api.CHAT, base_url="http://host/v1") == away
    told = endpoint_of("openai-responses:m", base_url="http://host/v1", environ={})
    assert Api.RESPONSES is told.api


def test_an_address_may_come_from_the_environment() -> None:
    found = endpoint_of("openai:m", environ={"OPENAI_BASE_URL": "http://host/v1"})
    assert (Api.CHAT, "http://host/v1") == (found.api, found.base_url)


def test_local_servers_need_no_key() -> None:
    found = endpoint_of("ollama:qwen3:8b", environ={})
    assert ("qwen3:8b", "http://localhost:11434/v1", None) == (found.model, found.base_url, found.key)


def test_a_given_key_goes_before_the_environments() -> None:
    assert "given" == endpoint_of("google:g", key="given", environ={"GOOGLE_API_KEY": "found"}).key
    assert "second" == endpoint_of("google:g", environ={"GEMINI_API_KEY": "second"}).key


def test_no_key_is_told_before_anything_is_asked() -> None:
    with pytest.raises(BadKey) as caught:
        endpoint_of("anthropic:claude", environ={})
    assert "set ANTHROPIC_API_KEY" == caught.value.hint


@pytest.mark.parametrize("name", ["", "gpt-5.4", "nobody:gpt", "openai:", ":x"])
def test_a_name_without_a_known_provider_is_told_with_those_that_are(name: str) -> None:
    with pytest.raises(UnknownName) as caught:
        endpoint_of(name, environ={})
    assert "anthropic, openai" in str(caught.value.hint)


def test_a_printed_endpoint_shows_no_key() -> None:
    shown = repr(endpoint_of("openai:gpt-5.4", environ={"OPENAI_API_KEY": "sk-secret"}))
    assert "Endpoint(openai, 'gpt-5.4', responses)" == shown


def test_state_belongs_to_one_address() -> None:
    at_home = endpoint_of("openai-chat:m", environ={"OPENAI_API_KEY": "k"})
    away = endpoint_of("openai-chat:m", base_url="http://host/v1", environ={})
    assert len({at_home.origin, away.origin}) == 2


@pytest.mark.parametrize("module", ["port", "errors", "scripted", "replay", "retry", "names", "local", "endpoints"])
def test_no_provider_library_is_loaded_before_a_model_is_asked_for(module: str) -> None:
    code = f"import sys, handrail.models.{module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "pydantic_ai", "openai", "anthropic", "google.genai", "httpx", "httpx2", "xllamacpp"}
    assert heavy.isdisjoint(done.stdout.split())
