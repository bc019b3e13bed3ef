"""Who speaks in a Claude Code session, row kind by row kind."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.transcripts.model import (
    Author,
    Bash,
    Command,
    Compaction,
    Decision,
    Interrupt,
    Refusal,
    RefusalKind,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Via,
)
from handrail.transcripts.spans import Span
from tests.harnesses.claude_rows import CODEC, REJECTED, SESSION, Rows, call, speakers, texts


@pytest.mark.parametrize(
    "key", [{"permissionMode": "plan"}, {"promptSource": "sdk"}, {"thinkingMetadata": {"level": "x"}}]
)
def test_a_prompt_with_proof_is_a_persons(key: dict[str, Any]) -> None:
    rows = Rows()
    rows.user("fix it", **key)
    assert (Text("fix it", Author.PERSON, None, Via.PROMPT),) == rows.body()[0].content


@pytest.mark.parametrize(
    ("version", "author"), [("1.0.56", "person"), ("2.0.5", "person"), ("2.1.15", "unknown"), ("2.1.219", "unknown")]
)
def test_without_proof_a_text_is_a_persons_only_where_no_version_kept_any(version: str, author: str) -> None:
    rows = Rows(version)
    rows.user("fix it")
    assert [(author, "fix it")] == speakers(rows.body())


def test_without_proof_where_other_rows_have_it_nobody_is_known() -> None:
    rows = Rows("2.0.5")
    rows.user("planted")
    rows.prompt("typed")
    assert [("unknown", "planted"), ("person", "typed")] == speakers(rows.body())


def test_prompts_of_a_program_are_unknown() -> None:
    rows = Rows("2.1.17")
    rows.bare(type="queue-operation", operation="dequeue", sessionId=SESSION)
    rows.prompt("do it")
    assert [("unknown", "do it")] == speakers(rows.body())


def test_prompts_fed_by_an_editor_are_the_persons_at_it() -> None:
    rows = Rows("2.1.17")
    rows.bare(type="queue-operation", operation="dequeue", sessionId=SESSION)
    rows.user([{"type": "text", "text": "<ide_selection>x</ide_selection>"}, {"type": "text", "text": "explain"}])
    rows.says("so")
    rows.user("shorter")
    rows.says("thus")
    assert ("person", "explain") in speakers(rows.body())
    assert ("person", "shorter") in speakers(rows.body())
    native = CODEC.parse(rows.data())
    cut = CODEC.to_common(CODEC.parse(CODEC.render(CODEC.crop(native, [Span(2, 4)]))))
    assert [("person", "shorter")] == speakers(cut.body)


def test_prompts_fed_by_a_client_that_is_no_program_are_a_persons() -> None:
    rows = Rows("2.1.200")
    rows.bare(type="queue-operation", operation="dequeue", sessionId=SESSION)
    rows.prompt("do it", entrypoint="claude-desktop")
    assert [("person", "do it")] == speakers(rows.body())


def test_what_claude_code_says_of_a_command_it_does_not_know_is_the_harnesses() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.user("Unknown slash command: theme")
    assert [("person", "go"), ("harness", "Unknown slash command: theme")] == speakers(rows.body())


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("<task-notification>\n<task-id>x</task-id>\n</task-notification>\nRead the output file", "harness"),
        ("<bash-notification>\n<shell-id>x</shell-id>\n</bash-notification>", "harness"),
        ("<agent-notification>\n<agent-id>x</agent-id>\n</agent-notification>\nRead it", "harness"),
        ("[SYSTEM NOTIFICATION - NOT USER INPUT]\n<task-notification>x", "harness"),
        ("<system-reminder>\nx</system-reminder>", "harness"),
        ("<user-prompt-submit-hook>x</user-prompt-submit-hook>", "harness"),
        ('<teammate-message teammate_id="a">x</teammate-message>', "peer"),
    ],
)
def test_envelopes_are_not_a_persons_even_with_proof(text: str, author: str) -> None:
    rows = Rows()
    rows.prompt(text)
    assert [(author, text)] == speakers(rows.body())


@pytest.mark.parametrize(
    "text", ["Stop hook feedback:\nfix", "Operation stopped by hook: no", "Base directory for this skill: /x", "Warmup"]
)
def test_prose_a_person_could_type_is_theirs_only_with_proof(text: str) -> None:
    rows = Rows("1.0.50")
    rows.user(text)
    assert [("harness", text)] == speakers(rows.body())
    rows = Rows()
    rows.prompt(text)
    assert [("person", text)] == speakers(rows.body())


def test_of_a_mixed_text_only_the_persons_part_is_theirs() -> None:
    rows = Rows()
    rows.prompt("<system-reminder>\nx</system-reminder>\n\nfix the bug\n<system-reminder>y</system-reminder>")
    assert [
        ("harness", "<system-reminder>\nx</system-reminder>\n\n"),
        ("person", "fix the bug"),
        ("harness", "\n<system-reminder>y</system-reminder>"),
    ] == speakers(rows.body())


def test_an_editors_block_beside_a_prompt_is_the_harnesses() -> None:
    rows = Rows("2.0.42")
    opened = "<ide_opened_file>The user opened the file x</ide_opened_file>"
    rows.user([{"type": "text", "text": opened}, {"type": "text", "text": "explain"}])
    assert [("harness", opened), ("person", "explain")] == speakers(rows.body())


def test_an_unknown_envelope_without_proof_is_nobodys() -> None:
    rows = Rows("1.0.50")
    rows.user("<wake-up-call>\ncontinue\n</wake-up-call>")
    assert ["unknown"] == [author for author, _ in speakers(rows.body())]


def test_text_of_a_response_is_the_models_whatever_it_says() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says("May I?\n\nuser\n\nyes, send it")
    assert Author.MODEL is rows.body()[1].content[0].author  # type: ignore[union-attr]


def test_a_resent_plan_is_the_harnesses() -> None:
    rows = Rows()
    rows.user("Implement the following plan:\n\nx", planContent="x")
    assert ["harness"] == [author for author, _ in speakers(rows.body())]


def test_skill_text_rides_with_the_result_of_its_call() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says(call("t1", "Skill", skill="x"))
    rows.result("t1", "Launching")
    rows.user([{"type": "text", "text": "do as follows"}], isMeta=True, sourceToolUseID="t1")
    body = rows.body()
    assert 3 == len(body)
    assert Text("do as follows", Author.HARNESS, "skill") == body[2].content[1]


def test_a_slash_command_and_its_output_are_a_pair() -> None:
    rows = Rows()
    rows.user("<local-command-caveat>Caveat: The messages below</local-command-caveat>", isMeta=True)
    uid = rows.user(
        "<command-name>/model</command-name>\n<command-message>model</command-message>\n"
        "<command-args>big one</command-args>"
    )
    rows.user("<local-command-stdout>Set to \x1b[1mbig\x1b[22m</local-command-stdout>")
    body = rows.body()
    assert (ToolUse(uid, Command("/model", "big one")),) == body[0].content
    assert (ToolResult(uid, "Set to big"),) == body[1].content


def test_prose_that_quotes_a_command_stays_text() -> None:
    rows = Rows("1.0.50")
    rows.user("<command-name>/x</command-name> is what I typed")
    assert ["<command-name>/x</command-name> is what I typed"] == texts(rows.body())


def test_a_shell_command_of_a_person_is_a_call_in_their_message() -> None:
    rows = Rows()
    uid = rows.user("<bash-input>make test</bash-input>")
    rows.user("<bash-stdout>ok</bash-stdout><bash-stderr>warned</bash-stderr>")
    body = rows.body()
    assert ("user", (ToolUse(uid, Bash("make test")),)) == (body[0].role, body[0].content)
    assert (ToolResult(uid, "ok\nwarned"),) == body[1].content


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (
            f"{REJECTED} To tell you how to proceed, the user said:\nuse tabs",
            Refusal(RefusalKind.DENIED, "person", "use tabs"),
        ),
        (
            f"{REJECTED} The user provided the following reason for the rejection:  too risky",
            Refusal(RefusalKind.DENIED, "person", "too risky"),
        ),
        (f"{REJECTED} STOP what you are doing and wait", Refusal(RefusalKind.DENIED, "person")),
        ("The user doesn't want to take this action right now. STOP", Refusal(RefusalKind.DENIED, "person")),
        ("[Request interrupted by user for tool use]", Refusal(RefusalKind.INTERRUPTED)),
        (
            "Permission for this action was denied by the Claude Code auto mode classifier. Reason: leaks",
            Refusal(RefusalKind.BLOCKED, "policy", "leaks"),
        ),
        (
            "m is temporarily unavailable, so auto mode cannot determine the safety of Bash",
            Refusal(RefusalKind.BLOCKED, "policy"),
        ),
        ("This command requires approval", Refusal(RefusalKind.BLOCKED, "policy")),
        ("<tool_use_error>File does not exist.</tool_use_error>", None),
        ("Exit code 1\nboom", None),
    ],
)
def test_a_refusal_is_told_by_its_exact_words(content: str, refusal: Refusal | None) -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says(call("t1"))
    rows.result("t1", content, error=True)
    assert (ToolResult("t1", content, True, refusal),) == rows.body()[2].content


def test_a_result_that_quotes_a_refusal_is_none() -> None:
    rows = Rows()
    rows.says(call("t1"))
    rows.result("t1", f"{REJECTED} STOP")
    assert (ToolResult("t1", f"{REJECTED} STOP"),) == rows.body()[1].content


def test_a_denial_that_only_the_row_names_is_a_persons() -> None:
    rows = Rows()
    rows.says(call("t1"))
    rows.result("t1", "declined", error=True, toolDenialKind="user-rejected")
    assert (ToolResult("t1", "declined", True, Refusal(RefusalKind.DENIED, "person")),) == rows.body()[1].content


def test_a_note_beside_a_result_is_a_persons_steer() -> None:
    rows = Rows()
    rows.says(call("t1"))
    rows.user([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}, {"type": "text", "text": "but no tabs"}])
    assert Text("but no tabs", Author.PERSON, None, Via.STEER) == rows.body()[1].content[1]


def test_answers_are_decisions_where_a_label_was_chosen_and_words_where_typed() -> None:
    rows = Rows()
    rows.says(call("t1", "AskUserQuestion", questions=[]))
    outcome = {
        "questions": [
            {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]},
            {"question": "How?", "options": [{"label": "C"}]},
        ],
        "answers": {"Which?": "A", "How?": "by hand"},
        "annotations": {"Which?": {"notes": "for now"}},
    }
    rows.result("t1", 'User has answered your questions: "Which?"="A"', toolUseResult=outcome)
    assert (
        Decision("Which?", Author.PERSON, "A", "for now"),
        Text("by hand", Author.PERSON, None, Via.ANSWER),
    ) == rows.body()[1].content[1:]


def test_who_approved_a_plan_is_not_known_unless_they_changed_it() -> None:
    rows = Rows()
    rows.says(call("t1", "ExitPlanMode", plan="x"), call("t2", "ExitPlanMode", plan="x"), id="r")
    rows.result("t1", "User has approved your plan. You can now start coding.")
    rows.result("t2", "User has approved your plan. x\n\n## Approved Plan (edited by user):\ny")
    decisions = [block for block in rows.body()[1].content if type(block) is Decision]
    assert [Decision("t1", Author.UNKNOWN, "approve"), Decision("t2", Author.PERSON, "edit", after="y")] == decisions


def test_a_changed_edit_is_a_persons_decision() -> None:
    rows = Rows()
    rows.says(call("t1", "Edit"))
    rows.result("t1", "done", toolUseResult={"userModified": True})
    assert Decision("t1", Author.PERSON, "edit") == rows.body()[1].content[1]


@pytest.mark.parametrize(("then", "by"), [("no, do this", Author.PERSON), (None, Author.UNKNOWN)])
def test_who_interrupted_is_known_only_when_a_prompt_follows(then: str | None, by: Author) -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says("working")
    rows.user([{"type": "text", "text": "[Request interrupted by user]"}])
    if then:
        rows.prompt(then)
    assert (Interrupt(by),) == rows.body()[2].content


def test_the_mark_after_a_refusal_stands_in_the_same_message() -> None:
    rows = Rows()
    rows.says(call("t1"))
    rows.result("t1", f"{REJECTED} STOP", error=True)
    rows.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    assert [ToolResult, Interrupt] == [type(block) for block in rows.body()[1].content]


def queue(rows: Rows, operation: str, content: Any = None) -> None:
    rows.bare(
        type="queue-operation", operation=operation, sessionId=SESSION, **({"content": content} if content else {})
    )


def test_a_queued_text_that_was_removed_is_a_steer_where_it_was() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says(call("t1"))
    queue(rows, "enqueue", "use tabs")
    rows.result("t1")
    queue(rows, "remove")
    rows.says("ok")
    body = rows.body()
    assert 4 == len(body)
    assert Text("use tabs", Author.PERSON, None, Via.STEER) == body[2].content[1]
    assert 2 == len(body[2].uids) and all(body[2].uids)


def test_a_queued_text_that_became_a_prompt_counts_once() -> None:
    rows = Rows()
    rows.prompt("go")
    queue(rows, "enqueue", "use tabs")
    rows.says("ok")
    queue(rows, "dequeue")
    rows.prompt("use tabs")
    assert [("person", "go"), ("person", "use tabs")] == speakers(rows.body())
    assert Via.QUEUE is rows.body()[2].content[0].via  # type: ignore[union-attr]


def test_what_was_taken_back_from_the_queue_was_never_said() -> None:
    rows = Rows()
    rows.prompt("go")
    queue(rows, "enqueue", "a")
    queue(rows, "enqueue", "b")
    queue(rows, "popAll", "a\nb")
    queue(rows, "remove")
    assert ["go"] == texts(rows.body())


def test_a_steer_in_the_queue_and_as_attachment_counts_once() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says(call("t1"))
    rows.result("t1")
    queue(rows, "enqueue", "use tabs")
    queue(rows, "remove", "use tabs")
    rows.row("attachment", attachment={"type": "queued_command", "commandMode": "prompt", "prompt": "use tabs"})
    rows.says("ok")
    assert [("person", "go"), ("person", "use tabs")] == speakers(rows.body())


def test_a_queued_notification_is_the_harnesses() -> None:
    rows = Rows()
    rows.prompt("go")
    text = "<task-notification>x</task-notification>"
    rows.row("attachment", attachment={"type": "queued_command", "commandMode": "task-notification", "prompt": text})
    assert [("person", "go"), ("harness", text)] == speakers(rows.body())


def test_both_records_of_a_compaction_are_one_block() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.row(
        "system",
        parent=None,
        logicalParentUuid="u1",
        subtype="compact_boundary",
        compactMetadata={"trigger": "auto", "preTokens": 155, "postTokens": 9},
    )
    rows.user(
        "This session is being continued from a previous conversation that ran out of context. x", isCompactSummary=True
    )
    body = rows.body()
    assert 2 == len(body) and 2 == len(body[1].uids)
    block = body[1].content[0]
    assert type(block) is Compaction
    assert ("auto", 155, 9, True) == (block.trigger, block.tokens_before, block.tokens_after, bool(block.summary))


def test_what_a_hook_told_the_model_is_the_hooks() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.row("attachment", attachment={"type": "hook_additional_context", "hookName": "Stop", "content": ["be kind"]})
    rows.row("attachment", attachment={"type": "hook_system_message", "hookName": "Stop", "content": "for the screen"})
    rows.row("system", content="Running \x1b[1mPostToolUse:Edit\x1b[22m...", toolUseID="t")
    assert [Text("be kind", Author.HARNESS, "hook:Stop")] == list(rows.body()[0].content[1:])


def test_a_response_over_several_rows_is_one_message() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says(
        {"type": "thinking", "thinking": "hm", "signature": "s"}, id="r", usage={"input_tokens": 1, "output_tokens": 2}
    )
    rows.says("one", id="r", usage={"input_tokens": 1, "output_tokens": 9}, stop_reason="end_turn")
    rows.says(
        {"type": "redacted_thinking", "data": "xx"},
        id="r",
        stop_reason="tool_use",
        usage={"input_tokens": 1, "output_tokens": 11},
    )
    rows.says("one", id="r", stop_reason="tool_use", usage={"input_tokens": 1, "output_tokens": 11})
    message = rows.body()[1]
    assert (Thinking("hm", "s"), Text("one", Author.MODEL), Thinking("", None, "xx")) == message.content
    assert ("tool_use", 11, 4) == (
        message.stop_reason,
        message.usage and message.usage.output_tokens,
        len(message.uids),
    )


def test_results_before_the_rest_of_their_response_are_put_after_it() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says(call("t1"), id="r")
    rows.result("t1")
    rows.says(call("t2"), id="r")
    rows.result("t2")
    assert [(1, 2), (1, 2)] == rows.session().tool_pairs()


def test_a_copied_row_names_the_session_it_came_from() -> None:
    rows = Rows()
    rows.prompt("old", sessionId="parent-id")
    rows.prompt("new")
    session = rows.session()
    assert ["parent-id", None] == [message.origin for message in session.body]
    assert (SESSION, "parent-id", "fork") == (
        session.meta.id,
        session.meta.parent and session.meta.parent.session,
        session.meta.parent and session.meta.parent.kind,
    )


def test_a_sub_agents_own_file_has_its_side_chain_as_its_line() -> None:
    rows = Rows()
    rows.user("find it", isSidechain=True, agentId="a1")
    rows.says("found", isSidechain=True, agentId="a1")
    session = rows.session()
    assert [("peer", "find it")] == speakers(session.body)
    assert ("agent-a1", SESSION) == (session.meta.id, session.meta.parent and session.meta.parent.session)


def test_a_response_that_stands_there_again_under_other_row_ids_counts_once() -> None:
    rows = Rows()
    rows.prompt("go")
    for _ in range(2):
        rows.says("I look", id="same")
        rows.says(call("t1"), id="same")
        rows.says("and then", call("t2"), id="next")
        rows.result("t2")
    rows.says("done")
    session = rows.session()
    assert ["go", "I look", "and then", "done"] == texts(session.body)
    assert [("t1", 1), ("t2", 1)] == [
        (name, sum(block.id == name for message in session.body for block in message.content if type(block) is ToolUse))
        for name in ("t1", "t2")
    ]
    assert 1 == len(session.tool_pairs())
