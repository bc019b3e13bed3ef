"""Comparing a session with what was read back: what is found, where, and what a Loss accounts for."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from handrail.testing.differences import BOUNDARY, accounts_for, differences, unaccounted, unfounded
from handrail.testing.examples import CORRECTED, EXAMPLES, PLAIN
from handrail.testing.strategies import sessions
from handrail.transcripts.codec import Loss, LossItem
from handrail.transcripts.model import (
    Author,
    Block,
    Common,
    Message,
    Parent,
    Refusal,
    RefusalKind,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Transcript,
    Usage,
)

Session = Transcript[Common]


def _session(*body: Message) -> Session:
    return Transcript(PLAIN.meta, body)


def _with_message(session: Session, number: int, **changes: Any) -> Session:
    body = list(session.body)
    body[number] = msgspec.structs.replace(body[number], **changes)
    return Transcript(session.meta, tuple(body))


def _with_block(session: Session, number: int, index: int, block: Block) -> Session:
    content = list(session.body[number].content)
    content[index] = block
    return _with_message(session, number, content=tuple(content))


def _without(session: Session, number: int) -> Session:
    return Transcript(session.meta, session.body[:number] + session.body[number + 1 :])


def _told(source: Session, back: Session, loss: Loss | None = None) -> list[tuple[str, int | None, int | None]]:
    return [(found.what, found.message, found.block) for found in differences(source, back, loss)]


@settings(max_examples=50)
@given(sessions())
def test_a_session_does_not_differ_from_itself(session: Session) -> None:
    assert differences(session, session) == ()


@pytest.mark.parametrize("session", EXAMPLES)
def test_what_may_differ_is_not_compared(session: Session) -> None:
    meta = msgspec.structs.replace(session.meta, harness="other", parent=Parent(session="p", kind="fork"))
    body = tuple(msgspec.structs.replace(m, uid="x", uids=("x", "y"), is_bridged=True) for m in session.body)
    assert differences(session, Transcript(meta, body)) == ()


def test_a_changed_field_is_told_by_its_dotted_name() -> None:
    meta = msgspec.structs.replace(PLAIN.meta, title=None)
    assert _told(PLAIN, Transcript(meta, PLAIN.body)) == [("meta.title", None, None)]
    assert _told(PLAIN, _with_message(PLAIN, 1, stop_reason=None)) == [("message.stop_reason", 1, None)]
    assert _told(PLAIN, _with_message(PLAIN, 1, usage=None)) == [("message.usage", 1, None)]
    usage = Usage(input_tokens=901, output_tokens=40)
    assert _told(PLAIN, _with_message(PLAIN, 1, usage=usage)) == [("message.usage.cache_read_input_tokens", 1, None)]
    block = Thinking("A look at the file will tell.")
    assert _told(PLAIN, _with_block(PLAIN, 1, 0, block)) == [("thinking.signature", 1, 0)]


def test_a_changed_value_inside_of_a_field_is_told_by_its_own_name() -> None:
    refused = Refusal(kind=RefusalKind.BLOCKED, by="policy", reason="not here")
    result = ToolResult("t1", "", is_error=True, refusal=refused)
    source = _with_block(PLAIN, 0, 0, result)
    wordless = msgspec.structs.replace(result, refusal=msgspec.structs.replace(refused, reason=None))
    found = differences(source, _with_block(PLAIN, 0, 0, wordless))
    assert [difference.what for difference in found] == ["tool_result.refusal.reason"]
    named = [LossItem(what=what, why="-", message=0, block=0) for what in ("tool_result.refusal.reason", "tool_result")]
    assert unfounded(Loss(items=tuple(named)), found) == ()
    wrong = LossItem(what="tool_result.refusal.kind", why="-", message=0, block=0)
    assert unfounded(Loss(items=(wrong,)), found) == (wrong,)


def test_what_is_not_compared_may_be_named_down_to_its_fields() -> None:
    named = [LossItem(what=what, why="-") for what in ("meta.parent", "meta.parent.at", "meta.title")]
    assert unfounded(Loss(items=tuple(named)), ()) == (named[2],)


def test_the_field_of_a_block_that_is_gone_may_be_named() -> None:
    found = differences(PLAIN, _without(PLAIN, 0))
    assert [(difference.what, difference.message, difference.block) for difference in found] == [("text", 0, 0)]
    here = LossItem(what="text.via", why="-", message=0, block=0)
    elsewhere = LossItem(what="thinking.signature", why="-", message=1, block=0)
    assert unfounded(Loss(items=(here, elsewhere)), found) == (elsewhere,)


def test_a_changed_author_is_told_though_the_words_are_the_same() -> None:
    block = Text("How many rows does the orchard file have?", Author.UNKNOWN)
    assert _told(PLAIN, _with_block(PLAIN, 0, 0, block)) == [("text.author", 0, 0), ("text.via", 0, 0)]


def test_true_is_not_one_deep_inside() -> None:
    use = PLAIN.body[1].content[2]
    assert isinstance(use, ToolUse)
    one = _with_block(PLAIN, 1, 2, msgspec.structs.replace(use, provider={"a": [1]}))
    true = _with_block(PLAIN, 1, 2, msgspec.structs.replace(use, provider={"a": [True]}))
    assert _told(one, true) == [("tool_use.provider", 1, 2)]


@pytest.mark.parametrize("number", range(len(PLAIN.body)))
def test_a_missing_message_is_told_block_by_block(number: int) -> None:
    expected = [(block.__struct_config__.tag, number, index) for index, block in enumerate(PLAIN.body[number].content)]
    assert _told(PLAIN, _without(PLAIN, number)) == expected


def test_a_missing_empty_message_is_told() -> None:
    source = Transcript(PLAIN.meta, (*PLAIN.body, Message(role="user", uid="e")))
    assert _told(source, PLAIN) == [("message", len(PLAIN.body), None)]


def test_a_new_block_is_told_after_the_message_before_it() -> None:
    back = Transcript(PLAIN.meta, (PLAIN.body[0], Message(role="user", content=(Text("made up"),)), *PLAIN.body[1:]))
    assert _told(PLAIN, back) == [("text", 0, None)]


def test_a_block_in_another_shape_is_told_once() -> None:
    """What stands where a block went missing is that block in the target's words."""
    back = _with_block(CORRECTED, 3, 0, Text("[interrupted]"))
    assert _told(CORRECTED, back) == [("interrupt", 3, 0)]


def test_split_and_joined_messages_are_told() -> None:
    first, second = PLAIN.body[1], PLAIN.body[3]
    halves = [msgspec.structs.replace(first, content=part) for part in (first.content[:1], first.content[1:])]
    split = Transcript(PLAIN.meta, (PLAIN.body[0], *halves, *PLAIN.body[2:]))
    assert _told(PLAIN, split) == [(BOUNDARY, 1, None)]
    source = _session(first, second)
    joined = _session(msgspec.structs.replace(first, content=first.content + second.content))
    assert (BOUNDARY, 1, None) in _told(source, joined)


def test_an_exchanged_order_is_told() -> None:
    swapped = Transcript(PLAIN.meta, (*PLAIN.body[:3], PLAIN.body[4], PLAIN.body[3]))
    assert differences(PLAIN, swapped)


def test_of_equal_words_the_one_the_loss_names_is_the_missing_one() -> None:
    twice = Transcript(
        PLAIN.meta, tuple(Message(role="user", content=(Text("yes"),), uid=f"u{number}") for number in range(3))
    )
    back = _without(twice, 0)
    for number in range(3):
        loss = Loss(items=(LossItem(what="text", why="no place", message=number, block=0),))
        assert _told(twice, back, loss) == [("text", number, 0)]
        assert accounts_for(loss, differences(twice, back, loss))


def test_the_uid_map_of_the_loss_says_which_message_is_which() -> None:
    twice = Transcript(
        PLAIN.meta, tuple(Message(role="user", content=(Text("yes"),), uid=f"u{number}") for number in range(3))
    )
    back = _session(Message(role="user", content=(Text("yes"),), uid="w"))
    for number in range(3):
        gone = [found[1] for found in _told(twice, back, Loss(uids={f"u{number}": "w"}))]
        assert gone == [other for other in range(3) if other != number]


@pytest.mark.parametrize(
    ("item", "is_named"),
    [
        (LossItem(what="thinking.signature", why="-", message=1, block=0), True),
        (LossItem(what="thinking.signature", why="-", message=1), True),
        (LossItem(what="thinking.signature", why="-"), True),
        (LossItem(what="thinking", why="-", message=1, block=0), True),
        (LossItem(what="message", why="-", message=1), True),
        (LossItem(what="thinking.signature", why="-", message=3, block=0), False),
        (LossItem(what="thinking.signature", why="-", message=1, block=1), False),
        (LossItem(what="thinking.sig", why="-", message=1, block=0), False),
        (LossItem(what="thinking.encrypted", why="-", message=1, block=0), False),
        (LossItem(what="meta.title", why="-"), False),
    ],
)
def test_an_item_accounts_for_its_own_field_and_all_below_it(item: LossItem, is_named: bool) -> None:
    back = _with_block(PLAIN, 1, 0, Thinking("A look at the file will tell."))
    found = differences(PLAIN, back)
    assert accounts_for(Loss(items=(item,)), found) is is_named
    assert unaccounted(Loss(items=(item,)), found) == (() if is_named else found)


def test_a_long_session_is_compared_piece_by_piece() -> None:
    """Three thousand messages would be nine million pairs; the uid map cuts them into small pieces."""
    body = tuple(Message(role="user", content=(Text(f"{number % 7}"),), uid=f"u{number}") for number in range(3000))
    source = Transcript(PLAIN.meta, body)
    kept = body[:1500] + body[1501:]
    back = Transcript(PLAIN.meta, tuple(msgspec.structs.replace(message, uid="w" + message.uid) for message in kept))
    loss = Loss(uids={message.uid: "w" + message.uid for message in kept})
    assert _told(source, back, loss) == [("text", 1500, 0)]
