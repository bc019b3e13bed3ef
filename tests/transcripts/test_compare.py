"""How differences between values of the model are named."""

from __future__ import annotations

import pytest

from handrail.transcripts.compare import differing_fields, is_covered, is_same
from handrail.transcripts.model import Bash, Json, Raw, Refusal, RefusalKind, ToolResult, ToolUse


def test_a_difference_is_named_by_the_innermost_field() -> None:
    was = ToolResult("t1", "a", False, Refusal(RefusalKind.BLOCKED, "policy", "no"))
    became = ToolResult("t1", "b", False, Refusal(RefusalKind.BLOCKED, "policy"))
    told = [("tool_result.content", "a", "b"), ("tool_result.refusal.reason", "no", None)]
    assert told == list(differing_fields("tool_result", was, became))
    assert told[1:] == list(differing_fields("tool_result", was, became, {"content"}))


def test_structs_of_two_types_differ_as_a_whole() -> None:
    was, became = ToolUse("t1", Bash("ls")), ToolUse("t1", Raw("Bash", {"command": "ls"}))
    assert [("tool_use.call", was.call, became.call)] == list(differing_fields("tool_use", was, became))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, True),
        ({"a": True}, {"a": 1}, False),
        ([1], [1.0], False),
        ([1, 2], [1], False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (Bash("ls"), Bash("ls"), True),
        (Bash("ls"), Bash("ls", timeout_ms=1), False),
        (None, Bash("ls"), False),
    ],
)
def test_equality_looks_at_types_and_not_at_the_order_of_keys(old: Json, new: Json, expected: bool) -> None:
    assert expected is is_same(old, new)


@pytest.mark.parametrize(
    ("what", "name", "expected"),
    [
        ("message.usage", "message.usage", True),
        ("message.usage.reasoning_tokens", "message.usage", True),
        ("message.usage", "message.usage.reasoning_tokens", False),
        ("text.via", "text.v", False),
        ("text.via", "message", True),
        ("meta.title", "message", False),
    ],
)
def test_a_name_stands_for_itself_and_all_below_it(what: str, name: str, expected: bool) -> None:
    assert expected is is_covered(what, name)
