"""What goes to OpenAI, over both of its APIs, and to servers that speak Chat Completions."""

from __future__ import annotations

import pytest

from handrail.models.errors import BadRequest
from handrail.models.port import Effort, ReasoningOptions
from handrail.testing.models import CHAT, RESPONSES
from handrail.testing.wire.turns import PARALLEL_CALLS, TEXT, Turn
from handrail.transcripts.model import Author, Raw, Text, Thinking, ToolResult, ToolUse
from tests.models.conversations import delivered, said
from tests.models.exchanges import PNG, PROBE, exchanged, sent

_CALL = ToolUse("call_1", Raw("probe", {"value": "a"}))


@pytest.mark.parametrize("model", [RESPONSES, "openai-responses:a-name-nobody-knows-yet"])
def test_encrypted_reasoning_comes_back_under_its_id(model: str) -> None:
    turn = Turn(content=(Thinking("Looking.", encrypted="ZW5jcnlwdGVk"), _CALL), stop_reason="tool_use")
    exchange = exchanged(model, [turn, TEXT], [said("go"), delivered(ToolResult("call_1", "seen"))])
    first, second = exchange.bodies
    assert ["reasoning.encrypted_content"] == first["include"]
    reasoning, call, result = second["input"][1:]
    assert {
        "type": "reasoning",
        "id": "rs_0",
        "summary": [{"type": "summary_text", "text": "Looking."}],
        "encrypted_content": "ZW5jcnlwdGVk",
    } == reasoning
    assert ("fc_1", "call_1", '{"value":"a"}') == (call["id"], call["call_id"], call["arguments"])
    assert {"type": "function_call_output", "call_id": "call_1", "output": "seen"} == result


def test_a_model_that_does_not_reason_is_asked_for_no_reasoning() -> None:
    assert "include" not in sent("openai-responses:gpt-4.1-mini")


def test_nothing_is_stored_there_and_a_session_keeps_its_cache() -> None:
    body = sent(RESPONSES, session="s1")
    assert (False, "s1") == (body["store"], body["prompt_cache_key"])


@pytest.mark.parametrize("effort", list(Effort))
def test_every_effort_goes_out_as_it_is(effort: Effort) -> None:
    body = sent(RESPONSES, reasoning=ReasoningOptions(effort, "concise"))
    assert (effort.value, "concise") == (body["reasoning"]["effort"], body["reasoning"]["summary"])
    assert effort.value == sent(CHAT, reasoning=ReasoningOptions(effort))["reasoning_effort"]


def test_chat_completions_has_no_word_for_a_summary() -> None:
    with pytest.raises(BadRequest, match="no word for a summary"):
        sent(CHAT, reasoning=ReasoningOptions(summary="auto"))


def test_a_compatible_server_gets_nothing_but_the_plain_api() -> None:
    body = sent(CHAT, instructions="Be brief.", tools=(PROBE,), session="s1")
    assert {"model", "messages", "stream", "stream_options", "tool_choice", "tools"} == body.keys()
    assert {"name", "description", "parameters"} == body["tools"][0]["function"].keys()
    assert {"role": "system", "content": "Be brief."} == body["messages"][0]


def test_reasoning_goes_back_in_the_field_it_came_in() -> None:
    turn = Turn(content=(Thinking("Let me see."), Text("I look.", Author.MODEL), _CALL), stop_reason="tool_use")
    exchange = exchanged(CHAT, [turn, TEXT], [said("go"), delivered(ToolResult("call_1", "seen"))])
    answer = exchange.bodies[1]["messages"][1]
    assert ("Let me see.", "I look.") == (answer["reasoning_content"], answer["content"])


def test_pictures_of_results_follow_the_results_where_results_are_texts() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    told = delivered(
        ToolResult("call_a", [{"type": "text", "text": "one"}, picture, {"type": "text", "text": "two"}]),
        ToolResult("call_b", {"found": 3}),
        Text("go on", Author.PERSON),
    )
    exchange = exchanged(CHAT, [PARALLEL_CALLS, TEXT], [said("go"), told])
    first, second, rest = exchange.bodies[1]["messages"][2:]
    assert ("call_a", "one\ntwo") == (first["tool_call_id"], first["content"])
    assert ("call_b", '{"found":3}') == (second["tool_call_id"], second["content"])
    assert [
        {"type": "text", "text": "From probe:"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "text", "text": "go on"},
    ] == rest["content"]
