"""What is written for Codex, and how it reads back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from handrail.harnesses.codex import HARNESS
from handrail.testing.examples import EXAMPLES, PLAIN
from handrail.transcripts.codec import Loss
from handrail.transcripts.model import (
    Author,
    Bash,
    Block,
    Command,
    Compaction,
    Interrupt,
    Message,
    Meta,
    Raw,
    Refusal,
    RefusalKind,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Transcript,
    Usage,
    Via,
)
from handrail.transcripts.spans import Span

CODEC = HARNESS.codec
ASK = Text("go", Author.PERSON, via=Via.PROMPT)
SAY = Text("ok", Author.MODEL)


def message(role: Role, *content: Block, **fields: Any) -> Message:
    return Message(role=role, content=content, **fields)


def write(*body: Message, meta: Meta | None = None) -> tuple[list[dict[str, Any]], Transcript[Any], Loss]:
    """The rows that were written, what they read back as, and the loss."""
    native, loss = CODEC.write(Transcript(meta or Meta(id="s-1"), body))
    data = CODEC.render(native)
    assert isinstance(data, bytes)
    return [json.loads(line) for line in data.splitlines()], CODEC.to_common(CODEC.parse(data)), loss


def contents(session: Transcript[Any]) -> list[tuple[Block, ...]]:
    return [message.content for message in session.body]


def test_only_a_persons_text_gets_the_event_that_proves_it_typed() -> None:
    rows, back, _ = write(message("user", ASK), message("user", Text("who?")))
    events = [row["payload"]["message"] for row in rows if row["payload"].get("type") == "user_message"]
    assert events == ["go"]
    assert contents(back) == [(ASK,), (Text("who?"),)]


@pytest.mark.parametrize("author", [Author.HARNESS, Author.HOST])
def test_what_a_harness_or_host_wrote_is_no_users_turn(author: Author) -> None:
    rows, back, loss = write(message("user", Text("be brief", author), ASK))
    assert "be brief" not in json.dumps(rows)
    assert contents(back) == [(ASK,)]
    assert [(item.what, item.message, item.block) for item in loss.items] == [("text", 0, 0)]


def test_text_stays_where_it_stood_among_the_calls() -> None:
    content = (SAY, ToolUse("a", Bash("ls")), Text("and", Author.MODEL), ToolUse("b", Raw("x", {"y": 1})))
    _, back, loss = write(message("user", ASK), message("assistant", *content))
    assert back.body[1].content == content
    assert not loss


def test_a_steer_is_a_second_text_in_an_open_turn() -> None:
    steer = Text("no, there", Author.PERSON, via=Via.STEER)
    body = (
        message("user", ASK),
        message("assistant", ToolUse("a", Bash("ls"))),
        message("user", ToolResult("a", "x"), steer),
    )
    rows, back, loss = write(*body)
    assert back.body[2].content == (ToolResult("a", "x"), steer)
    assert sum(row["payload"].get("type") == "task_started" for row in rows) == 1
    assert not loss


def test_a_refusal_is_written_in_codex_words_and_the_reason_follows() -> None:
    refused = ToolResult("a", "The user said no", True, Refusal(RefusalKind.DENIED, "person", "use a copy"))
    _, back, loss = write(
        message("user", ASK), message("assistant", ToolUse("a", Bash("rm x"))), message("user", refused)
    )
    own = ToolResult("a", "exec command rejected by user", True, Refusal(RefusalKind.DENIED, "person"))
    assert back.body[2].content == (own, Text("use a copy"))
    assert {item.what for item in loss.items} == {"tool_result.content", "tool_result.refusal", "text"}


@pytest.mark.parametrize(
    "content", ["plain", "Exit code: 1\n", '{"output":1}', "", {"a": [1]}, None, [{"type": "text", "text": "x"}], [1]]
)
@pytest.mark.parametrize("is_error", [True, False])
def test_any_content_of_a_result_reads_back(content: Any, is_error: bool) -> None:
    result = ToolResult("a", content, is_error)
    _, back, loss = write(message("assistant", ToolUse("a", Bash("x"))), message("user", result))
    assert back.body[1].content == (result,)
    assert not loss


def test_interrupts_and_compactions_read_back() -> None:
    body = (
        message("user", ASK),
        message("assistant", SAY),
        message("user", Interrupt()),
        message("user", Compaction("They talked.")),
    )
    _, back, loss = write(*body)
    assert contents(back) == [message.content for message in body]
    assert not loss


def test_a_response_that_was_aborted_reads_back_so_and_no_other_does() -> None:
    _, cut, loss = write(message("assistant", SAY, stop_reason="aborted"), message("user", Interrupt()))
    _, whole, _ = write(message("assistant", SAY), message("user", Interrupt()))
    assert [message.stop_reason for message in cut.body] == ["aborted", None]
    assert [message.stop_reason for message in whole.body] == [None, None]
    assert not loss


def test_a_persons_command_and_its_result_are_named_as_lost() -> None:
    command = message("user", ToolUse("a", Command("/release", "patch")), ToolResult("a", "done"))
    rows, back, loss = write(command, message("user", ASK))
    assert contents(back) == [(ASK,)]
    assert "/release" not in json.dumps(rows)
    assert [item.what for item in loss.items] == ["tool_use", "tool_result"]


def test_a_result_before_the_call_it_answers_is_written() -> None:
    released = message("user", ToolResult("a", "done"), ToolUse("a", Command("/release")), ToolResult("a", "again"))
    _, back, loss = write(released)
    assert contents(back) == [(ToolResult("a", "done"),)]
    assert [(item.what, item.block) for item in loss.items] == [("tool_use", 1), ("tool_result", 2)]


def test_what_is_lost_is_named_message_by_message_fields_first() -> None:
    signed = Thinking("hm", signature="s")
    odd = Text("brief", Author.HOST)
    _, _, loss = write(
        message("user", odd, ASK, origin="s-0"),
        message("assistant", signed, SAY, stop_reason="end_turn"),
        message("user", odd, Text("go on", Author.PERSON, "ann", Via.PROMPT), origin="s-0"),
        meta=Meta(id="s-1", title=""),
    )
    assert [(item.what, item.message, item.block) for item in loss.items] == [
        ("meta.title", None, None),
        ("message.origin", 0, None),
        ("text", 0, 0),
        ("message.stop_reason", 1, None),
        ("thinking.signature", 1, 0),
        ("message.origin", 2, None),
        ("text", 2, 0),
        ("text.by", 2, 1),
    ]


def test_neighbours_of_one_role_stay_apart() -> None:
    body = (
        message("assistant", SAY, model="m"),
        message("assistant", SAY, model="m"),
        message("user", Text("a")),
        message("user", Text("b")),
    )
    _, back, loss = write(*body)
    assert contents(back) == [message.content for message in body]
    assert [message.model for message in back.body] == ["m", "m", None, None]
    assert not loss


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input_tokens=0, output_tokens=0),
        Usage(
            input_tokens=7,
            output_tokens=3,
            cache_read_input_tokens=2,
            cache_creation_input_tokens=1,
            reasoning_tokens=0,
        ),
    ],
)
def test_usage_reads_back_and_is_not_summed_up(usage: Usage) -> None:
    _, back, loss = write(*(message("assistant", SAY, usage=usage) for _ in range(3)))
    assert [message.usage for message in back.body] == [usage] * 3
    assert not loss


def test_the_loss_maps_every_uid_that_was_written() -> None:
    for example in EXAMPLES:
        native, loss = CODEC.write(example)
        uids = {uid for message in CODEC.to_common(native).body for uid in message.uids}
        assert set(loss.uids.values()) <= uids
        assert loss.uids[example.body[1].uid] in uids


def test_metadata_reads_back() -> None:
    native, _ = CODEC.write(PLAIN)
    back = CODEC.to_common(native).meta
    for field in ("id", "timestamp", "cwd", "git_branch", "title", "cli_version", "model"):
        assert getattr(back, field) == getattr(PLAIN.meta, field)


def test_a_crop_holds_no_word_of_what_was_cut() -> None:
    body = (
        message("user", Text("secret question", Author.PERSON, via=Via.PROMPT)),
        message(
            "assistant",
            Text("secret answer", Author.MODEL),
            ToolUse("a", Bash("secret command")),
            usage=Usage(input_tokens=1, output_tokens=1),
        ),
        message("user", ToolResult("a", "secret output")),
        message("user", ASK),
        message("assistant", SAY),
    )
    native = CODEC.from_common(Transcript(Meta(id="s-1"), body))
    cropped = CODEC.crop(native, [Span(3, 5)])
    assert b"secret" not in CODEC.render(cropped)
    assert contents(CODEC.to_common(cropped)) == [(ASK,), (SAY,)]


def test_a_steer_whose_prompt_was_cut_is_still_a_steer() -> None:
    steer = Text("no, there", Author.PERSON, via=Via.STEER)
    body = (message("user", ASK), message("assistant", SAY), message("user", steer))
    cropped = CODEC.crop(CODEC.from_common(Transcript(Meta(id="s-1"), body)), [Span(2, 3)])
    assert contents(CODEC.to_common(cropped)) == [(steer,)]


@pytest.mark.parametrize(
    ("instant", "spelled"),
    [
        (datetime(2026, 5, 4, 8, 0, 1, tzinfo=UTC), "2026-05-04T08:00:01.000Z"),
        (datetime(2026, 5, 4, 8, 0, 1, 120_000, tzinfo=UTC), "2026-05-04T08:00:01.120Z"),
        (datetime(2026, 5, 4, 8, 0, 1, 120_300, tzinfo=UTC), "2026-05-04T08:00:01.120300Z"),
        (datetime(2026, 5, 4, 8, 0, 0, 1000, tzinfo=timezone(timedelta(hours=2))), "2026-05-04T06:00:00.001Z"),
        (None, ""),
    ],
)
def test_times_have_milliseconds_and_more_only_where_they_are_finer(instant: datetime | None, spelled: str) -> None:
    rows, session, _ = write(message("assistant", SAY, timestamp=instant))
    assert [row["timestamp"] for row in rows[1:]] == [spelled] * len(rows[1:])
    assert session.body[0].timestamp == instant


def test_words_with_half_a_character_are_written_and_read_back() -> None:
    said = (Text("half \ud83c", Author.MODEL), ToolUse("c-1", Bash("echo \ud83c")))
    assert contents(write(message("assistant", *said))[1]) == [said]
