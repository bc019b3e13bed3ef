"""What a probe sends holds no secret, and is told by what was sent."""

from __future__ import annotations

from handrail import jsonio
from handrail.learning.probes.branching import Branch, Grading, RecordedCall
from handrail.learning.probes.redacting import redacted
from handrail.learning.probes.verdicts import Performed, answered_from, told
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Image, Message, Text, Thinking, ToolResult, ToolUse

KEY = "sk-" + "a1B2" * 8
PATH = "/home/ada/shop/a.md"


def _branch() -> Branch:
    call = RecordedCall("Bash", {"command": f"curl -H {KEY}"}, f"ok {KEY}", False, True)
    read = RecordedCall("Read", {"file_path": PATH}, "A", False, True)
    return Branch(
        grading=Grading.STEER,
        prefix=(
            Message(role="user", content=(Text(f"use {KEY}"), Image("image/png", "AAAA"))),
            Message(
                role="assistant",
                content=(Thinking(KEY, signature="s"), ToolUse("a", parse_call("Bash", {"command": f"echo {KEY}"}))),
                provider={"state": KEY},
            ),
            Message(
                role="user",
                content=(ToolResult("a", [{"type": "text", "text": KEY}, {"type": "image", "data": "AAAA"}]),),
            ),
        ),
        tail=(call, read),
        unwanted=(call,),
        wanted=(read,),
    )


def test_no_secret_picture_or_sealed_state_leaves() -> None:
    sent = jsonio.encode(redacted(_branch()))

    assert KEY.encode() not in sent
    assert b"AAAA" not in sent
    assert b"ada" not in sent


def test_every_call_keeps_its_result() -> None:
    blocks = [block for message in redacted(_branch()).prefix for block in message.content]

    assert [block.id for block in blocks if isinstance(block, ToolUse)] == ["a"]
    assert [block.tool_use_id for block in blocks if isinstance(block, ToolResult)] == ["a"]


def test_a_call_under_the_name_that_was_shown_is_found_in_the_record() -> None:
    branch = redacted(_branch())
    shown = {"file_path": PATH.replace("ada", "[redacted: account]")}

    found = answered_from(branch.tail, set(), "Read", shown)
    verdict = told(branch, Performed(calls=(RecordedCall("Read", shown),)))

    assert found is not None and found.content == "A"
    assert verdict is not None and verdict[0] == "passed"


def test_redacting_twice_changes_nothing_more() -> None:
    once = redacted(_branch())

    assert redacted(once) == once
