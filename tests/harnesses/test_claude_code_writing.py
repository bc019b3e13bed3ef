"""Canonical sessions as Claude Code would have written them, and what the Loss says of the rest."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings

from handrail.testing import strategies
from handrail.testing.differences import differences, unaccounted
from handrail.transcripts.codec import Loss
from handrail.transcripts.model import (
    Artifact,
    Author,
    Bash,
    Block,
    Command,
    Common,
    Compaction,
    Decision,
    Image,
    Interrupt,
    Json,
    Message,
    Meta,
    Raw,
    Refusal,
    RefusalKind,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Transcript,
    Usage,
    Via,
)
from tests.harnesses.claude_rows import CODEC

WHEN = datetime(2026, 3, 1, 10, 0, 0, 250_000, UTC)
PROMPT = Text("go", Author.PERSON, None, Via.PROMPT)


def user(*blocks: Block) -> Message:
    return Message(role="user", content=blocks, timestamp=WHEN)


def agent(*blocks: Block, **fields: Any) -> Message:
    return Message(role="assistant", content=blocks, timestamp=WHEN, model="m", **fields)


def write(*body: Message, **meta: Any) -> tuple[Common, Loss, list[dict[str, Any]]]:
    """What reads back, the loss, the rows."""
    source = Transcript(Meta(id="s", timestamp=WHEN, model="m", cwd="/w", **meta), body)
    native, loss = CODEC.write(source)
    data = CODEC.render(native)
    assert isinstance(data, bytes) and data.endswith(b"\n")
    back = tuple(
        Message(**{field: getattr(m, field) for field in m.__struct_fields__ if field not in ("uid", "uids")})
        for m in CODEC.to_common(CODEC.parse(data)).body
    )
    return back, loss, [json.loads(line) for line in data.splitlines()]


def of_messages(loss: Loss) -> list[tuple[str, int | None, int | None]]:
    """What a loss names in messages, leaving out what it says of the session as a whole."""
    return [(item.what, item.message, item.block) for item in loss.items if not item.what.startswith("meta.")]


@pytest.mark.parametrize(
    "body",
    [
        (user(PROMPT), agent(Text("done", Author.MODEL), stop_reason="end_turn")),
        (user(Text("queued", Author.PERSON, None, Via.QUEUE)), agent(Text("ok", Author.MODEL))),
        (user(PROMPT, Image("image/png", "aGk="), Text("see", Author.PERSON, None, Via.PROMPT)),),
        (
            user(PROMPT),
            agent(
                Thinking("hm", "sig"),
                Text("a", Author.MODEL),
                ToolUse("t1", Bash("ls", timeout_ms=5)),
                stop_reason="tool_use",
            ),
            user(ToolResult("t1", "out"), Text("use tabs", Author.PERSON, None, Via.STEER)),
            agent(Thinking("", None, "enc")),
        ),
        (agent(ToolUse("t1", Bash("ls"))), user(ToolResult("t1", "no", True, Refusal(RefusalKind.DENIED, "person")))),
        (agent(ToolUse("t1", Bash("ls"))), user(ToolResult("t1", "no", False, Refusal(RefusalKind.BLOCKED, "policy")))),
        (agent(Text("a", Author.MODEL)), user(Interrupt(Author.PERSON)), agent(Text("b", Author.MODEL))),
        (agent(Text("a", Author.MODEL)), user(Interrupt()), user(PROMPT)),
        (user(PROMPT), user(Compaction("sum", "auto", 9, 3)), user(PROMPT)),
        (user(Text("from a peer", Author.PEER, "w1")), user(Text("from nobody known"))),
        (
            agent(ToolUse("t1", Raw("AskUserQuestion", {"questions": [{"question": "Which?"}, {"question": "How?"}]}))),
            user(
                ToolResult("t1", 'User has answered your questions: "Which?"="A"'),
                Decision("Which?", Author.PERSON, "A", "for now"),
                Text("by hand", Author.PERSON, None, Via.ANSWER),
            ),
        ),
        (
            user(ToolUse("5e55104e-0000-4000-8000-000000000009", Command("/x", "y z"))),
            user(ToolResult("5e55104e-0000-4000-8000-000000000009", "out")),
        ),
        (
            agent(ToolUse("t1", Raw("mcp__a__B", {"k": [1, None]}))),
            user(ToolResult("t1", [{"type": "text", "text": "x"}])),
        ),
    ],
)
def test_what_has_a_spelling_reads_back_without_loss(body: Common) -> None:
    back, loss, _ = write(*body)
    assert (body, []) == (back, of_messages(loss))


@pytest.mark.parametrize("author", [Author.HARNESS, Author.HOST])
def test_text_of_a_harness_or_host_is_never_a_turn(author: Author) -> None:
    back, loss, rows = write(user(Text("injected words", author, "x"), PROMPT))
    assert (user(PROMPT),) == back
    assert [("text", 0, 0)] == of_messages(loss)
    assert "injected words" not in json.dumps(rows)


def test_text_of_nobody_known_does_not_read_back_as_a_persons() -> None:
    back, _, _ = write(user(Text("who said this?", Author.UNKNOWN)), cli_version="0.50.1")
    assert (Text("who said this?"),) == back[0].content


def test_words_that_look_like_a_marker_are_named_in_the_loss() -> None:
    _, loss, _ = write(user(Text("<task-notification>x", Author.PERSON, None, Via.PROMPT)))
    assert "text.author" in {item.what for item in loss.items}


def test_a_refusal_with_words_is_written_in_claude_codes_own() -> None:
    refusal = Refusal(RefusalKind.DENIED, "person", "use tabs")
    back, loss, _ = write(agent(ToolUse("t1", Bash("ls"))), user(ToolResult("t1", "rejected", True, refusal)))
    result = back[1].content[0]
    assert type(result) is ToolResult and refusal == result.refusal
    assert [("tool_result.content", 1, 0)] == [(item.what, item.message, item.block) for item in loss.items]


def test_a_denial_by_nobody_known_does_not_become_a_persons() -> None:
    back, loss, _ = write(
        agent(ToolUse("t1", Bash("ls"))), user(ToolResult("t1", "no", True, Refusal(RefusalKind.DENIED)))
    )
    result = back[1].content[0]
    assert type(result) is ToolResult and result.refusal is None
    assert ["tool_result.refusal"] == [item.what for item in loss.items]


def test_ids_the_provider_refuses_are_replaced_on_both_sides_and_named() -> None:
    back, loss, _ = write(agent(ToolUse("a b/c", Bash("ls"))), user(ToolResult("a b/c", "x")))
    assert [(0, 1)] == Transcript(Meta(), back).tool_pairs()
    assert {"tool_use.id", "tool_result.tool_use_id"} == {item.what for item in loss.items}


@pytest.mark.parametrize("kind", ["knowledge", ["text"], {}])
def test_content_that_does_not_load_is_written_as_json_text(kind: Json) -> None:
    content = [{"type": kind}]
    back, loss, _ = write(agent(ToolUse("t1", Bash("ls"))), user(ToolResult("t1", content)))
    assert (ToolResult("t1", json.dumps(content, separators=(",", ":"))),) == back[1].content
    assert ["tool_result.content"] == [item.what for item in loss.items]


def test_what_has_no_place_is_named_one_by_one() -> None:
    _, loss, _ = write(
        agent(
            ToolUse("t1", Bash("ls"), {"signature": "x"}),
            Thinking("a", "s", "e"),
            usage=Usage(input_tokens=1, output_tokens=2, reasoning_tokens=3),
        ),
        user(Artifact("id", "name", path="/x")),
    )
    assert {
        ("tool_use.provider", 0, 0),
        ("thinking.encrypted", 0, 1),
        ("message.usage.reasoning_tokens", 0, None),
        ("artifact", 1, 0),
        ("message", 1, None),
    } <= {(item.what, item.message, item.block) for item in loss.items}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (
            (agent(Text("a", Author.MODEL), usage=Usage(input_tokens=1, output_tokens=2, reasoning_tokens=3)),),
            ("message.usage.reasoning_tokens", 0, None),
        ),
        ((agent(ToolUse("t1", Raw("mcp__a__B", "words"))),), ("tool_use.call.input", 0, 0)),
        (
            (
                agent(ToolUse("t1", Bash("ls"))),
                user(ToolResult("t1", "no", False, Refusal(RefusalKind.BLOCKED, "policy", "not here"))),
            ),
            ("tool_result.refusal.reason", 1, 0),
        ),
        ((user(PROMPT, ToolUse("t1", Raw("mcp__a__B", {}), {"signature": "x"})),), ("tool_use", 0, 1)),
    ],
    ids=["usage", "call", "refusal", "a block that is gone"],
)
def test_what_differs_in_a_part_is_named_once_and_as_that_part(
    body: Common, named: tuple[str, int | None, int | None]
) -> None:
    _, loss, _ = write(*body)
    assert [named] == of_messages(loss)


def test_what_is_named_as_a_whole_is_not_named_in_part() -> None:
    looks_denied = "The user doesn't want to take this action right now. STOP what you are doing"
    refused = ToolResult("t1", looks_denied, True, Refusal(RefusalKind.EXPIRED, "policy"))
    back, loss, _ = write(agent(ToolUse("t1", Bash("ls"))), user(refused))
    result = back[1].content[0]
    assert type(result) is ToolResult and result.refusal is not None
    assert [("tool_result.refusal", 1, 0)] == of_messages(loss)


@settings(max_examples=150)
@given(strategies.conversations())
def test_every_difference_is_named_by_one_item(source: Transcript[Common]) -> None:
    native, loss = CODEC.write(source)
    parts = [Loss(items=(item,)) for item in loss.items if item.what != "message"]
    for difference in differences(source, CODEC.to_common(native), loss):
        assert 1 >= sum(not unaccounted(part, (difference,)) for part in parts), (difference, loss.items)


def test_rows_are_one_chain_with_stable_ids_and_times_in_milliseconds() -> None:
    _, loss, rows = write(user(PROMPT), agent(Text("a", Author.MODEL), ToolUse("t1", Bash("ls"))), title="T")
    assert {"type": "custom-title", "customTitle": "T", "sessionId": "s"} == rows[0]
    assert [None, rows[1]["uuid"], rows[2]["uuid"]] == [row["parentUuid"] for row in rows[1:]]
    assert {"2026-03-01T10:00:00.250Z"} == {row["timestamp"] for row in rows[1:]}
    assert 1 == len({row["message"]["id"] for row in rows[2:]})
    assert rows == write(user(PROMPT), agent(Text("a", Author.MODEL), ToolUse("t1", Bash("ls"))), title="T")[2]
    assert not loss.items


def test_the_loss_maps_each_source_id_to_the_row_written_for_it() -> None:
    message = Message(role="user", content=(PROMPT,), uid="mine", uids=("mine",))
    native, loss = CODEC.write(Transcript(Meta(id="s"), (message,)))
    assert loss.uids == {"mine": CODEC.to_common(native).body[0].uid}


def test_an_unknown_time_stays_unknown() -> None:
    native, _ = CODEC.write(Transcript(Meta(id="s"), (Message(role="user", content=(PROMPT,)),)))
    assert CODEC.to_common(native).body[0].timestamp is None
    assert native.meta.timestamp is None
