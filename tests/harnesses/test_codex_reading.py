"""How Codex's two logs become messages, rule by rule."""

from __future__ import annotations

import json

import pytest

from handrail.errors import TranscriptError
from handrail.harnesses.codex import HARNESS
from handrail.transcripts.model import (
    Author,
    Compaction,
    Decision,
    Image,
    Interrupt,
    Parent,
    Raw,
    Refusal,
    RefusalKind,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
    Via,
)
from tests.harnesses.rollouts import (
    CODEC,
    blocks,
    call,
    done,
    event,
    item,
    lines,
    meta,
    outline,
    output,
    read,
    row,
    said,
    shell,
    tokens,
    turn,
    typed,
    user,
)

MODEL = Author.MODEL
THOUGHT = item("reasoning", summary=[{"type": "summary_text", "text": "hm"}], encrypted_content="AAA")
ABORTED = user("<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>")


def results(*rows: dict[str, object]) -> list[ToolResult]:
    return [block for block in blocks(*rows) if type(block) is ToolResult]


# Messages ---------------------------------------------------------------------------------------------------


def test_one_response_is_one_message_until_its_results_come() -> None:
    session = read(
        meta(),
        *typed("go"),
        THOUGHT,
        said("I look"),
        shell("a"),
        shell("b"),
        output("a", "1"),
        output("b", "2"),
        said("Done"),
    )
    assert outline(session) == [
        "user:text",
        "assistant:thinking+text+tool_use+tool_use",
        "user:tool_result+tool_result",
        "assistant:text",
    ]


def test_a_token_count_parts_two_responses_without_results_between_them() -> None:
    session = read(meta(), *typed("go"), said("One"), tokens(100, 100), said("Two"), tokens(250, 150))
    assert [message.usage.input_tokens for message in session.body if message.usage] == [100, 150]


def test_two_texts_of_one_response_stay_together() -> None:
    assert outline(read(meta(), said("One"), said("Two"), tokens(9, 9))) == ["assistant:text+text"]


def test_a_count_that_stands_before_its_response_belongs_to_it() -> None:
    session = read(meta(), *typed("go"), tokens(100, 100), shell("a"), output("a", "1"), tokens(250, 150), said("Done"))
    assert [message.usage and message.usage.input_tokens for message in session.body] == [None, 100, None, 150]


def test_a_repeated_count_is_counted_once() -> None:
    session = read(meta(), said("One"), tokens(100, 100), turn(2), *typed("more"), tokens(100, 100), said("Two"))
    assert [message.usage for message in session.body if message.role == "assistant"] == [
        Usage(input_tokens=100, output_tokens=10, cache_read_input_tokens=0),
        None,
    ]


def test_each_prompt_is_a_message_of_its_own() -> None:
    assert outline(read(meta(), *typed("one"), *typed("two"))) == ["user:text", "user:text"]


def test_a_notification_rides_on_the_results_it_came_with() -> None:
    note = user('<subagent_notification>\n{"agent_path":"x"}</subagent_notification>')
    session = read(meta(), shell("a"), output("a", "1"), note)
    assert outline(session) == ["assistant:tool_use", "user:tool_result+text"]
    assert session.body[1].content[1].author is Author.PEER  # type: ignore[union-attr]


def test_the_model_of_a_turn_is_that_of_its_responses() -> None:
    session = read(
        meta(), row("turn_context", {"model": "m-1"}), said("a"), row("turn_context", {"model": "m-2"}), said("b")
    )
    assert [message.model for message in session.body] == ["m-1", "m-2"]
    assert session.meta.model == "m-1"


def test_encrypted_reasoning_is_kept_beside_its_summary() -> None:
    assert blocks(meta(), THOUGHT) == [Thinking("hm", encrypted="AAA")]


# Who speaks -------------------------------------------------------------------------------------------------


def test_an_equal_event_right_after_proves_that_a_text_was_typed() -> None:
    assert blocks(meta(), *typed("go")) == [Text("go", Author.PERSON, via=Via.PROMPT)]


@pytest.mark.parametrize(
    "following", [[], [event("user_message", message="other")], [said("x"), event("user_message", message="go")]]
)
def test_without_that_event_nobody_knows_who_wrote_it(following: list[dict[str, object]]) -> None:
    assert blocks(meta(), user("go"), *following)[0] == Text("go")


@pytest.mark.parametrize(
    "opening",
    [
        "<environment_context>\n",
        "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\n",
        "<user_instructions>\n",
        "<recommended_plugins>\n",
        "<skill>\n<name>",
        "<user_action>\n  <context>",
    ],
)
def test_what_the_harness_writes_in_the_users_place_is_the_harnesses(opening: str) -> None:
    [block] = blocks(meta(), user(opening + "words"))
    assert type(block) is Text
    assert block.author is Author.HARNESS


def test_of_a_wrapper_only_the_request_is_the_persons() -> None:
    text = "\n# Files mentioned by the user:\n\n## a.png: /a.png\n\n## My request for Codex:\nadd it\n"
    found = blocks(meta(), *typed(text))
    assert "".join(block.text for block in found if type(block) is Text) == text
    assert [block.text for block in found if type(block) is Text and block.author is Author.PERSON] == ["add it\n"]


@pytest.mark.parametrize(("inner", "theirs"), [("fix it", ["fix it"]), ("", [])])
def test_of_a_prompt_file_only_its_input_is_the_persons(inner: str, theirs: list[str]) -> None:
    text = f"\n## User Input\n\n```text\n{inner}\n```\n\nYou **MUST** consider it.\n"
    found = blocks(meta(), *typed(text))
    assert [block.text for block in found if type(block) is Text and block.author is Author.PERSON] == theirs


def test_a_prompt_file_that_tells_nothing_is_no_persons() -> None:
    [block] = blocks(meta(), *typed("# /deploy — Deploy it\n\nSteps"))
    assert type(block) is Text
    assert block.author is Author.HARNESS


def test_a_path_at_the_start_of_a_heading_is_still_typed() -> None:
    assert blocks(meta(), *typed("# /etc/hosts is wrong")) == [
        Text("# /etc/hosts is wrong", Author.PERSON, via=Via.PROMPT)
    ]


def test_a_picture_stands_between_its_wrapper() -> None:
    content = [
        {"type": "input_text", "text": "look"},
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
        {"type": "input_text", "text": "</image>"},
    ]
    found = blocks(meta(), item("message", role="user", content=content), event("user_message", message="look"))
    assert found[0] == Text("look", Author.PERSON, via=Via.PROMPT)
    assert found[2] == Image("image/png", "aGk=")
    assert {block.author for block in found[1::2] if type(block) is Text} == {Author.HARNESS}


def test_prompts_of_a_program_are_of_unknown_author() -> None:
    assert blocks(meta(source="exec"), *typed("go")) == [Text("go", Author.UNKNOWN, via=Via.PROMPT)]


def test_prompts_of_a_sub_agent_are_the_parent_agents() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "p-1", "depth": 1}}}
    session = read(meta(source=source), *typed("go"))
    assert session.body[0].content == (Text("go", Author.PEER, via=Via.PROMPT),)
    assert session.meta.parent == Parent(session="p-1", kind="subagent")


def test_what_another_agent_says_is_the_peers() -> None:
    told = item("agent_message", author="/root/a", recipient="/root", content=[{"type": "input_text", "text": "ok"}])
    assert blocks(meta(), told) == [Text("ok", Author.PEER, by="/root/a")]


# Turns ------------------------------------------------------------------------------------------------------


def test_a_second_text_in_an_open_turn_is_a_steer() -> None:
    found = blocks(
        meta(),
        turn(1),
        *typed("go"),
        shell("a"),
        output("a", "1"),
        *typed("no, there"),
        done(1),
        turn(2),
        *typed("next"),
    )
    assert [block.via for block in found if type(block) is Text] == [Via.PROMPT, Via.STEER, Via.PROMPT]


def test_a_steer_that_comes_with_results_rides_on_them() -> None:
    session = read(meta(), turn(1), *typed("go"), shell("a"), output("a", "1"), *typed("no, there"))
    assert outline(session)[-1] == "user:tool_result+text"


def test_without_marks_of_turns_a_second_prompt_is_no_steer() -> None:
    found = blocks(meta(), *typed("go"), said("ok"), *typed("next"))
    assert [block.via for block in found if type(block) is Text and block.via] == [Via.PROMPT, Via.PROMPT]


def test_an_aborted_turn_is_one_interrupt_in_either_spelling() -> None:
    mark = event("turn_aborted", reason="interrupted")
    assert [type(block) for block in blocks(meta(), turn(1), *typed("go"), ABORTED, mark)] == [Text, Interrupt]
    assert [type(block) for block in blocks(meta(), *typed("go"), mark)] == [Text, Interrupt]


def test_the_response_that_was_cut_short_says_so() -> None:
    session = read(meta(), turn(1), *typed("go"), said("I be"), ABORTED, event("turn_aborted", reason="interrupted"))
    assert [message.stop_reason for message in session.body] == [None, "aborted", None]


def test_what_only_the_screen_showed_of_an_aborted_response_is_kept() -> None:
    shown = event("agent_message", message="I will delete it")
    session = read(meta(), *typed("go"), shown, event("turn_aborted", reason="interrupted"))
    assert session.body[1].content == (Text("I will delete it", MODEL),)
    assert session.body[1].stop_reason == "aborted"


def test_the_screens_copy_of_an_answer_is_no_second_answer() -> None:
    assert blocks(meta(), event("agent_message", message="Done"), said("Done")) == [Text("Done", MODEL)]


def test_rolled_back_turns_are_a_branch() -> None:
    rows = [meta(), turn(1), *typed("one"), said("1"), done(1), turn(2), *typed("two"), said("2"), done(2)]
    native = CODEC.parse(lines(*rows, event("thread_rolled_back", num_turns=1), turn(3), *typed("three"), said("3")))
    live = [block.text for message in CODEC.to_common(native).body for block in message.content if type(block) is Text]
    [branch] = CODEC.branches(native)
    assert live == ["one", "1", "three", "3"]
    assert (branch.at, branch.human_turns) == (2, 1)
    left = CODEC.to_common(native, branch.id)
    assert [block.text for message in left.body for block in message.content if type(block) is Text] == [
        "one",
        "1",
        "two",
        "2",
    ]


def test_more_turns_than_there_are_roll_back_to_the_first() -> None:
    native = CODEC.parse(lines(meta(), turn(1), *typed("one"), said("1"), event("thread_rolled_back", num_turns=9)))
    assert CODEC.to_common(native).body == ()
    assert [branch.at for branch in CODEC.branches(native)] == [0]


def test_a_branch_that_is_not_there_is_an_error() -> None:
    with pytest.raises(TranscriptError):
        CODEC.to_common(CODEC.parse(lines(meta())), "no such")


# Compaction and copied history ------------------------------------------------------------------------------


def test_replacement_history_is_not_read_again() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]}]
    compacted = row("compacted", {"message": "", "replacement_history": history})
    session = read(meta(), *typed("old"), said("ok"), compacted, *typed("new"))
    assert outline(session) == ["user:text", "assistant:text", "user:compaction", "user:text"]
    assert session.body[2].content == (Compaction(),)


def test_a_readable_summary_is_the_compactions() -> None:
    assert blocks(meta(), row("compacted", {"message": "They talked."})) == [Compaction("They talked.")]


def test_inherited_history_is_marked_and_its_authors_are_the_parents() -> None:
    later = "2026-01-05T09:00:30.000Z"
    own, parent = meta(source={"subagent": "review"}), meta(id="p-1")
    prompt = [{**one, "timestamp": later} for one in typed("new")]
    session = read(own, parent, *typed("old"), said("ok"), *prompt)
    assert [message.origin for message in session.body] == ["p-1", "p-1", None]
    authors = [block.author for message in session.body for block in message.content if type(block) is Text]
    assert authors == [Author.PERSON, MODEL, Author.PEER]


def test_a_later_header_of_the_same_session_is_a_resume() -> None:
    session = read(meta(), *typed("one"), meta(), *typed("two"))
    assert session.meta.parent is None
    assert {message.origin for message in session.body} == {None}


def test_a_fork_names_its_parent() -> None:
    assert read(meta(), meta(id="p-1")).meta.parent == Parent(session="p-1", kind="fork")


# Results ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n", False),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n", True),
        ("Command: make\nChunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n", True),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess running with session ID 7\nOutput:\n", False),
        ("Command: a\nb\nChunk ID: a1\nWall time: 1 seconds\nProcess exited with code -1\nOutput:\n", True),
        (f"Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code {'9' * 5000}\nOutput:\n", True),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\n", True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nProcess exited with code 1\n", False),
        ("the log says: Process exited with code 1\n", False),
    ],
)
def test_the_exit_code_is_read_from_the_header_only(text: str, is_error: bool) -> None:
    assert results(meta(), shell("a"), output("a", text)) == [ToolResult("a", text, is_error)]


def test_an_envelope_gives_its_output_and_exit_code() -> None:
    text = json.dumps({"output": "no\n", "metadata": {"exit_code": 3, "duration_seconds": 0.1}})
    assert results(meta(), shell("a"), output("a", text)) == [ToolResult("a", "no\n", True)]


def test_an_output_that_is_a_list_stays_structured() -> None:
    content = [
        {"type": "input_text", "text": "Script completed"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
    ]
    [found] = results(meta(), shell("a"), output("a", content))
    assert found.content == [
        {"type": "text", "text": "Script completed"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ]


def test_the_event_of_a_command_is_the_richer_copy_and_no_second_result() -> None:
    ended = event("exec_command_end", call_id="a", aggregated_output="all of it", exit_code=1)
    for order in ([ended, output("a", "a part")], [output("a", "a part"), ended]):
        assert results(meta(), shell("a"), *order) == [ToolResult("a", "all of it", True)]


def test_a_result_that_only_the_event_log_has_is_read_from_it() -> None:
    ended = event("exec_command_end", call_id="a", stdout="out", stderr="err", exit_code=0)
    assert results(meta(), shell("a"), ended) == [ToolResult("a", "out\nerr")]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("exec command rejected by user", Refusal(RefusalKind.DENIED, "person")),
        ("patch rejected by user", Refusal(RefusalKind.DENIED, "person")),
        (
            'exec_command failed for `rm x`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
            Refusal(RefusalKind.DENIED, "person"),
        ),
        ("aborted by user after 3.1s", Refusal(RefusalKind.INTERRUPTED)),
        ("failed in sandbox: no", Refusal(RefusalKind.BLOCKED, "sandbox")),
        (
            'exec_command failed for `x`: CreateProcess { message: "Codex(Sandbox(Denied { output: 1',
            Refusal(RefusalKind.BLOCKED, "sandbox"),
        ),
    ],
)
def test_refusals_are_known_by_the_whole_output(text: str, refusal: Refusal) -> None:
    assert results(meta(), shell("a"), output("a", text)) == [ToolResult("a", text, True, refusal)]


@pytest.mark.parametrize(
    "text", ["it said: exec command rejected by user", "exec command rejected by user\n", "aborted by user after all"]
)
def test_the_words_of_a_refusal_inside_an_output_are_none(text: str) -> None:
    [found] = results(meta(), shell("a"), output("a", text))
    assert found.refusal is None


def test_what_a_servers_tool_prints_is_no_persons_refusal() -> None:
    asked = item("function_call", call_id="a", namespace="mcp__x", name="y", arguments="{}")
    [found] = results(meta(), asked, output("a", "exec command rejected by user"))
    assert found.refusal is None


def test_a_refusal_by_an_appointed_reviewer_is_a_block() -> None:
    context = row("turn_context", {"approvals_reviewer": "auto_review"})
    [found] = results(meta(), context, shell("a"), output("a", "exec command rejected by user"))
    assert found.refusal == Refusal(RefusalKind.BLOCKED, "auto_review")


def test_a_declined_command_is_a_persons_refusal() -> None:
    ended = event("exec_command_end", call_id="a", status="declined", exit_code=-1)
    [found] = results(meta(), shell("a"), output("a", "no"), ended)
    assert found.refusal == Refusal(RefusalKind.DENIED, "person")


@pytest.mark.parametrize("is_before", [True, False])
def test_a_search_is_joined_with_its_event_on_either_side(is_before: bool) -> None:
    action = {"type": "search", "queries": ["a", "b"]}
    ended = event("web_search_end", call_id="ws-1", query="a", action=action)
    asked = item("web_search_call", status="completed", action=action)
    rows = [ended, asked] if is_before else [asked, ended]
    session = read(meta(), *typed("go"), *rows, said("found"), tokens(9, 9))
    assert outline(session) == ["user:text", "assistant:tool_use+text", "user:tool_result"]
    assert session.tool_pairs() == [(1, 2)]
    assert session.body[2].content == (ToolResult("ws-1", "a\nb"),)


def test_answers_to_questions_are_decisions_and_words() -> None:
    asked = {"questions": [{"id": "q", "question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}]}
    given = json.dumps({"answers": {"q": {"answers": ["Red", "user_note: the dark one"]}}})
    found = blocks(meta(), call("a", "request_user_input", asked), output("a", given))
    assert found[2:] == [
        Decision("Which?", Author.PERSON, choice="Red"),
        Text("the dark one", Author.PERSON, via=Via.ANSWER),
    ]


# The rest ---------------------------------------------------------------------------------------------------


def test_a_session_of_events_alone_is_read_from_them() -> None:
    ended = event("exec_command_end", call_id="a", command=["bash", "-lc", "ls"], aggregated_output="x", exit_code=0)
    session = read(meta(), event("user_message", message="go"), ended, event("agent_message", message="Done"))
    assert outline(session) == ["user:text", "assistant:tool_use", "user:tool_result", "assistant:text"]
    assert session.body[0].content == (Text("go", Author.PERSON, via=Via.PROMPT),)


@pytest.mark.parametrize(
    ("changes", "read_as"),
    [(b'"\\ud800"', "\ud800"), (b'"\xff"', "\ufffd"), (b"9" * 30, int("9" * 30)), (b"9" * 5000, None)],
)
def test_a_patch_that_only_the_event_log_has_is_read_whatever_its_changes(changes: bytes, read_as: object) -> None:
    mark = "what was changed"
    told = lines(event("user_message", message="go"), event("patch_apply_end", call_id="a", changes=mark))
    session = CODEC.to_common(CODEC.parse(told.replace(json.dumps(mark).encode(), changes)))
    (block,) = session.body[1].content
    assert type(block) is ToolUse
    assert Raw("apply_patch", {"changes": read_as}) == block.call


def test_unknown_kinds_are_kept_and_counted() -> None:
    native = CODEC.parse(lines(meta(), row("novelty", {}), item("novelty"), event("novelty"), event("novelty")))
    assert CODEC.unknown(native) == {"novelty": 1, "response_item/novelty": 1, "event_msg/novelty": 2}


def test_a_row_of_an_unknown_kind_costs_nothing_but_what_is_damaged_in_it() -> None:
    native = CODEC.parse(lines(meta(), event("novelty", text="x"), said("One"), event("novelty", text=5)))
    assert outline(CODEC.to_common(native)) == ["assistant:text"]
    assert [fault.message for fault in CODEC.faults(native)] == [
        "fields of a type the format does not know: payload.text"
    ]


def test_a_kind_is_that_of_its_log() -> None:
    """The same name is another kind in the other log."""
    session = read(meta(), *typed("go"), event("agent_message", message="Hi"), item("agent_message", content="Hi"))
    assert outline(session) == ["user:text+text"]


def test_the_title_is_the_last_name_of_the_thread() -> None:
    session = read(
        meta(), event("thread_name_updated", thread_name="One"), event("thread_name_updated", thread_name="Two")
    )
    assert session.meta.title == "Two"


def test_children_are_told_by_calls_and_by_events() -> None:
    spawned = [call("a", "spawn_agent", {"message": "x"}), output("a", '{"agent_id":"child-1","nickname":"n"}')]
    told = event("sub_agent_activity", event_id="b", agent_thread_id="child-2", kind="started")
    children = CODEC.children(CODEC.parse(lines(meta(), *spawned, told)))
    assert [(child.id, child.call) for child in children] == [("child-1", "a"), ("child-2", "b")]


def test_glued_records_give_both_and_are_told() -> None:
    data = lines(meta(), said("One")).rstrip(b"\n") + lines(said("Two"))
    native = CODEC.parse(data)
    assert outline(CODEC.to_common(native)) == ["assistant:text+text"]
    assert [fault.code for fault in CODEC.faults(native)] == ["glued"]


def test_nul_bytes_cost_nothing_but_a_fault() -> None:
    native = CODEC.parse(lines(meta()) + b"\x00" * 300 + lines(said("One")))
    assert outline(CODEC.to_common(native)) == ["assistant:text"]
    assert {fault.code for fault in CODEC.faults(native)} == {"nul"}


@pytest.mark.parametrize("source", [["exec"], [], 1, None, "cli"])
def test_a_source_that_names_no_program_is_a_persons(source: object) -> None:
    assert [Text("go", Author.PERSON, via=Via.PROMPT)] == blocks(meta(source=source), *typed("go"))


def test_an_unknown_time_is_none() -> None:
    session = read({"type": "session_meta", "payload": {"id": "s"}}, {**said("x"), "timestamp": "noon"})
    assert (session.meta.timestamp, session.body[0].timestamp) == (None, None)


def test_every_tool_the_reader_names_has_traits() -> None:
    assert {"Bash", "Write", "Edit", "ApplyPatch", "WebSearch", "exec", "write_stdin"} <= HARNESS.tools.keys()


def test_an_unanswered_call_is_no_pair() -> None:
    session = read(meta(), *typed("go"), shell("a"))
    assert session.tool_pairs() == []
    assert type(session.body[1].content[0]) is ToolUse
