"""Replays: what people put in is put in again, and nothing with consequences runs unless it may."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from handrail.app import Machine, Replayed, ReplayOrder, replay
from handrail.errors import MalformedSession
from handrail.transcripts.model import (
    Bash,
    Compaction,
    Message,
    Raw,
    Refusal,
    RefusalKind,
    ToolResult,
    ToolUse,
    Via,
    Write,
)
from tests.app.desk import model, person, put, session, talk

LISTED = ToolUse("c1", Raw("List", {"path": "."}))
WRITTEN = ToolUse("c1", Write("a.txt", "a"))


def _replayed(tmp_path: Path, body: object, *allow: str) -> Replayed:
    machine = _machine(tmp_path, body)
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    environment = {"HANDRAIL_CONFIG_DIR": str(tmp_path / "config"), "PATH": os.environ["PATH"]}
    return asyncio.run(replay(machine, ReplayOrder(reference="one", workspace=work, allow=allow), environment))


def _machine(tmp_path: Path, body: object) -> Machine:
    return put(tmp_path / "store", session("one", body))  # type: ignore[arg-type]


def test_words_put_in_between_rounds_and_after_an_answer_are_put_in_again(tmp_path: Path) -> None:
    body = talk(
        [person("look")],
        [model("I look."), LISTED],
        [ToolResult("c1", "[empty]"), person("quickly", Via.STEER)],
        [model("It is empty.")],
        [person("are you sure?")],
        [model("I am.")],
    )
    done = _replayed(tmp_path, body)
    assert (done.divergences, done.replies, done.calls_run) == ((), 3, 1)
    assert done.end_reason == "answered"


def test_a_call_with_consequences_gets_its_recorded_result(tmp_path: Path) -> None:
    body = talk([person("write")], [WRITTEN], [ToolResult("c1", "as it was then")], [model("Done.")])
    done = _replayed(tmp_path, body)
    assert (done.divergences, done.calls_run, done.calls_recorded) == ((), 0, 1)
    assert not (tmp_path / "work" / "a.txt").exists()


def test_work_that_was_handed_on_is_not_done_again(tmp_path: Path) -> None:
    handed = ToolUse("c1", Raw("Spawn", {"prompt": "find it"}))
    body = talk([person("find it")], [handed], [ToolResult("c1", "found it")], [model("Done.")])
    done = _replayed(tmp_path, body)
    assert (done.divergences, done.calls_run, done.calls_recorded) == ((), 0, 1)


def test_a_summary_that_made_room_is_no_difference(tmp_path: Path) -> None:
    summed = Message(role="user", content=(Compaction("What was done: nothing."),))
    body = (*talk([person("look")], [model("I look."), LISTED], [ToolResult("c1", "[empty]")]), summed)
    done = _replayed(tmp_path, (*body, *talk([model("It is empty.")])))
    assert (done.divergences, done.calls_run) == ((), 1)


def test_a_call_that_may_run_runs_and_its_result_is_compared(tmp_path: Path) -> None:
    body = talk([person("write")], [WRITTEN], [ToolResult("c1", "as it was then")], [model("Done.")])
    done = _replayed(tmp_path, body, "Write")
    assert (tmp_path / "work" / "a.txt").read_text() == "a"
    (found,) = done.divergences
    assert (found.reply, found.kind, found.call) == (1, "result", "c1")


def test_a_call_that_was_refused_is_refused_again_even_where_it_could_run(tmp_path: Path) -> None:
    refused = ToolResult("c1", "no", is_error=True, refusal=Refusal(RefusalKind.DENIED, "person", "no"))
    body = talk([person("write")], [WRITTEN], [refused], [model("Then not.")])
    done = _replayed(tmp_path, body, "Write")
    assert (done.divergences, done.calls_recorded) == ((), 1)
    assert not (tmp_path / "work" / "a.txt").exists()


def test_a_tool_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = ToolUse("c1", Raw("Telegraph", {"to": "London"}))
    body = talk([person("send")], [gone], [ToolResult("c1", "sent")], [model("Done.")])
    kinds = [(one.kind, one.recorded) for one in _replayed(tmp_path, body).divergences if one.kind == "tool_gone"]
    assert kinds == [("tool_gone", "Telegraph")]


def test_a_recording_that_ends_in_a_call_ends_there(tmp_path: Path) -> None:
    body = talk([person("look")], [ToolUse("c1", Bash("ls"))], [ToolResult("c1", "a")])
    done = _replayed(tmp_path, body)
    assert (done.divergences, done.end_reason) == ((), "strategy_stop")


def test_what_cannot_be_put_in_again_is_told_and_the_rest_is_replayed(tmp_path: Path) -> None:
    done = _replayed(tmp_path, talk([person("look")], [model("One.")], [model("Two.")], [model("Three.")]))
    assert [(one.reply, one.kind) for one in done.divergences] == [(1, "delivery"), (2, "delivery")]
    assert done.end_reason == "answered"


def test_an_id_that_is_used_again_has_its_own_result_each_time(tmp_path: Path) -> None:
    body = talk(
        [person("write")],
        [WRITTEN],
        [ToolResult("c1", "first")],
        [model("Done.")],
        [person("again")],
        [WRITTEN],
        [ToolResult("c1", "second")],
        [model("Done.")],
    )
    assert _replayed(tmp_path, body).divergences == ()


@pytest.mark.parametrize("body", [talk([person("look")]), talk([model("I begin.")])])
def test_a_session_without_a_prompt_and_a_reply_cannot_be_replayed(tmp_path: Path, body: object) -> None:
    with pytest.raises(MalformedSession):
        _replayed(tmp_path, body)
