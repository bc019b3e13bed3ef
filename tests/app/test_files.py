"""Sessions opened by the path of their file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from handrail import app
from handrail.errors import StoreError, UnconvertibleSession
from handrail.testing.builders import ClaudeCodeSession
from handrail.testing.builders.claude_code import say

START = datetime(2026, 5, 4, 8, tzinfo=UTC)
ID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def _session_with_a_subagent(folder: Path) -> Path:
    made = ClaudeCodeSession(ID, "/srv/shop", START)
    made.prompt("tidy the shop")
    made.reply(made.call("look", "Task", prompt="look around"))
    made.result("look", "all is well", detail={"agentId": "a17c09e"})
    agent = ClaudeCodeSession(ID, "/srv/shop", START, agent_id="a17c09e")
    agent.prompt("look around")
    agent.reply(say("All is well."))
    path = folder / f"{ID}.jsonl"
    side = folder / ID / "subagents" / "agent-a17c09e.jsonl"
    side.parent.mkdir(parents=True)
    path.write_bytes(made.render())
    side.write_bytes(agent.render())
    return path


def test_a_session_opened_by_its_path_has_its_subagents_as_one_opened_by_its_id(tmp_path: Path) -> None:
    path = _session_with_a_subagent(tmp_path / "-srv-shop")
    machine = app.open_machine({"claude_code": tmp_path}, only_given=True)
    by_path, by_id = app.open_session(machine, str(path)), app.open_session(machine, ID)
    (child,) = by_path.info.codec.children(by_path.native)
    assert child.session is not None
    assert [message.role for message in child.session.body] == ["user", "assistant"]
    assert by_path.native == by_id.native


def test_standard_input_is_the_bytes_that_came_and_nothing_beside_them(tmp_path: Path) -> None:
    data = _session_with_a_subagent(tmp_path).read_bytes()
    opened = app.open_session(app.open_machine({}, only_given=True), "-", stdin=lambda: data)
    assert opened.info.codec.render(opened.native) == data


@pytest.mark.parametrize("out", ["n" * 300, "n" * 300 + "/part.jsonl", "a\x00b"])
def test_a_place_that_cannot_be_looked_at_is_a_store_error(tmp_path: Path, out: str) -> None:
    path = _session_with_a_subagent(tmp_path / "-srv-shop")
    draft = app.convert(app.open_machine({}, only_given=True), str(path), "codex")
    with pytest.raises(StoreError, match="cannot"):
        app.save(draft, str(tmp_path / out))


def test_a_session_of_which_nothing_can_be_written_is_refused_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "notices.json"
    notice = '{"role": "user", "content": [{"type": "text", "text": "built", "author": "harness"}]}'
    path.write_text('{"id": "a", "messages": [' + notice + "]}")
    machine = app.open_machine({}, only_given=True)
    with pytest.raises(UnconvertibleSession, match=r"no message of .*harness"):
        app.convert(machine, str(path), "claude_code", harness="simple")
