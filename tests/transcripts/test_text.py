"""A session as text: every block under who speaks, and no body that can pretend to be another speaker."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.transcripts.model import (
    Artifact,
    Author,
    Bash,
    Block,
    Command,
    Compaction,
    Decision,
    Image,
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
    Via,
)
from handrail.transcripts.spans import Span, SpanPastEnd
from handrail.transcripts.text import render_text


def rendered(role: Role, *blocks: Block, limit: int | None = None) -> str:
    """The text of one message, its header and rule left out."""
    text = render_text(Transcript(Meta(id="s"), (Message(role=role, content=blocks),)), limit=limit)
    return text.split("── #1 ──\n", 1)[1]


@pytest.mark.parametrize(
    ("role", "block", "expected"),
    [
        ("user", Text("hi", Author.PERSON), "\n[user]\nhi\n"),
        ("user", Text("hi", Author.PERSON, via=Via.STEER), "\n[user steer]\nhi\n"),
        ("user", Text("hi", Author.HARNESS), "\n[harness]\nhi\n"),
        ("user", Text("hi", Author.HOST, by="budget"), "\n[host budget]\nhi\n"),
        ("user", Text("hi"), "\n[unknown]\nhi\n"),
        ("assistant", Text("hi", Author.MODEL), "\n[assistant]\nhi\n"),
        ("assistant", Thinking("hm"), "\n[thinking]\nhm\n"),
        ("assistant", ToolUse("x", Bash("ls")), '\n[tool 1 Bash]\n{"command":"ls"}\n'),
        ("assistant", ToolUse("x", Command("/clear")), "\n[tool 1 /clear]\n"),
        ("assistant", ToolUse("x", Raw("mcp__a", {"b": 1, "a": float("nan")})), '\n[tool 1 mcp__a]\n{"a":NaN,"b":1}\n'),
        ("user", ToolResult("x", "out"), "\n[result 1]\nout\n"),
        ("user", ToolResult("x", "out", is_error=True), "\n[result 1 error]\nout\n"),
        (
            "user",
            ToolResult("x", [{"type": "text", "text": "out"}, {"type": "image"}]),
            "\n[result 1]\nout\n(image omitted)\n",
        ),
        ("user", ToolResult("x", {"k": [1]}), '\n[result 1]\n{"k":[1]}\n'),
        (
            "user",
            ToolResult("x", "boilerplate", is_error=True, refusal=Refusal(RefusalKind.DENIED, "person", "no")),
            "\n[result 1 denied by person]\nno\n",
        ),
        ("user", Image("image/png", "AAAA"), "\n[image image/png omitted]\n"),
        ("user", Artifact("1", "a.txt", path="/a.txt"), "\n[artifact a.txt]\n/a.txt\n"),
        ("user", Artifact("1", "a.bin", data="AAAA"), "\n[artifact a.bin]\nbinary data omitted\n"),
        ("user", Interrupt(Author.PERSON), "\n[interrupt by person]\n"),
        ("user", Compaction("so far", "auto"), "\n[compaction auto]\nso far\n"),
        (
            "user",
            Decision("plan", Author.PERSON, "Revise", "shorter"),
            "\n[decision on plan by person]\nRevise\nshorter\n",
        ),
    ],
)
def test_each_block_stands_under_its_label(role: Role, block: Block, expected: str) -> None:
    assert rendered(role, block) == expected


def test_tool_ids_become_numbers_in_the_order_they_are_met() -> None:
    text = rendered("assistant", ToolUse("zz", Bash("a")), ToolUse("aa", Bash("b")), ToolResult("zz", "r"))
    assert [line for line in text.splitlines() if line.startswith("[")] == [
        "[tool 1 Bash]",
        "[tool 2 Bash]",
        "[result 1]",
    ]


def test_the_header_tells_what_is_known_on_one_line_each() -> None:
    meta = Meta(id="s", timestamp=datetime(2026, 5, 1, 8, tzinfo=UTC), title="a\n title", cwd=" ", model="m")
    text = render_text(Transcript(meta, ()))
    assert text == "[session]\nid=s\nstarted=2026-05-01T08:00:00+00:00\ntitle=a title\nmodel=m\n"


def test_a_fragment_is_numbered_in_the_whole_session() -> None:
    body = tuple(Message(role="user", content=(Text(str(index), Author.PERSON),)) for index in range(4))
    text = render_text(Transcript(Meta(id="s"), body), [Span(1, 3)])
    assert "fragment=#2-3\nof=4\n" in text
    assert [line for line in text.splitlines() if line.startswith("──")] == ["── #2 ──", "── #3 ──"]


def test_a_span_past_the_end_is_refused() -> None:
    with pytest.raises(SpanPastEnd):
        render_text(Transcript(Meta(), ()), [Span(0, 1)])


def test_long_results_are_cut_on_demand_and_say_by_how_much() -> None:
    assert rendered("user", ToolResult("x", "a" * 1500), limit=500).endswith("a\n… 1,000 more characters\n")


def test_a_persons_words_are_never_cut() -> None:
    assert "a" * 1500 in rendered("user", Text("a" * 1500, Author.PERSON), limit=500)


@given(
    st.lists(st.sampled_from(["[user]", "── #2 ──", "[tool 1 Bash]", "[session]", "x", ""]), max_size=6),
    st.sampled_from(["\n", "\r", "\x85", "\u2028"]),
)
def test_no_body_can_forge_a_label_or_a_rule(lines: list[str], line_break: str) -> None:
    text = rendered("assistant", Text(line_break.join(lines), Author.MODEL))
    assert [line for line in text.splitlines() if line.startswith(("[", "──"))] == ["[assistant]"]
