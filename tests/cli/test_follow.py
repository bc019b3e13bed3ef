"""``handrail follow`` as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.homes import CLAUDE_ID, CONTROL, DENIED_WORDS, TORN_ID, make_home
from tests.cli.shell import handrail


def _file(root: Path, session: str) -> Path:
    return root / ".claude" / "projects" / "-srv-shop" / f"{session}.jsonl"


def test_once_shows_messages_and_stepins_and_ends(tmp_path: Path) -> None:
    ended = handrail(make_home(tmp_path), "follow", CLAUDE_ID[:8], "--once")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.text.splitlines()
    assert lines[0].endswith("6 messages, 3 rounds, 1 step-in so far")
    assert "08:01:00  #2  assistant  I will drop it." in lines
    (head,) = [line for line in lines if line.startswith("» denial")]
    assert f"{CLAUDE_ID[:8]}#3" in head
    assert any(line.startswith("  said") and DENIED_WORDS in line for line in lines)


def test_a_file_is_followed_by_its_path(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    assert "Archived." in handrail(home, "follow", str(_file(tmp_path, CLAUDE_ID)), "--once").text


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    ended = handrail(make_home(tmp_path), "follow", CLAUDE_ID, "--once")
    assert CONTROL.encode() not in ended.out
    assert b"\x1b" not in ended.out


def test_as_json_each_line_is_one_versioned_event(tmp_path: Path) -> None:
    out = handrail(make_home(tmp_path), "follow", CLAUDE_ID, "--once", "--json").out
    events = [json.loads(line) for line in out.splitlines()]
    assert {event["schema_version"] for event in events} == {1}
    assert [event["event"] for event in events] == ["session", *["message"] * 3, "moment", *["message"] * 3]


def test_an_unfinished_record_is_said_on_stderr(tmp_path: Path) -> None:
    ended = handrail(make_home(tmp_path), "follow", TORN_ID, "--once")
    assert ended.code == 0
    assert "20 bytes of an unfinished record are held back" in ended.err


def test_damage_is_said_and_ends_with_the_code_for_problems(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    with _file(tmp_path, TORN_ID).open("ab") as stream:
        stream.write(b"\n")
    ended = handrail(home, "follow", TORN_ID, "--once")
    assert (ended.code, "could not be read" in ended.err) == (3, True)


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1", "soon"])
def test_an_interval_that_is_none_is_a_usage_error(tmp_path: Path, seconds: str) -> None:
    assert handrail(make_home(tmp_path), "follow", CLAUDE_ID, "--once", "--every", seconds).code == 2


def test_standard_input_cannot_be_followed(tmp_path: Path) -> None:
    assert handrail(make_home(tmp_path), "follow", "-").code == 2


def test_what_is_appended_is_shown_and_ctrl_c_ends_with_130(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    path = _file(tmp_path, CLAUDE_ID)
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    path.write_bytes(whole.removesuffix(last))
    command = [sys.executable, "-m", "handrail", "follow", CLAUDE_ID, "--every", "0.05", "--json"]
    with subprocess.Popen(command, env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        while json.loads(running.stdout.readline()).get("number") != 5:
            pass
        with path.open("ab") as stream:
            stream.write(last)
        assert json.loads(running.stdout.readline())["content"][0]["text"] == "Archived."
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130
