"""Three small canonical sessions that between them hold every kind of block, as a reader would give them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from handrail.transcripts.model import (
    Artifact,
    Author,
    Bash,
    Block,
    Command,
    Common,
    Compaction,
    Decision,
    Edit,
    Image,
    Interrupt,
    Message,
    Meta,
    Raw,
    Read,
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

_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def said(words: str, via: Via = Via.PROMPT) -> Text:
    """Words a person typed."""
    return Text(words, Author.PERSON, via=via)


def _message(number: int, role: Role, *content: Block, stop_reason: str | None = None) -> Message:
    is_model = role == "assistant"
    uid = f"00000000-0000-4000-8000-{number:012d}"
    return Message(
        role=role,
        content=content,
        uid=uid,
        uids=(uid,),
        timestamp=_START + timedelta(seconds=20 * number),
        model="model-1" if is_model else None,
        stop_reason=stop_reason,
        usage=Usage(input_tokens=900 + number, output_tokens=40, cache_read_input_tokens=800) if is_model else None,
    )


def _session(number: int, title: str, *body: Message) -> Transcript[Common]:
    meta = Meta(
        id=f"11111111-1111-4111-8111-{number:012d}",
        timestamp=_START,
        cwd="/srv/orchard",
        git_branch="main",
        title=title,
        cli_version="1.2.3",
        model="model-1",
    )
    return Transcript(meta, body)


PLAIN = _session(
    1,
    "Count the trees",
    _message(0, "user", said("How many rows does the orchard file have?")),
    _message(
        1,
        "assistant",
        Thinking("A look at the file will tell.", signature="c2lnbmF0dXJl"),
        Text("I will look.", Author.MODEL),
        ToolUse("toolu_1", Read("/srv/orchard/trees.csv", limit=50)),
        stop_reason="tool_use",
    ),
    _message(2, "user", ToolResult("toolu_1", "1\tapple\n2\tpear")),
    _message(3, "assistant", Text("Two rows.", Author.MODEL), stop_reason="end_turn"),
    _message(4, "user", said("Thanks. Add a quince.")),
)
"""A question, a look, an answer, a follow-up."""

CORRECTED = _session(
    2,
    "Rename a column",
    _message(0, "user", said("Rename the column kind to variety.")),
    _message(
        1,
        "assistant",
        ToolUse("toolu_1", Edit("/srv/orchard/trees.csv", "kind", "sort", replace_all=True)),
        ToolUse("toolu_2", Bash("git commit -am rename", timeout_ms=9000, description="Commit")),
        stop_reason="tool_use",
    ),
    _message(
        2,
        "user",
        ToolResult("toolu_1", "refused", True, Refusal(RefusalKind.DENIED, "person", "variety, not sort")),
        ToolResult("toolu_2", "stopped", True, Refusal(RefusalKind.INTERRUPTED)),
    ),
    _message(3, "user", Interrupt()),
    _message(4, "user", said("Only the header, please.", Via.STEER)),
    _message(5, "assistant", ToolUse("toolu_3", Raw("mcp__sheet__rename", {"from": "kind", "to": ["variety", None]}))),
    _message(6, "user", ToolResult("toolu_3", [{"type": "text", "text": "done"}]), said("and the footer", Via.STEER)),
    _message(7, "assistant", Text("Renamed.", Author.MODEL), stop_reason="end_turn"),
)
"""A denial with words, an interrupt, steers."""

ODDMENTS = _session(
    3,
    "Pictures and commands",
    _message(0, "user", ToolUse("slash-1", Command("/release", "patch")), ToolResult("slash-1", "cut v0.4.3")),
    _message(1, "user", said("What is on this picture?"), Image("image/png", _PIXEL)),
    _message(2, "assistant", Text("A \u2028 pixel \u0085 and a \U0001f330.", Author.MODEL), stop_reason="end_turn"),
    _message(3, "user", Compaction("They looked at a picture.", "auto", 90_000, 4_000)),
    _message(4, "user", Text("Reminder: be brief.", Author.HARNESS), Artifact("art-1", "notes.txt", text="one\ntwo")),
    _message(5, "user", Decision("Which colour?", Author.PERSON, "Green", "the darker one")),
    _message(6, "user", Text("From another agent.", Author.PEER, by="scout"), Text("Who wrote this?")),
    _message(7, "assistant", Thinking("", encrypted="b3BhcXVl"), Text("Noted.", Author.MODEL), stop_reason="end_turn"),
)
"""What is rare: a slash command, a picture, a compaction, a file, a decision, words of others."""

EXAMPLES = (PLAIN, CORRECTED, ODDMENTS)
