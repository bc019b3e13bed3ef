"""``handrail stats`` as a process."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.homes import CLAUDE_ID, CONTROL, TORN_ID, claude_rows, empty_home, make_home
from tests.cli.shell import handrail


def _row(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(name))


def test_the_sums_stand_first_and_then_the_days(tmp_path: Path) -> None:
    ended = handrail(make_home(tmp_path), "stats")
    lines = ended.text.splitlines()
    assert lines[0] == "3 sessions, 3 turns, 7 rounds, 4 tool calls"
    assert lines[1] == "2 step-ins: 28.6 per 100 rounds"
    assert _row(ended.text, "2026-05-02")[1:6] == ["1", "1", "3", "2", "1"]
    assert (ended.code, ended.err) == (0, "")


def test_the_table_can_be_by_harness_project_or_model(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    assert _row(handrail(home, "stats", "--by", "harness").text, "codex")[1:4] == ["1", "1", "1"]
    assert _row(handrail(home, "stats", "--by", "project").text, "shop")[1:4] == ["2", "2", "6"]
    assert _row(handrail(home, "stats", "--by", "model").text, "claude-opus-4-5")[3] == "6"


def test_days_are_those_of_the_zone_that_is_named(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    days = handrail(home, "stats", "--tz", "Pacific/Kiritimati", "--json").value
    assert (days["zone"], [group["name"] for group in days["by_day"]]) == (
        "Pacific/Kiritimati",
        ["2026-05-01", "2026-05-02", "2026-05-03"],
    )
    text = handrail(home, "stats", "--tz", "Pacific/Pago_Pago").text
    assert "DAY (Pacific/Pago_Pago)" in text
    assert _row(text, "2026-04-30")[1] == "1"


def test_a_limit_keeps_the_latest_days_and_says_what_it_left_out(tmp_path: Path) -> None:
    text = handrail(make_home(tmp_path), "stats", "-n", "1").text
    assert "2026-05-03" in text
    assert "2026-05-01" not in text
    assert "and 2 earlier; --limit 0 shows all" in text


def test_named_sessions_are_counted_alone(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    assert handrail(home, "stats", CLAUDE_ID, TORN_ID, "--json").value["total"]["sessions"] == 2
    assert handrail(home, "stats", CLAUDE_ID, "--project", "shop").code == 2
    assert handrail(home, "stats", "nonesuch").code == 5


def test_the_name_of_a_tool_does_not_reach_the_terminal_as_it_is(tmp_path: Path) -> None:
    rows = json.dumps(claude_rows(CLAUDE_ID)).replace('"Bash"', json.dumps(CONTROL))
    document = b"".join(json.dumps(row).encode() + b"\n" for row in json.loads(rows))
    text = handrail(empty_home(tmp_path), "stats", "-", stdin=document).text
    assert "tools: [2Jtidy up 2" in text
    assert not {"\x1b", "\u202e"} & set(text)
