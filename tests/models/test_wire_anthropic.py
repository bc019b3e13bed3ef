"""What goes to Anthropic."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.models.errors import BadRequest
from handrail.models.port import Effort, ReasoningOptions
from handrail.testing.models import ANTHROPIC
from handrail.testing.wire.turns import PARALLEL_CALLS, TEXT, Turn
from handrail.transcripts.model import Artifact, Author, Image, Message, Raw, Text, Thinking, ToolResult, ToolUse
from tests.models.conversations import delivered, said
from tests.models.exchanges import OTHER, PNG, PROBE, exchanged, sent

_PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}


def test_thinking_and_its_signature_come_back_as_they_came_sealed_ones_too() -> None:
    thinking = (Thinking("Let me see.", signature="c2lnbmVk"), Thinking("", encrypted="c2VhbGVk"))
    turn = Turn(content=(*thinking, Text("I look.", Author.MODEL), ToolUse("toolu_1", Raw("probe", {"value": "a"}))))
    exchange = exchanged(ANTHROPIC, [turn, TEXT], [said("go"), delivered(ToolResult("toolu_1", "seen"))])
    assert [
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "c2VhbGVk"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "probe", "input": {"value": "a"}},
    ] == exchange.bodies[1]["messages"][1]["content"]


def test_thinking_that_no_anthropic_model_signed_is_not_sent() -> None:
    foreign = Message(role="assistant", content=(Thinking("Mine.", signature="x"), Text("Hello.", Author.MODEL)))
    body = sent(ANTHROPIC, [said("go"), foreign, said("on")])
    assert [{"type": "text", "text": "Hello."}] == body["messages"][1]["content"]


def test_results_of_parallel_calls_go_back_in_one_message_with_what_rode_along() -> None:
    told = delivered(
        Text("look there too", Author.PERSON),
        ToolResult(
            "call_a", [{"type": "text", "text": "seen"}, {"type": "image", "media_type": "image/png", "data": PNG}]
        ),
        ToolResult("call_b", "broken", is_error=True),
    )
    exchange = exchanged(ANTHROPIC, [PARALLEL_CALLS, TEXT], [said("go"), told])
    first, second, rest = exchange.bodies[1]["messages"][2]["content"]
    assert ("call_a", [{"type": "text", "text": "seen"}, _PICTURE]) == (first["tool_use_id"], first["content"])
    assert ("call_b", True) == (second["tool_use_id"], second["is_error"])
    assert {"type": "text", "text": "look there too"} == rest


def test_pictures_and_attachments_are_shown() -> None:
    message = delivered(
        Image("image/png", PNG),
        Artifact("a", "notes.md", text="read me"),
        Artifact("b", "big.bin", path="/tmp/big.bin"),
    )
    content = sent(ANTHROPIC, [message])["messages"][0]["content"]
    texts = [one["text"] for one in content if one["type"] == "text"]
    assert _PICTURE == content[0]
    assert ["notes.md:\nread me", "big.bin (/tmp/big.bin)"] == texts


def test_instructions_are_the_whole_system_prompt() -> None:
    assert ["Be brief."] == [one["text"] for one in sent(ANTHROPIC, instructions="Be brief.")["system"]]


def test_tools_are_offered_with_their_schemas_untouched() -> None:
    (tool,) = sent(ANTHROPIC, tools=(PROBE,))["tools"]
    assert ("probe", "Looks at one thing.", PROBE.input_schema) == (
        tool["name"],
        tool["description"],
        tool["input_schema"],
    )


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ("probe", {"type": "tool", "name": "probe"}),
    ],
)
def test_a_tool_can_be_left_open_forbidden_or_forced(choice: str, expected: Any) -> None:
    body = sent(ANTHROPIC, tools=(PROBE, OTHER), tool_choice=choice)
    assert expected == body["tool_choice"]
    assert ["probe", "other"] == [tool["name"] for tool in body["tools"]]


def test_a_forced_tool_that_is_not_on_offer_is_refused_here() -> None:
    with pytest.raises(BadRequest, match="'other' must be called"):
        sent(ANTHROPIC, tools=(PROBE,), tool_choice="other")


def test_tools_instructions_and_the_conversation_are_cached() -> None:
    body = sent(ANTHROPIC, instructions="Be brief.", tools=(PROBE,))
    assert all("cache_control" in one for one in (body, body["system"][-1], body["tools"][-1]))


@pytest.mark.parametrize("effort", list(Effort))
def test_every_effort_goes_out_as_it_is_with_adaptive_thinking(effort: Effort) -> None:
    body = sent(ANTHROPIC, reasoning=ReasoningOptions(effort))
    assert ({"effort": effort.value}, {"type": "adaptive"}) == (body["output_config"], body["thinking"])


def test_without_reasoning_options_nothing_is_said_of_it() -> None:
    assert {"output_config", "thinking"}.isdisjoint(sent(ANTHROPIC))


def test_a_summary_can_be_asked_for_and_its_size_not() -> None:
    thinking = sent(ANTHROPIC, reasoning=ReasoningOptions(summary="auto"))["thinking"]
    assert {"type": "adaptive", "display": "summarized"} == thinking
    with pytest.raises(BadRequest, match="a concise summary"):
        sent(ANTHROPIC, reasoning=ReasoningOptions(summary="concise"))


def test_ids_that_a_provider_would_refuse_are_replaced_in_call_and_result_alike() -> None:
    def round_of(id: str) -> list[Message]:
        call = ToolUse(id, Raw("probe", {"value": "a"}))
        return [Message(role="assistant", content=(call,)), delivered(ToolResult(id, f"for {id}"))]

    # Two runs of one session number their calls alike, and another harness may put anything into an id.
    messages = [said("go"), *round_of("call_1"), *round_of("call_1"), *round_of("fc|1:ü")]
    blocks = [one for message in sent(ANTHROPIC, messages)["messages"] for one in message["content"]]
    calls = [one["id"] for one in blocks if one["type"] == "tool_use"]
    results = [one["tool_use_id"] for one in blocks if one["type"] == "tool_result"]
    assert calls == results
    assert ["call_1", "call_1_2"] == calls[:2]
    assert calls[2].isascii()
    assert calls[2].replace("_", "").isalnum()


def test_an_input_that_was_no_json_is_told_to_be_none() -> None:
    call = Message(role="assistant", content=(ToolUse("call_1", Raw("probe", '{"value": ')),))
    body = sent(ANTHROPIC, [said("go"), call, delivered(ToolResult("call_1", "no JSON", is_error=True))])
    assert {"INVALID_JSON": '{"value": '} == body["messages"][1]["content"][0]["input"]


def test_a_conversation_that_ends_with_the_model_is_refused_here() -> None:
    with pytest.raises(BadRequest, match="something to answer"):
        sent(ANTHROPIC, [said("go"), Message(role="assistant", content=(Text("Hello.", Author.MODEL),))])
