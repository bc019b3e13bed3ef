"""The live line of a Claude Code tree, and what was left beside it."""

from __future__ import annotations

from typing import Any

from tests.harnesses.claude_rows import CODEC, Rows, call, texts


def test_a_fork_made_only_of_progress_rows_loses_nothing() -> None:
    rows = Rows()
    rows.prompt("go")
    said = rows.says("one")
    first = rows.row("progress", data={"type": "hook_progress"})
    rows.row("progress", data={"type": "hook_progress"}, parent=said)
    rows.says("two", parent=first)
    assert ["go", "one", "two"] == texts(rows.body())
    assert () == rows.branches()


def test_a_parent_that_was_never_written_is_bridged_and_marked() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says("one")
    rows.prompt("more", parent="never-written")
    rows.says("two")
    body = rows.body()
    assert ["go", "one", "more", "two"] == texts(body)
    assert [False, False, True, False] == [message.is_bridged for message in body]


def test_a_stale_result_flushed_at_the_end_does_not_choose_the_line() -> None:
    rows = Rows()
    rows.prompt("go")
    asked = rows.says(call("t1"))
    rows.prompt("never mind", parent=asked)
    rows.says("fine")
    rows.result("t1", parent=asked)
    assert ["go", "never mind", "fine"] == texts(rows.body())
    assert [(1, 4)] == rows.session().tool_pairs()


def test_a_reply_and_a_hook_summary_with_one_parent_are_one_line() -> None:
    rows = Rows()
    asked = rows.prompt("go")
    rows.says("answer", parent=asked, uuid="A", id="r")
    rows.row("system", subtype="stop_hook_summary", parent=asked, uuid="S")
    rows.says("more", parent="S", id="r")
    assert ["go", "answer", "more"] == texts(rows.body())


def test_a_reply_beside_a_hook_summary_stays_when_the_next_prompt_hangs_on_the_summary() -> None:
    rows = Rows()
    asked = rows.prompt("go")
    rows.says(call("t1"), parent=asked)
    rows.result("t1")
    rows.says("answer")
    rows.row("system", subtype="stop_hook_summary", parent=asked, uuid="S")
    rows.prompt("next", parent="S")
    rows.says("done")
    assert ["go", "answer", "next", "done"] == texts(rows.body())
    assert () == rows.branches()


def test_a_prompt_beside_bookkeeping_is_still_a_rewind() -> None:
    rows = Rows()
    rows.prompt("go")
    fork = rows.says("one")
    rows.prompt("left", parent=fork)
    rows.says("answer to left")
    rows.row("system", subtype="turn_duration", parent=fork, uuid="S")
    rows.prompt("taken", parent="S")
    rows.says("done")
    assert ["go", "one", "taken", "done"] == texts(rows.body())
    assert [1] == [branch.human_turns for branch in rows.branches()]


def test_a_rewind_is_a_branch_with_its_human_turns() -> None:
    rows = Rows()
    rows.prompt("go")
    fork = rows.says("one")
    left = rows.prompt("left")
    rows.says("answer to left")
    rows.row("system", subtype="turn_duration")
    rows.prompt("left again")
    rows.prompt("taken", parent=fork)
    rows.says("two")
    assert ["go", "one", "taken", "two"] == texts(rows.body())
    (branch,) = rows.branches()
    assert (left, 2, 2) == (branch.id, branch.at, branch.human_turns)
    assert ["left", "answer to left", "left again"] == texts(branch.body)


def test_a_branch_is_read_from_the_beginning_by_its_id() -> None:
    rows = Rows()
    rows.prompt("go")
    fork = rows.says("one")
    left = rows.prompt("left")
    rows.prompt("taken", parent=fork)
    native = CODEC.parse(rows.data())
    assert ["go", "one", "left"] == texts(CODEC.to_common(native, branch=left).body)


def test_a_first_prompt_said_again_is_a_branch_at_the_start() -> None:
    rows = Rows()
    rows.prompt("first try")
    rows.says("one")
    rows.prompt("second try", parent=None)
    rows.says("two")
    assert ["second try", "two"] == texts(rows.body())
    assert [0] == [branch.at for branch in rows.branches()]


def test_a_branch_of_a_branch_is_its_own() -> None:
    rows = Rows()
    fork = rows.prompt("go")
    inner = rows.says("a")
    rows.prompt("a1")
    rows.prompt("a2", parent=inner)
    rows.says("b", parent=fork)
    rows.prompt("on")
    assert ["go", "b", "on"] == texts(rows.body())
    assert [["a", "a2"], ["a1"]] == sorted((texts(branch.body) for branch in rows.branches()), key=len, reverse=True)


def test_local_commands_hang_off_the_line_without_leaving_it() -> None:
    rows = Rows()
    caveat = rows.user("<local-command-caveat>Caveat: The messages below</local-command-caveat>", isMeta=True)
    rows.prompt("go")
    rows.says("one")
    rows.user("<bash-input>ls</bash-input>", parent=caveat)
    rows.user("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>")
    rows.prompt("more")
    assert ["go", "one", "more"] == texts(rows.body())
    assert () == rows.branches()


def test_parallel_calls_keep_all_their_results() -> None:
    rows = Rows()
    rows.prompt("go")
    first = rows.says(call("t1"), id="r")
    second = rows.says(call("t2"), id="r")
    rows.result("t1", parent=first)
    rows.result("t2", parent=second)
    rows.says("done")
    assert [(1, 2), (1, 2)] == rows.session().tool_pairs()


def test_rows_appended_again_with_the_same_id_count_once() -> None:
    rows = Rows()
    rows.prompt("go", uuid="p")
    rows.says("one", uuid="a")
    rows.prompt("go", uuid="p", parent=None)
    rows.says("one", uuid="a", parent="p")
    rows.prompt("more", parent="a")
    assert ["go", "one", "more"] == texts(rows.body())


def test_a_cycle_ends_and_loses_nothing_before_it() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.says("one", uuid="x", parent="y")
    rows.prompt("more", uuid="y", parent="x")
    assert ["go", "one", "more"] == texts(rows.body())


def test_bookkeeping_without_a_parent_does_not_matter() -> None:
    rows = Rows()
    rows.prompt("go")
    for _ in range(50):
        rows.bare(type="file-history-snapshot", messageId="m", snapshot={})
    rows.says("one")
    assert ["go", "one"] == texts(rows.body())


def test_side_chain_rows_of_a_main_file_are_not_on_its_line() -> None:
    rows = Rows()
    rows.prompt("go")
    rows.user("do the part", isSidechain=True, agentId="a")
    rows.says("part done", isSidechain=True, agentId="a")
    rows.prompt("more", parent="u1")
    assert ["go", "more"] == texts(rows.body())


def test_a_compaction_that_kept_rows_is_followed_to_its_summary() -> None:
    rows = Rows()
    rows.prompt("go")
    tail = rows.says("kept")
    rows.prompt("dropped from context")
    segment = {"headUuid": tail, "anchorUuid": "sum", "tailUuid": tail}
    rows.row(
        "system",
        parent=None,
        logicalParentUuid=rows.last,
        subtype="compact_boundary",
        compactMetadata={"trigger": "manual", "preTokens": 9, "postTokens": 3, "preservedSegment": segment},
    )
    rows.user("what happened", uuid="sum", isCompactSummary=True)
    rows.prompt("on", parent=tail)
    assert ["go", "kept", "dropped from context", "on"] == texts(rows.body())
    assert not any(message.is_bridged for message in rows.body())


def test_history_that_a_client_wrote_anew_under_other_ids_counts_once() -> None:
    rows = Rows()
    told = [("u", "go"), ("a", "one"), ("u", "more"), ("a", "two")]
    for copy in range(2):
        for place, (kind, words) in enumerate(told):
            root: dict[str, Any] = {"parent": None} if place == 0 else {}
            if kind == "u":
                rows.prompt(words, **root)
            else:
                rows.says({"type": "thinking", "thinking": f"{words}?"} if copy == 0 else words, id=words)
                rows.says(words if copy == 0 else call(f"t-{words}"), id=words)
            rows.rows[-1]["timestamp"] = f"2026-03-01T11:00:0{place}.000Z"
    rows.result("t-two")
    assert ["go", "one", "more", "two"] == texts(rows.body())
    assert ["user", "assistant", "user", "assistant", "user"] == [message.role for message in rows.body()]
    assert () == rows.branches()


def test_responses_of_one_id_whose_words_nothing_can_be_told_of_are_no_copies() -> None:
    rows = Rows()
    rows.prompt("go")
    for words in ("one", "two"):
        message = {"id": "r", "role": "assistant", "model": "m", "content": words}
        rows.row("assistant", message=message, parent="u1")
    assert ["go", "one", "two"] == texts(rows.body())


def test_a_row_that_is_no_response_makes_no_call() -> None:
    rows = Rows()
    asked = rows.prompt("go")
    rows.row("novel", message={"content": [call("t1")]})
    rows.says("done")
    rows.result("t1", parent=asked)
    assert ["user", "assistant"] == [message.role for message in rows.body()]
