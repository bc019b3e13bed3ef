"""Trees that a resume walks wrongly: how many turns it loses, and that a repaired copy shows them all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handrail.errors import MalformedSession
from handrail.transcripts.repair import Bytes, Remedy, Severity, Wishes
from tests.doctor.files import (
    SESSION,
    Row,
    call,
    chain,
    codes,
    line,
    lines,
    look,
    medic,
    mend,
    result,
    said,
    texts,
    the,
    turn,
)

ALL = [f"{'answer' if number % 2 else 'prompt'} {number}" for number in range(100)]


def queue(operation: str, text: str | None = None) -> Row:
    row: Row = {"type": "queue-operation", "operation": operation, "sessionId": SESSION}
    return row | ({"content": text} if text is not None else {})


def shown(data: bytes) -> tuple[int, int]:
    """The turns of the line, and how many of them a resume shows."""
    found = look(data)
    return found.turns, found.shown


def test_a_parent_that_was_never_written_costs_all_before_it() -> None:
    rows = [*chain(50), *chain(1, 50, "never-written")]
    assert shown(lines(rows)) == (51, 1)
    assert the("lost_on_resume", lines(rows)).message == "50 turns lost on resume, 25 of them typed by a person"
    found = the("dangling_parent", lines(rows))
    assert lines(rows)[found.start : found.end] + b"\n" == line(rows[-1])
    copy = mend(lines(rows))
    assert (copy, shown(copy)) == (lines(chain(51)), (51, 51))


def test_a_parent_missing_before_a_compaction_costs_nothing_and_is_bridged_all_the_same() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": "u3"}
    summary = turn("user", "s1", "b1", "summary", isCompactSummary=True)
    rows = [*chain(3), turn("assistant", "u3", "gone", said("answer 3")), {**boundary, "uuid": "b1"}, summary]
    rows += chain(2, 4, "s1")
    assert codes(lines(rows)) == set()
    assert the("dangling_parent", lines(rows)).severity is Severity.NOTE
    assert mend(lines(rows)) == lines(rows).replace(b'"gone"', b'"u2"')


def test_a_first_row_whose_parent_is_missing_becomes_a_beginning() -> None:
    assert mend(lines(chain(3, parent="gone"))) == lines(chain(3))


def test_rows_that_are_each_others_parents_are_parted() -> None:
    rows = [turn("user", "u0", "u1", "prompt 0"), *chain(3, 1, "u0")]
    assert "parent_cycle" in codes(lines(rows))
    assert mend(lines(rows)) == lines(chain(4))


def test_a_row_that_is_its_own_parent_is_hung_on_the_row_before() -> None:
    rows = [*chain(2), *chain(1, 2, "u2"), *chain(1, 3, "u2")]
    assert mend(lines(rows)) == lines(chain(4))


def test_hook_rows_that_fork_the_chain_lose_nothing() -> None:
    hook: Row = {"type": "progress", "data": {"type": "hook_progress"}, "sessionId": SESSION}
    rows = [*chain(2), {**hook, "uuid": "p1", "parentUuid": "u1"}, *chain(2, 2, "p1")]
    rows.append({**hook, "uuid": "p2", "parentUuid": "u1"})
    assert look(lines(rows)).findings == ()


def test_a_late_result_does_not_become_the_end_of_the_session() -> None:
    asked = turn("assistant", "u1", "u0", [call("t1")])
    late = turn("user", "r1", "u1", [result("t1")], minute=59)
    rows = [chain(1)[0], asked, *chain(6, 2, "u1"), late]
    assert {"stale_leaf", "lost_on_resume"} <= codes(lines(rows))
    copy = mend(lines(rows))
    assert [json.loads(row)["uuid"] for row in copy.splitlines()] == ["u0", "u1", "r1", *(f"u{n}" for n in range(2, 8))]
    assert shown(copy) == (8, 8)


def test_a_reply_beside_a_hook_summary_is_tied_in() -> None:
    reply = turn("assistant", "a", "u2", said("answer 3"))
    summary: Row = {"type": "system", "subtype": "stop_hook_summary", "uuid": "s", "parentUuid": "u2"}
    rows = [*chain(3), reply, summary, turn("user", "n", "s", "prompt 4")]
    assert the("lost_on_resume", lines(rows)).message == "1 turn lost on resume, 0 of them typed by a person"
    copy = mend(lines(rows))
    assert (texts(copy), shown(copy)) == (ALL[:5], (5, 5))


def test_a_result_without_its_call_beside_a_hook_summary_is_no_turn_cut_off() -> None:
    rows = [*chain(2), {"type": "attachment", "uuid": "a", "parentUuid": "u1"}]
    rows.append(turn("user", "r", "a", [result("gone")]))
    rows.append({"type": "system", "subtype": "stop_hook_summary", "uuid": "h", "parentUuid": "a"})
    assert codes(lines(rows)) == {"orphan_result"}


@pytest.mark.parametrize("way", ["source", "record"])
def test_turns_cut_off_by_a_queued_prompt_are_hung_on_the_line_again(way: str) -> None:
    proof: dict[str, Any] = {"promptSource": "queued"} if way == "source" else {}
    taken = [queue("dequeue")] if way == "record" else []
    rows = [*chain(10), *taken, turn("user", "q", "u1", "queued words", **proof), *chain(1, 11, "q")]
    found = the("stranded_turns", lines(rows))
    assert (found.severity, found.remedy, found.branch) == (Severity.DAMAGE, Remedy.REPAIR, "u2")
    assert "8 turns (4 typed by a person)" in found.message
    copy = mend(lines(rows))
    assert texts(copy) == [*ALL[:10], "queued words", "answer 11"]
    assert shown(copy) == (12, 12)


def test_two_writers_of_one_file_are_woven_into_one_line() -> None:
    rows = [*chain(2)]
    for number in range(3):
        for writer in ("x", "y"):
            parent = "u1" if not number else f"{writer}{number - 1}a"
            rows.append(turn("user", f"{writer}{number}", parent, f"{writer} asks {number}"))
            rows.append(turn("assistant", f"{writer}{number}a", f"{writer}{number}", said(f"{writer} hears {number}")))
    assert "stranded_turns" in codes(lines(rows))
    assert shown(mend(lines(rows))) == (14, 14)


def test_a_real_rewind_is_a_note_and_stays_what_it_is() -> None:
    rows = [*chain(6), turn("user", "n", "u1", "prompt 2 said anew"), *chain(1, 7, "n")]
    found = the("rewind", lines(rows))
    assert (found.severity, found.remedy, found.branch) == (Severity.NOTE, Remedy.BRANCH, "u2")
    assert found.message == "somebody went back and left 4 turns (2 typed by a person)"
    assert codes(lines(rows)) == set()
    assert mend(lines(rows)) == lines(rows)


def test_a_line_that_was_left_becomes_the_live_one_when_asked() -> None:
    rows = [*chain(6), turn("user", "n", "u1", "prompt 2 said anew"), *chain(1, 7, "n")]
    copy = mend(lines(rows), branch="u2")
    assert sorted(copy.splitlines()) == sorted(lines(rows).splitlines())
    assert texts(copy) == ALL[:6]
    assert the("rewind", copy).branch == "n"
    assert mend(copy, branch="n") != copy
    assert texts(mend(copy, branch="n")) == [*ALL[:2], "prompt 2 said anew", "answer 7"]


def test_a_branch_that_is_not_there_is_refused() -> None:
    with pytest.raises(MalformedSession, match="no branch 'nonesuch'"):
        medic("claude_code").edits(Bytes(lines(chain(4))), Wishes(branch="nonesuch"))


def test_snapshots_without_a_parent_change_nothing() -> None:
    snapshot: Row = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    assert look(lines([*[snapshot] * 50, *chain(4), *[snapshot] * 50])).findings == ()


def test_history_written_again_with_its_ids_is_dropped() -> None:
    boundary: Row = {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": "u4"}
    rows = [*chain(5), {**boundary, "uuid": "b1"}, *chain(5), {**boundary, "uuid": "b2"}, *chain(2, 6, "b2")]
    found = the("history_again", lines(rows))
    assert (found.severity, found.count) == (Severity.DAMAGE, 5)
    assert mend(lines(rows)) == lines([*rows[:6], *rows[11:]])


def test_a_row_written_twice_is_kept_once() -> None:
    assert codes(lines([*chain(3), chain(3)[2], *chain(1, 3, "u2")])) == {"duplicate_row"}
    assert mend(lines([*chain(3), chain(3)[2], *chain(1, 3, "u2")])) == lines(chain(4))


def test_two_rows_of_one_id_that_say_different_things_both_stay() -> None:
    rows = [*chain(3), turn("assistant", "u2", "u2", said("answer 3")), *chain(1, 4, "u2")]
    assert "duplicate_uuid" in codes(lines(rows))
    copy = mend(lines(rows))
    assert texts(copy) == ALL[:5]
    assert len({json.loads(row)["uuid"] for row in copy.splitlines()}) == 5
    assert copy == mend(lines(rows))


def test_a_file_that_begins_with_a_copy_of_another_session_is_no_damage() -> None:
    copied = [{**row, "sessionId": "another"} for row in chain(30)]
    assert look(lines([*copied, *chain(4, 30, "u29")])).findings == ()


def test_a_summary_of_another_session_is_a_note() -> None:
    summary: Row = {"type": "summary", "summary": "Another talk", "leafUuid": "elsewhere"}
    assert codes(lines([summary, *chain(2)]), severity=Severity.NOTE) == {"foreign_summary"}


def test_a_session_that_ends_in_a_reply_no_model_gave_is_cut_before_it() -> None:
    dead = turn("assistant", "d", "u3", said("No response requested."))
    dead["message"] |= {"model": "<synthetic>", "stop_reason": "stop_sequence", "usage": {"output_tokens": 0}}
    assert codes(lines([*chain(4), dead])) == {"dead_tail"}
    assert mend(lines([*chain(4), dead])) == lines(chain(4))
    followed = [*chain(4), dead, turn("user", "n", "d", "go on")]
    assert codes(lines(followed)) == set()
