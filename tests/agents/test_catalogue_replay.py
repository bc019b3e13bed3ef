"""Rows 68 to 71 of the catalogue of cases (J of ``learning.md``): replaying a session against today's tools.

Overruled in 70 and 71: a replay that meets a difference does not stop there. It reports every difference, since the
recorded replies go on to be given and what comes after may still agree.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from handrail import EndReason
from handrail.app.replaying import Replayed, ReplayOrder, replay
from handrail.transcripts.model import (
    Author,
    Block,
    Raw,
    Read,
    Refusal,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Via,
    Write,
)
from tests.app.desk import model, person, put, session, talk


def _replayed(tmp_path: Path, *contents: list[Block]) -> Replayed:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    machine = put(tmp_path / "store", session("s1", talk(*contents)))
    order = ReplayOrder(reference="s1", workspace=work)
    environment = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    return asyncio.run(replay(machine, order, environment))


def _write(id: str, path: str) -> ToolUse:
    return ToolUse(id, Write(path, "x"))


def _kinds(replayed: Replayed) -> list[tuple[int, str]]:
    return [(one.reply, one.kind) for one in replayed.divergences]


def test_j_68_a_steer_beside_results_is_put_in_where_it_was_and_is_no_run_of_its_own(tmp_path: Path) -> None:
    found = _replayed(
        tmp_path,
        [person("go")],
        [_write("c1", "a.txt"), _write("c2", "b.txt")],
        [ToolResult("c2", "second"), ToolResult("c1", "first"), Text("mind the gap", Author.PERSON, via=Via.STEER)],
        [model("done")],
    )
    assert (found.divergences, found.replies, found.end_reason) == ((), 2, EndReason.ANSWERED)


def test_j_70_results_come_in_order_and_a_recorded_error_stays_an_error(tmp_path: Path) -> None:
    found = _replayed(
        tmp_path,
        [person("go")],
        [_write("c1", "a.txt")],
        [ToolResult("c1", "disk full", is_error=True)],
        [_write("c2", "a.txt")],
        [ToolResult("c2", "written")],
        [model("done")],
    )
    assert (found.divergences, found.calls_run, found.calls_recorded) == ((), 0, 2)
    assert not (tmp_path / "work" / "a.txt").exists()


def test_j_70_a_call_that_was_refused_then_is_refused_again(tmp_path: Path) -> None:
    refused = ToolResult("c1", "not there", is_error=True, refusal=Refusal(RefusalKind.DENIED, "person", "not there"))
    found = _replayed(tmp_path, [person("go")], [ToolUse("c1", Read("a.txt"))], [refused], [model("done")])
    assert (found.divergences, found.calls_run, found.calls_recorded) == ((), 0, 1)


def test_j_70_a_tool_that_is_missing_today_is_told_and_its_call_is_an_error(tmp_path: Path) -> None:
    gone = ToolUse("c1", Raw("OldTool", {"x": 1}))
    found = _replayed(tmp_path, [person("go")], [gone], [ToolResult("c1", "was here")], [model("done")])
    assert _kinds(found) == [(0, "tool_gone"), (1, "result")]
    given = found.divergences[1].given
    assert given["is_error"] is True
    assert "There is no tool 'OldTool'" in given["content"]


def test_j_70_past_the_end_of_the_recording_the_replay_stops(tmp_path: Path) -> None:
    found = _replayed(tmp_path, [person("go")], [_write("c1", "a.txt")], [ToolResult("c1", "written")])
    assert (found.end_reason, found.detail) == (EndReason.STRATEGY_STOP, "the recording ends here")
    assert found.divergences == ()


def test_j_71_every_difference_is_told_and_the_rest_is_still_held_against_the_recording(tmp_path: Path) -> None:
    found = _replayed(
        tmp_path,
        [person("go")],
        [ToolUse("c1", Read("a.txt"))],
        [ToolResult("c1", "it was there once")],
        [model("one")],
        [person("and now")],
        [_write("c2", "b.txt")],
        [ToolResult("c2", "written")],
        [model("two")],
    )
    assert _kinds(found) == [(1, "result")]
    assert (found.replies, found.calls_run, found.calls_recorded) == (4, 1, 1)
