"""A real provider, for who asks for it: ``HANDRAIL_LIVE_MODEL=PROVIDER:MODEL`` (and ``HANDRAIL_LIVE_URL``).

It costs money and needs a key; without the flag nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import os

import pytest

from handrail.models.names import model_from_name
from handrail.models.port import Model, ModelReply, ModelRequest, close, reply_to
from handrail.models.retry import retrying
from handrail.transcripts.model import Raw, ToolResult, ToolUse
from tests.models.conversations import delivered, said, text_of

_NAME = os.environ.get("HANDRAIL_LIVE_MODEL", "")

pytestmark = pytest.mark.skipif(not _NAME, reason="HANDRAIL_LIVE_MODEL names no model")


def _asked(*requests: ModelRequest) -> list[ModelReply]:
    async def story(model: Model) -> list[ModelReply]:
        try:
            return [await reply_to(model, request) for request in requests]
        finally:
            await close(model)

    model = model_from_name(_NAME, base_url=os.environ.get("HANDRAIL_LIVE_URL"))
    return asyncio.run(story(retrying(model)))


def test_it_answers_in_words_and_counts_them() -> None:
    (reply,) = _asked(ModelRequest(messages=(said("Answer with the one word: yes"),), instructions="Be brief."))
    assert "yes" in text_of(reply.message).lower()
    assert reply.message.stop_reason == "end_turn"
    assert reply.message.usage is not None
    assert reply.message.usage.output_tokens > 0


def test_it_calls_a_tool_and_takes_the_result_with_its_own_reply_back() -> None:
    from tests.models.exchanges import PROBE

    asking = ModelRequest(
        messages=(said("Call the tool probe with the value 'cellar', then tell me in one word what it saw."),),
        tools=(PROBE,),
    )
    (first,) = _asked(asking)
    (use,) = (block for block in first.message.content if isinstance(block, ToolUse))
    assert use.call == Raw("probe", {"value": "cellar"})
    told = delivered(ToolResult(use.id, "a lantern"))
    (second,) = _asked(ModelRequest(messages=(*asking.messages, first.message, told), tools=(PROBE,)))
    assert "lantern" in text_of(second.message).lower()
