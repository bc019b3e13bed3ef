"""The neutral document: what people write by hand, what we write, and what damage costs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from handrail.errors import MalformedSession
from handrail.harnesses import harness
from handrail.harnesses.simple import SimpleCodec, check_document
from handrail.testing.strategies import conversations, sessions
from handrail.transcripts.calls import parse_call, render_call
from handrail.transcripts.model import (
    Artifact,
    Author,
    Bash,
    Block,
    Command,
    Common,
    Image,
    Message,
    Meta,
    Refusal,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
    Via,
)

CODEC = SimpleCodec()

BY_HAND = """
{"id": "run-9", "timestamp": "2026-05-01T08:00:00Z", "cwd": "/srv/shop", "messages": [
  {"role": "user", "content": "list files"},
  {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]},
  {"role": "user", "content": [{"type": "tool_result", "content": "a.txt"}]},
  {"role": "assistant", "content": "One file."}]}
"""


def read(document: Any) -> Transcript[Common]:
    return CODEC.to_common(CODEC.parse(json.dumps(document).encode()))


def content(*blocks: Any, role: str = "user") -> tuple[Block, ...]:
    (message,) = read({"messages": [{"role": role, "content": list(blocks)}]}).body
    return message.content


def faults(document: Any) -> list[str]:
    return [fault.message for fault in CODEC.faults(CODEC.parse(json.dumps(document).encode()))]


def written(*blocks: Block) -> Any:
    body: Common = (Message(role="user", content=blocks),)
    common = Transcript(Meta(id="s1"), body)
    data = CODEC.render(CODEC.from_common(common))
    assert isinstance(data, bytes)
    return json.loads(data)["messages"][0]["content"]


def test_a_document_written_by_hand_is_a_session() -> None:
    session = CODEC.to_common(CODEC.parse(BY_HAND.encode()))
    assert session.meta == Meta(
        id="run-9", timestamp=datetime(2026, 5, 1, 8, tzinfo=UTC), cwd="/srv/shop", harness="simple"
    )
    (use,) = session.body[1].content
    assert isinstance(use, ToolUse)
    assert use.call == Bash("ls")
    assert session.body[2].content == (ToolResult(use.id, "a.txt"),)
    assert session.body[3].content == (Text("One file.", Author.MODEL),)
    assert session.tool_pairs() == [(1, 2)]


def test_words_of_a_user_without_an_author_are_nobodys() -> None:
    assert content({"type": "text", "text": "hi"}) == (Text("hi", Author.UNKNOWN),)
    assert content({"type": "text", "text": "hi", "author": "person"}) == (Text("hi", Author.PERSON),)


def test_a_person_named_inside_a_response_is_not_believed() -> None:
    assert content({"type": "text", "text": "hi", "author": "person"}, role="assistant") == (
        Text("hi", Author.UNKNOWN),
    )


def test_plain_words_are_written_as_a_plain_string_and_others_with_their_author() -> None:
    assert written(Text("hi")) == "hi"
    assert written(Text("hi", Author.PERSON, via=Via.STEER)) == [
        {"type": "text", "text": "hi", "author": "person", "via": "steer"}
    ]


def test_results_without_an_id_go_to_the_oldest_call_that_waits() -> None:
    uses = [
        {"type": "tool_use", "name": "x"},
        {"type": "tool_use", "name": "y", "id": "b"},
        {"type": "tool_use", "name": "z"},
    ]
    results = [{"type": "tool_result", "tool_use_id": "b"}, {"type": "tool_result"}, {"type": "tool_result"}]
    session = read(
        {"id": "s", "messages": [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]}
    )
    calls = [block.id for block in session.body[0].content if isinstance(block, ToolUse)]
    answers = [block.tool_use_id for block in session.body[1].content if isinstance(block, ToolResult)]
    assert answers == ["b", calls[0], calls[2]]
    assert len(set(calls)) == 3


def test_a_result_is_text_or_any_other_json_and_absent_is_empty_but_null_is_null() -> None:
    given_blocks = [
        {"type": "tool_result", "tool_use_id": "a", **extra} for extra in ({}, {"content": None}, {"content": [1]})
    ]
    assert content(*given_blocks) == (ToolResult("a", ""), ToolResult("a", None), ToolResult("a", [1]))


def test_refusals_images_artifacts_and_commands_have_their_keys() -> None:
    refusal = Refusal(RefusalKind.DENIED, "person", "no")
    assert written(ToolResult("a", "x", True, refusal)) == [
        {
            "type": "tool_result",
            "tool_use_id": "a",
            "content": "x",
            "is_error": True,
            "refusal": {"kind": "denied", "by": "person", "reason": "no"},
        }
    ]
    assert written(Image("image/png", "aGk=")) == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    ]
    assert written(Artifact("1", "n.txt", path="/n.txt")) == [
        {"type": "artifact", "artifact": {"id": "1", "name": "n.txt", "source": {"type": "path", "path": "/n.txt"}}}
    ]
    assert written(ToolUse("c", Command("/release", "patch"))) == [
        {"type": "tool_use", "id": "c", "name": "/release", "input": {"args": "patch"}}
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"{", "no JSON"),
        (b"[]", "no JSON object"),
        (b'{"id": "x"}', "no list of messages"),
        (b'{"messages": {}}', "no list of messages"),
    ],
)
def test_the_strict_door_refuses_what_is_no_document_and_reading_gives_an_empty_one(data: bytes, reason: str) -> None:
    with pytest.raises(MalformedSession, match=reason):
        check_document(data)
    assert CODEC.to_common(CODEC.parse(data)).body == ()


def test_the_strict_door_lets_through_what_only_holds_bad_messages() -> None:
    check_document(b'{"messages": [1, {"role": "wizard"}]}')


def test_a_wrong_field_costs_the_field_only() -> None:
    document = {
        "id": 5,
        "timestamp": "yesterday",
        "messages": [
            {"role": " User ", "content": "hi", "timestamp": "2026-01-01T00:00:00", "usage": {"input_tokens": "x"}}
        ],
    }
    session = read(document)
    assert session.meta == Meta(harness="simple")
    assert session.body == (Message(role="user", content=(Text("hi"),)),)
    assert len(faults(document)) == 4


@pytest.mark.parametrize(
    "message", [7, {"role": "wizard", "content": "x"}, {"content": "x"}, {"role": "user", "content": 4}]
)
def test_a_message_without_a_role_or_content_costs_itself_and_is_named_by_its_bytes(message: Any) -> None:
    data = json.dumps({"messages": [{"role": "user", "content": "a"}, message]}).encode()
    native = CODEC.parse(data)
    assert [one.content for one in CODEC.to_common(native).body] == [(Text("a"),)]
    (fault,) = CODEC.faults(native)
    assert json.loads(data[fault.start : fault.end]) == message


def test_an_unknown_block_is_counted_and_its_message_stays() -> None:
    native = CODEC.parse(b'{"messages": [{"role": "user", "content": [{"type": "hologram"}]}]}')
    assert CODEC.to_common(native).body == (Message(role="user"),)
    assert CODEC.unknown(native) == {"hologram": 1}
    assert CODEC.faults(native) == ()


def test_an_instant_with_another_zone_is_put_into_utc_and_microseconds_stay() -> None:
    document = {"timestamp": "2026-05-01T10:00:00.000250+02:00", "messages": []}
    session = read(document)
    assert session.meta.timestamp == datetime(2026, 5, 1, 8, 0, 0, 250, tzinfo=UTC)
    assert CODEC.to_common(CODEC.from_common(session)).meta == session.meta


def test_a_stop_reason_nobody_knows_is_written_as_another() -> None:
    session = read({"messages": [{"role": "assistant", "stop_reason": {"other": "pause_turn"}}]})
    assert session.body[0].stop_reason == "pause_turn"
    data = CODEC.render(CODEC.from_common(session))
    assert isinstance(data, bytes)
    assert json.loads(data)["messages"][0]["stop_reason"] == {"other": "pause_turn"}


def test_the_documents_bytes_are_pretty_sorted_and_end_with_a_line_feed() -> None:
    data = CODEC.render(CODEC.from_common(CODEC.to_common(CODEC.parse(BY_HAND.encode()))))
    assert isinstance(data, bytes)
    assert data.startswith(b'{\n  "cwd": "/srv/shop",\n  "id": "run-9",\n')
    assert data.endswith(b"\n}\n")


@settings(deadline=None)
@given(conversations())
def test_a_conversation_comes_back_whole(common: Transcript[Common]) -> None:
    native, loss = CODEC.write(common)
    assert not loss.items
    back = CODEC.to_common(CODEC.parse(CODEC.render(native)))
    assert back.body == common.body
    assert back.meta.parent == common.meta.parent
    assert loss.uids == {uid: uid for message in common.body for uid in message.uids}


@settings(deadline=None)
@given(sessions())
def test_any_session_comes_back_whole_but_for_what_the_loss_names(common: Transcript[Common]) -> None:
    native, loss = CODEC.write(common)
    named = {(item.what, item.message, item.block) for item in loss.items}
    for index, (was, became) in enumerate(zip(common.body, CODEC.to_common(native).body, strict=True)):
        for position, (before, after) in enumerate(zip(was.content, became.content, strict=True)):
            if isinstance(before, ToolUse) and parse_call(*render_call(before.call)) != before.call:
                assert ("tool_use.call", index, position) in named
            elif was.role == "assistant" and isinstance(before, Text) and before.author is Author.PERSON:
                assert ("text.author", index, position) in named
            else:
                assert after == before


def test_simple_lives_nowhere() -> None:
    assert harness("simple").store is None
