"""What a conversation keeps when it goes on with another provider, and what every request has."""

from __future__ import annotations

import itertools

import pytest

from handrail import jsonio
from handrail.testing.models import ANTHROPIC, CHAT, GOOGLE, RESPONSES, SPELLED
from handrail.testing.wire.turns import Fault, Turn
from handrail.transcripts.model import (
    Author,
    Compaction,
    Decision,
    Interrupt,
    Raw,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from tests.models.conversations import delivered, said
from tests.models.exchanges import exchanged, failed, sent

_SIGNED = {
    ANTHROPIC: Thinking("secret thought", signature="c2VjcmV0"),
    RESPONSES: Thinking("secret thought", encrypted="c2VjcmV0"),
    CHAT: Thinking("secret thought"),
    GOOGLE: Thinking("secret thought"),
}


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(SPELLED, 2)))
def test_another_provider_gets_words_and_calls_and_nothing_that_is_bound_to_the_first(source: str, target: str) -> None:
    call = ToolUse("call_1", Raw("probe", {"value": "a"}), provider="c2VjcmV0" if source is GOOGLE else None)
    turn = Turn(content=(_SIGNED[source], Text("I look.", Author.MODEL), call), stop_reason="tool_use")
    (reply,) = exchanged(source, [turn], [said("go")]).replies
    assert reply.provider is not None
    spelled = jsonio.encode(sent(target, [said("go"), reply, delivered(ToolResult("call_1", "seen"))])).decode()
    assert all(word in spelled for word in ("I look.", "probe", "seen"))
    assert not [word for word in ("secret", "c2VjcmV0", "rs_0", "fc_2", "msg_1") if word in spelled]


@pytest.mark.parametrize("fault", [Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.OVERLOADED, Fault.CUT])
@pytest.mark.parametrize("model", list(SPELLED))
def test_a_request_that_failed_was_sent_once(model: str, fault: Fault) -> None:
    assert 1 == len(failed(model, fault))


@pytest.mark.parametrize("model", list(SPELLED))
def test_what_happened_between_is_told_in_words(model: str) -> None:
    told = delivered(
        Compaction("What came before."),
        Interrupt(Author.PERSON),
        Decision("Ship it?", Author.PERSON, choice="Not yet", comment="after the test", before="a", after="b"),
    )
    spelled = jsonio.encode(sent(model, [told])).decode()
    expected = ("What came before.", "interrupted", "Ship it?: Not yet", "after the test", "It now reads:\\nb")
    assert [] == [words for words in expected if words not in spelled]


@pytest.mark.parametrize("model", list(SPELLED))
def test_who_wrote_a_text_is_nothing_to_a_model(model: str) -> None:
    by_author = [sent(model, [delivered(Text("go", author))]) for author in Author]
    assert all(body == by_author[0] for body in by_author)
