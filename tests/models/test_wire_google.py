"""What goes to Google."""

from __future__ import annotations

import pytest

from handrail.models.errors import BadRequest
from handrail.models.port import Effort, ReasoningOptions
from handrail.testing.models import GOOGLE
from handrail.testing.wire.turns import TEXT, Turn
from handrail.transcripts.model import Raw, ToolResult, ToolUse
from tests.models.conversations import delivered, said
from tests.models.exchanges import PROBE, exchanged, sent


def test_the_signature_of_a_call_rides_on_the_call_and_comes_back_with_it() -> None:
    calls = (
        ToolUse("call_1", Raw("probe", {"value": "a"}), provider="c2lnbmVk"),
        ToolUse("call_2", Raw("probe", {"value": "b"})),
    )
    told = delivered(ToolResult("call_1", "seen"), ToolResult("call_2", "gone", is_error=True))
    exchange = exchanged(GOOGLE, [Turn(content=calls, stop_reason="tool_use"), TEXT], [said("go"), told])
    signed, bare = (block.provider for block in exchange.replies[0].content if isinstance(block, ToolUse))
    assert {"thought_signature": "c2lnbmVk"} == signed["details"]
    assert bare is None
    _, answer, results = exchange.bodies[1]["contents"]
    assert [
        {"functionCall": {"id": "call_1", "name": "probe", "args": {"value": "a"}}, "thoughtSignature": "c2lnbmVk"},
        {"functionCall": {"id": "call_2", "name": "probe", "args": {"value": "b"}}},
    ] == answer["parts"]
    assert [{"return_value": "seen"}, {"error": "gone"}] == [
        one["functionResponse"]["response"] for one in results["parts"]
    ]


@pytest.mark.parametrize("effort", [Effort.LOW, Effort.MEDIUM, Effort.HIGH])
def test_the_efforts_it_knows_go_out(effort: Effort) -> None:
    body = sent(GOOGLE, reasoning=ReasoningOptions(effort, "auto"))
    config = body["generationConfig"]["thinkingConfig"]
    assert {"thinking_level": effort.value.upper(), "include_thoughts": True} == config


@pytest.mark.parametrize("effort", [Effort.XHIGH, Effort.MAX])
def test_an_effort_it_does_not_know_is_refused_here_and_never_made_less(effort: Effort) -> None:
    with pytest.raises(BadRequest, match=f"the effort {effort}"):
        sent(GOOGLE, reasoning=ReasoningOptions(effort))


def test_instructions_and_tools_are_told() -> None:
    body = sent(GOOGLE, instructions="Be brief.", tools=(PROBE,))
    assert [{"text": "Be brief."}] == body["systemInstruction"]["parts"]
    (declared,) = body["tools"][0]["functionDeclarations"]
    assert ("probe", PROBE.input_schema) == (declared["name"], declared["parameters_json_schema"])
