"""Rollouts from before the envelope read like those of today, word by word."""

from __future__ import annotations

from typing import Any

import pytest

import handrail
from handrail.harnesses.codex import HARNESS
from handrail.transcripts.model import (
    Author,
    Bash,
    Block,
    Refusal,
    RefusalKind,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Via,
)
from tests.harnesses import rollouts
from tests.harnesses.bare_rollouts import (
    ID,
    OLDER,
    SESSION,
    STATE,
    Row,
    environment,
    header,
    line,
    lines,
    output,
    refused,
    said,
    shell,
    thought,
    user,
)

CODEC = HARNESS.codec
PERSON = Author.PERSON


def read(*rows: Row) -> handrail.Transcript[Any]:
    return CODEC.to_common(CODEC.parse(lines(*rows)))


def blocks(*rows: Row) -> list[Block]:
    return [block for message in read(*rows).body for block in message.content]


# Reading ----------------------------------------------------------------------------------------------------


def test_a_session_reads_as_what_was_said_and_done() -> None:
    session = CODEC.to_common(CODEC.parse(SESSION))
    assert rollouts.outline(session) == [
        "user:text+text",
        "user:text",
        "assistant:thinking+text+tool_use",
        "user:tool_result",
        "assistant:tool_use",
        "user:tool_result",
        "user:text",
        "assistant:tool_use",
        "user:tool_result",
        "assistant:text",
        "user:text",
        "assistant:text",
        "user:text",
        "assistant:text",
    ]
    assert [message.timestamp for message in session.body] == [None] * 14
    uids = [uid for message in session.body for uid in message.uids]
    assert len(uids) == len(set(uids)) == 17
    session.tool_pairs()


def test_its_header_tells_who_and_when_and_its_environment_where() -> None:
    meta = CODEC.parse(SESSION).meta
    assert meta.timestamp is not None
    assert (meta.id, meta.timestamp.isoformat(), meta.cwd, meta.git_branch, meta.parent) == (
        ID,
        "2025-08-27T16:17:00.964000+00:00",
        "/srv/shop",
        "main",
        None,
    )
    assert (meta.cli_version, meta.model, meta.title) == (None, None, None)


@pytest.mark.parametrize(
    "note",
    [
        environment("/srv/my shop"),
        user("<environment_context>\n  <cwd>/srv/my shop</cwd>\n  <approval_policy>never</approval_policy>\n"),
        user("<environment_context>\n  <shell>zsh</shell>\n  <cwd>/srv/my shop</cwd>\n</environment_context>"),
    ],
)
def test_the_folder_is_read_in_either_spelling(note: Row) -> None:
    assert read(header(), user("/srv/no"), note, environment("/srv/later")).meta.cwd == "/srv/my shop"
    assert read(header(cwd="/srv/head"), note).meta.cwd == "/srv/head"


def test_the_first_sessions_of_all_have_no_folder_no_marks_and_only_two_fields_in_the_head() -> None:
    native = CODEC.parse(OLDER)
    session = CODEC.to_common(native)
    assert (session.meta.id, session.meta.cwd) == (ID, None)
    assert rollouts.outline(session) == ["user:text", "assistant:tool_use", "user:tool_result", "assistant:text"]
    assert (CODEC.faults(native), CODEC.unknown(native)) == ((), {})


def test_the_fields_of_the_header_may_stand_in_any_order() -> None:
    turned = dict(reversed(header().items()))
    assert read(turned, user("go")).meta == read(header(), user("go")).meta


def test_what_is_told_before_the_envelope_is_told_as_today() -> None:
    found = blocks(header(), thought("rs_1"), said("I look."), shell("c"), output("c", "no", 2))
    assert found == [
        Thinking("hm", encrypted="AAA"),
        Text("I look.", Author.MODEL),
        ToolUse("c", Bash("ls", "/srv/shop", 9000), {"codex": {"name": "shell", "words": ["bash", "-lc"]}}),
        ToolResult("c", "no", True),
    ]


def test_a_local_shell_call_and_the_time_some_writers_put_in_an_item_are_read() -> None:
    action = {"type": "exec", "command": ["pwd"], "timeout_ms": None, "working_directory": "/srv"}
    local = {"type": "local_shell_call", "id": None, "call_id": "c", "status": "completed", "action": action}
    session = read(header(), {**local, "timestamp": "2025-08-27T16:18:00Z"})
    [message] = session.body
    assert str(message.timestamp) == "2025-08-27 16:18:00+00:00"
    assert [block.call for block in message.content if type(block) is ToolUse] == [Bash("pwd", "/srv")]


def test_nothing_in_it_is_unknown_but_what_is() -> None:
    native = CODEC.parse(SESSION + line({"type": "dream", "id": "d"}) + line({"odd": 1}))
    assert (CODEC.unknown(native), CODEC.faults(native)) == ({"dream": 1, "": 1}, ())
    enveloped = CODEC.parse(rollouts.lines(rollouts.meta(), STATE, *rollouts.typed("go"), STATE))
    assert CODEC.unknown(enveloped) == {}


# Who speaks -------------------------------------------------------------------------------------------------


def test_every_text_that_is_not_the_harnesss_was_submitted() -> None:
    found = blocks(header(), user("<user_instructions>\n\nBe brief."), environment(), user("go"), said("Gone"))
    assert [block.author for block in found if type(block) is Text] == [
        Author.HARNESS,
        Author.HARNESS,
        PERSON,
        Author.MODEL,
    ]
    assert found[2] == Text("go", PERSON, via=Via.PROMPT)


def test_of_a_text_that_an_editor_wrapped_only_the_inside_is_the_persons() -> None:
    wrapped = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix it"
    assert [block.text for block in blocks(header(), user(wrapped)) if block == Text("fix it", PERSON, via=Via.PROMPT)]


def test_what_stands_in_an_envelope_among_bare_items_needs_its_proof() -> None:
    unproved = rollouts.user("who?")
    assert blocks(header(), user("go"), unproved)[1] == Text("who?")
    assert blocks(header(), user("go"), *rollouts.typed("on"))[1] == Text("on", PERSON, via=Via.PROMPT)


def test_bare_items_in_a_rollout_of_today_are_not_known() -> None:
    native = CODEC.parse(rollouts.lines(rollouts.meta(), *rollouts.typed("go"), user("who?")))
    assert [message.content for message in CODEC.to_common(native).body] == [(Text("go", PERSON, via=Via.PROMPT),)]
    assert CODEC.unknown(native) == {"message": 1}


def test_what_was_written_in_two_batches_is_not_one_message() -> None:
    assert rollouts.outline(read(header(), said("one"), said("two"))) == ["assistant:text+text"]
    assert rollouts.outline(read(header(), said("one"), STATE, said("two"))) == ["assistant:text", "assistant:text"]


def test_a_refused_call_and_the_words_after_it_are_a_denial() -> None:
    session = CODEC.to_common(CODEC.parse(SESSION))
    result = session.body[5].content[0]
    assert isinstance(result, ToolResult)
    assert result.refusal == Refusal(RefusalKind.DENIED, "person")
    told = [(str(moment.trigger), moment.text, moment.actor) for moment in handrail.find_interventions(session)]
    assert told[0] == ("denial", "no, keep the cellar", "person")
    assert [trigger for trigger, _, _ in told[1:]] == ["followup", "followup"]


# Damage -----------------------------------------------------------------------------------------------------


def faults(data: bytes) -> list[str]:
    return [fault.code for fault in CODEC.faults(CODEC.parse(data))]


def test_a_record_of_a_wrong_type_costs_that_field() -> None:
    data = lines(header(), {**user("go"), "id": 7}, {**said("on"), "timestamp": 9})
    assert faults(data) == ["wrong_type", "wrong_type"]
    assert CODEC.faults(CODEC.parse(data))[0].message.endswith(": id")
    assert rollouts.outline(CODEC.to_common(CODEC.parse(data))) == ["user:text", "assistant:text"]
    hurt = {**header(), "git": 5}
    assert CODEC.parse(lines(hurt, user("go"))).meta.id == ID
    assert faults(lines(hurt)) == ["wrong_type"]


@pytest.mark.parametrize(("row", "after"), [(user("x"), said("y")), (STATE, user("y")), (shell("c"), STATE)])
def test_glued_records_are_told_apart(row: Row, after: Row) -> None:
    native = CODEC.parse(lines(header(), row)[:-1] + lines(after))
    assert [fault.code for fault in CODEC.faults(native)] == ["glued"]
    assert CODEC.to_common(native) == read(header(), row, after)


def test_a_torn_tail_costs_itself() -> None:
    assert faults(SESSION + line(user("more"))[:40]) == ["torn_tail"]


@pytest.mark.parametrize("front", [b"\xef\xbb\xbf", b"\x00\x00\x00", b'{"id":"7b33\n', b"\n\n"])
def test_damage_before_the_first_record_does_not_hide_what_it_is(front: bytes) -> None:
    session = CODEC.to_common(CODEC.parse(front + SESSION))
    assert len(session.body) == 14
    assert session.meta.id == ID


def test_a_session_that_lost_its_header_is_read() -> None:
    session = CODEC.to_common(CODEC.parse(lines(STATE, user("go"), shell("c"), refused("c"))))
    assert rollouts.outline(session) == ["user:text", "assistant:tool_use", "user:tool_result"]
    assert (session.meta.id, session.body[0].content) == ("", (Text("go", PERSON, via=Via.PROMPT),))
