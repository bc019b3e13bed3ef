"""Where Claude Code's sessions lie: listing from heads and tails, sub-agents by their place, nothing outside."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from handrail.errors import StoreError, UnsafeId
from handrail.harnesses.claude_code.store import ClaudeCodeStore, default_roots, project_folder
from handrail.transcripts.codec import SessionRef
from handrail.transcripts.model import Meta, Transcript
from tests.harnesses.claude_rows import CODEC, SESSION, Rows, call


def some_session() -> Rows:
    rows = Rows()
    rows.prompt("go")
    rows.says(call("t1", "Task"))
    rows.result("t1", "found", toolUseResult={"agentId": "a1", "status": "completed"})
    rows.bare(type="custom-title", customTitle="Named", sessionId=SESSION)
    return rows


def agent_session(agent: str = "a1") -> bytes:
    rows = Rows()
    rows.user("find it", isSidechain=True, agentId=agent)
    rows.says("found", isSidechain=True, agentId=agent)
    return rows.data()


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def listed(root: Path) -> dict[str, SessionRef]:
    return {ref.id: ref for ref in ClaudeCodeStore((root,)).discover()}


@pytest.mark.parametrize(
    ("environment", "roots"),
    [
        ({"HOME": "/h"}, ["/h/.claude/projects"]),
        ({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/a, /b"}, ["/a/projects", "/b/projects"]),
        ({}, []),
    ],
)
def test_roots_come_from_the_environment(environment: dict[str, str], roots: list[str]) -> None:
    assert [Path(root) for root in roots] == list(default_roots(environment))


def test_a_folder_has_a_dash_for_everything_but_letters_and_digits() -> None:
    assert "C--Users-d-v-re-po" == project_folder("C:\\Users\\d_v\\re po")
    assert 255 > len(project_folder("/x" * 400))


def test_listing_says_what_the_whole_file_says(tmp_path: Path) -> None:
    path = put(tmp_path / "-w" / f"{SESSION}.jsonl", some_session().data())
    ref = listed(tmp_path)[SESSION]
    assert CODEC.parse(path.read_bytes()).meta == ref.meta
    assert ("Named", True, path.stat().st_size) == (ref.meta.title, ref.is_whole, ref.size_bytes)


def test_listing_a_large_file_reads_its_ends_only(tmp_path: Path) -> None:
    rows = some_session().data()
    middle = json.dumps({"type": "progress", "data": "x" * 1000}).encode() + b"\n"
    put(
        tmp_path / "p" / f"{SESSION}.jsonl",
        rows[: rows.rfind(b"\n", 0, -1) + 1] + middle * 300 + b"[broken\n" * 1 + middle * 300 + rows,
    )
    ref = listed(tmp_path)[SESSION]
    assert ref.is_whole and "Named" == ref.meta.title


def test_a_torn_tail_shows_in_the_listing(tmp_path: Path) -> None:
    put(tmp_path / "p" / f"{SESSION}.jsonl", some_session().data() + b'{"type":"user","mess')
    assert not listed(tmp_path)[SESSION].is_whole


def test_sub_agents_are_told_by_where_they_lie(tmp_path: Path) -> None:
    put(tmp_path / "p" / f"{SESSION}.jsonl", some_session().data())
    put(tmp_path / "p" / SESSION / "subagents" / "agent-a1.jsonl", agent_session())
    put(tmp_path / "p" / SESSION / "subagents" / "workflows" / "wf" / "agent-a2.jsonl", agent_session("a2"))
    put(tmp_path / "p" / SESSION / "subagents" / "workflows" / "wf" / "journal.jsonl", b"{}\n")
    put(tmp_path / "p" / SESSION / "tool-results" / "x.jsonl", b"{}\n")
    put(tmp_path / "p" / "agent-a3.jsonl", agent_session("a3"))
    put(tmp_path / "p" / "orphan" / "subagents" / "agent-a4.jsonl", agent_session("a4"))
    parents = {ref.id: ref.parent.session if ref.parent else None for ref in listed(tmp_path).values()}
    assert {
        SESSION: None,
        "agent-a1": SESSION,
        "agent-a2": SESSION,
        "agent-a3": SESSION,
        "agent-a4": "orphan",
    } == parents


def test_loading_brings_the_sub_agents_and_links_them_to_their_calls(tmp_path: Path) -> None:
    path = put(tmp_path / "p" / f"{SESSION}.jsonl", some_session().data())
    put(tmp_path / "p" / SESSION / "subagents" / "agent-a1.jsonl", agent_session())
    put(tmp_path / "p" / SESSION / "subagents" / "wf" / "agent-a2.jsonl", agent_session("a2"))
    put(tmp_path / "p" / SESSION / "subagents" / "wf" / "agent-a2.meta.json", b'{"toolUseId":"t9"}')
    put(tmp_path / "p" / "agent-a3.jsonl", agent_session("a3"))
    native = ClaudeCodeStore((tmp_path,)).load(str(path))
    children = {
        child.id: (child.call, len(child.session.body) if child.session else 0) for child in CODEC.children(native)
    }
    assert {"agent-a1": ("t1", 2), "agent-a2": ("t9", 2), "agent-a3": (None, 2)} == children
    assert CODEC.to_common(native).body == CODEC.to_common(CODEC.parse(path.read_bytes())).body


def test_an_agents_talk_in_progress_rows_is_a_child(tmp_path: Path) -> None:
    rows = Rows()
    rows.says(call("t1", "Task"))
    for message in (
        {"type": "user", "uuid": "a", "message": {"role": "user", "content": "find it"}},
        {
            "type": "assistant",
            "uuid": "b",
            "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "x"}]},
        },
    ):
        rows.row("progress", parentToolUseID="t1", data={"type": "agent_progress", "agentId": "a9", "message": message})
    (child,) = CODEC.children(CODEC.parse(rows.data()))
    assert child.session is not None
    assert ("agent-a9", "t1", 2) == (child.id, child.call, len(child.session.body))


def test_a_link_back_to_the_root_does_not_loop(tmp_path: Path) -> None:
    put(tmp_path / "p" / f"{SESSION}.jsonl", some_session().data())
    (tmp_path / "p" / "loop").symlink_to(tmp_path)
    assert [SESSION] == [ref.id for ref in ClaudeCodeStore((tmp_path,)).discover()]


def test_saving_keeps_the_bytes_is_private_and_never_overwrites(tmp_path: Path) -> None:
    store = ClaudeCodeStore((tmp_path / "new",))
    native = CODEC.parse(some_session().data())
    ref = store.save(native)
    path = Path(ref.locator)
    assert (tmp_path / "new" / "-w" / f"{SESSION}.jsonl", 0o600) == (path, path.stat().st_mode & 0o777)
    assert CODEC.render(native) == path.read_bytes()
    with pytest.raises(StoreError):
        store.save(native)


def test_a_save_that_died_between_files_is_made_good_by_saving_again(tmp_path: Path) -> None:
    store = ClaudeCodeStore((tmp_path,))
    side = f"{SESSION}/subagents/agent-a1.jsonl"
    native = CODEC.parse({f"{SESSION}.jsonl": some_session().data(), side: agent_session()})
    put(tmp_path / "-w" / side, agent_session())
    assert CODEC.render(native) == CODEC.render(store.load(store.save(native)))


def test_a_sub_agents_file_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    side = f"{SESSION}/subagents/agent-a1.jsonl"
    native = CODEC.parse({f"{SESSION}.jsonl": some_session().data(), side: agent_session()})
    other = put(tmp_path / "-w" / side, b"another's\n")
    with pytest.raises(StoreError, match="exists already"):
        ClaudeCodeStore((tmp_path,)).save(native)
    assert [other] == [path for path in tmp_path.rglob("*") if path.is_file()]
    assert b"another's\n" == other.read_bytes()


def test_a_session_that_is_there_gets_no_sub_agent_of_another(tmp_path: Path) -> None:
    store = ClaudeCodeStore((tmp_path,))
    store.save(CODEC.parse(some_session().data()))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StoreError, match="exists already"):
        store.save(CODEC.parse({f"{SESSION}.jsonl": some_session().data(), "agent-a1.jsonl": agent_session()}))
    assert before == sorted(tmp_path.rglob("*"))


@pytest.mark.parametrize("hostile", ["../../pwned", "/tmp/abs", "a/b", "..", ""])
def test_a_hostile_id_is_refused_before_anything_is_written(tmp_path: Path, hostile: str) -> None:
    native = CODEC.parse(some_session().data())
    with pytest.raises(UnsafeId):
        ClaudeCodeStore((tmp_path / "r",)).save(Transcript(Meta(id=hostile), native.body))
    assert [] == list(tmp_path.rglob("*"))


def test_a_hostile_part_name_is_refused(tmp_path: Path) -> None:
    native = CODEC.parse({f"{SESSION}.jsonl": some_session().data(), "../agent-x.jsonl": b""})
    with pytest.raises(UnsafeId):
        ClaudeCodeStore((tmp_path / "r",)).save(native)
    assert [] == list(tmp_path.rglob("*"))


def test_deleting_takes_the_folder_along_and_stays_inside(tmp_path: Path) -> None:
    root = tmp_path / "r"
    put(root / "p" / f"{SESSION}.jsonl", some_session().data())
    put(root / "p" / SESSION / "tool-results" / "x.txt", b"x")
    victim = put(tmp_path / "victim.jsonl", b"{}")
    store = ClaudeCodeStore((root,))
    (ref,) = store.discover()
    with pytest.raises(StoreError):
        store.delete(SessionRef(harness="claude_code", id="v", locator=str(victim), meta=Meta()))
    store.delete(ref)
    assert victim.exists() and not (root / "p" / SESSION).exists()
    with pytest.raises(StoreError):
        store.delete(ref)


def test_a_fingerprint_changes_with_the_bytes_of_any_part(tmp_path: Path) -> None:
    path = put(tmp_path / "p" / f"{SESSION}.jsonl", some_session().data())
    side = put(tmp_path / "p" / SESSION / "subagents" / "agent-a1.jsonl", agent_session())
    store = ClaudeCodeStore((tmp_path,))
    ref = next(ref for ref in store.discover() if ref.parent is None)
    before = store.fingerprint(ref)
    side.write_bytes(side.read_bytes() + b"\n")
    between = store.fingerprint(ref)
    path.write_bytes(path.read_bytes() + b"\n")
    assert 3 == len({before, between, store.fingerprint(ref)})


def test_a_pipe_with_the_name_of_a_session_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path / "-w" / "a.jsonl", some_session().data())
    os.mkfifo(tmp_path / "-w" / "b.jsonl")
    assert [SESSION] == list(listed(tmp_path))


@pytest.mark.parametrize("time", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00"])
def test_a_time_that_no_calendar_has_in_utc_is_none(tmp_path: Path, time: str) -> None:
    rows = Rows()
    rows.prompt("go", timestamp=time)
    path = put(tmp_path / "-srv" / f"{SESSION}.jsonl", rows.data())
    (ref,) = ClaudeCodeStore((tmp_path,)).discover()
    assert ref.meta.timestamp is None
    assert ref.updated_at is not None
    assert [None] == [message.timestamp for message in CODEC.to_common(CODEC.parse(path.read_bytes())).body]
