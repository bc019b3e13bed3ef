"""``handrail doctor`` and ``handrail repair`` as a shell runs them: words, JSON, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from handrail import app
from tests.cli.homes import CLAUDE_ID, CODEX_ID, TORN_ID, empty_home, make_home
from tests.cli.shell import handrail
from tests.doctor.files import chain, lines, png, said, turn

_LIMIT = "import resource,sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); "
_RUN = "from handrail.cli import main; main()"


def test_doctor_ends_with_3_for_damage_and_0_without(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    assert [handrail(home, "doctor", id).code for id in (CLAUDE_ID, TORN_ID, CODEX_ID)] == [0, 3, 0]
    everything = handrail(home, "doctor", "--all")
    assert everything.code == 3
    assert "3 sessions looked at" in everything.text
    assert everything.text == handrail(home, "doctor").text


def test_doctor_ends_with_4_for_what_it_cannot_read(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert handrail(home, "doctor", str(tmp_path / "empty.jsonl")).code == 4
    assert handrail(home, "doctor", str(tmp_path)).code == 4
    (tmp_path / ".claude" / "projects" / "-srv-shop" / "nothing.jsonl").write_bytes(b"")
    ended = handrail(home, "doctor", "--all")
    assert (ended.code, "1 damaged, 1 could not be read" in ended.text) == (4, True)


def test_doctor_says_what_it_costs_and_the_exact_command(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    text = handrail(home, "doctor", TORN_ID).text
    path = tmp_path / ".claude" / "projects" / "-srv-shop" / f"{TORN_ID}.jsonl"
    assert "damage torn_tail: the last record was cut (20 bytes): it is lost" in text
    assert f"fix: handrail repair {path} --out {TORN_ID}.repaired.jsonl" in text


def test_the_fix_that_is_printed_works(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    fix = handrail(home, "doctor", TORN_ID, "--json").value["sessions"][0]["findings"][0]["fix"]
    command = fix.split()
    command[-1] = str(tmp_path / command[-1])
    ended = handrail(home, *command[1:])
    assert (ended.code, "proved" in ended.text) == (0, True)
    assert handrail(home, "doctor", command[-1]).code == 0


def test_a_machine_without_sessions_is_no_error(tmp_path: Path) -> None:
    ended = handrail(empty_home(tmp_path), "doctor", "--json")
    assert (ended.code, ended.value["checked"]) == (0, 0)


def test_json_fits_its_schema(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    found = msgspec.json.decode(handrail(home, "doctor", "--all", "--json").out, type=app.DoctorReport)
    assert [checkup.source.id for checkup in found.sessions] == [TORN_ID]
    ended = handrail(home, "repair", TORN_ID, "--out", str(tmp_path / "out.jsonl"), "--json")
    done = msgspec.json.decode(ended.out, type=app.Repaired)
    assert (ended.code, [change.kind for change in done.losses]) == (0, ["torn_tail"])


def test_a_reference_and_all_do_not_go_together(tmp_path: Path) -> None:
    assert handrail(make_home(tmp_path), "doctor", CLAUDE_ID, "--all").code == 2
    assert handrail(make_home(tmp_path / "x"), "repair", CLAUDE_ID).code == 2


def test_a_session_from_standard_input_is_looked_at_as_a_file_is(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    path = tmp_path / ".claude" / "projects" / "-srv-shop" / f"{TORN_ID}.jsonl"
    spools = tmp_path / "spools"
    spools.mkdir()
    piped = handrail(home | {"TMPDIR": str(spools)}, "doctor", "-", "--json", stdin=path.read_bytes())
    named = handrail(home, "doctor", str(path), "--json")
    (one,), (other,) = piped.value["sessions"], named.value["sessions"]
    torn = {"code": "torn_tail", "file": "-", "fix": "handrail repair - --out repaired.jsonl"}
    assert [finding["code"] for finding in other["findings"] if finding["severity"] == "damage"] == ["torn_tail"]
    assert [{key: found[key] for key in torn} for found in one["findings"]] == [torn]
    assert [(one[key], one["source"]["id"]) for key in ("records", "turns", "shown", "size_bytes")] == [
        (other[key], TORN_ID) for key in ("records", "turns", "shown", "size_bytes")
    ]
    assert (piped.code, named.code, list(spools.iterdir())) == (3, 3, [])


def test_standard_input_without_a_session_cannot_be_read(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    nothing, words = handrail(home, "doctor", "-"), handrail(home, "doctor", "-", stdin=b"hello\n")
    assert [(ended.code, ended.err) for ended in (nothing, words)] == [(4, ""), (4, "")]
    assert "unreadable empty: standard input is empty" in nothing.text
    assert "unreadable no_session" in words.text
    refused = handrail(home, "repair", "-", stdin=b"hello\n")
    assert (refused.code, refused.out) == (4, b"")
    assert "standard input holds no session" in refused.err


def test_a_copy_of_standard_input_goes_to_standard_output_and_its_report_beside(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    path = tmp_path / ".claude" / "projects" / "-srv-shop" / f"{TORN_ID}.jsonl"
    piped = handrail(home, "repair", "-", stdin=path.read_bytes())
    out = tmp_path / "out.jsonl"
    assert handrail(home, "repair", "-", "--out", str(out), stdin=path.read_bytes()).code == 0
    assert (piped.code, piped.out) == (0, out.read_bytes())
    assert "standard output" in piped.err
    assert "proved" in piped.err
    assert handrail(home, "doctor", "-", stdin=piped.out).code == 0


def test_a_copy_in_a_file_called_dash_is_said_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = handrail(empty_home(tmp_path), "repair", "-", "--out", "-", stdin=lines(chain(4)))
    assert (done.code, Path("-").read_bytes()) == (0, lines(chain(4)))
    assert done.text.startswith("-  ")


def test_what_standard_input_is_redirected_from_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(chain(4)) + b"{")
    with path.open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "handrail", "repair", "-", "--out", str(path), "--force"],
            env=empty_home(tmp_path),
            stdin=stream,
            capture_output=True,
            check=False,
        )
    assert (done.returncode, b"is the session itself" in done.stderr) == (4, True)
    assert path.read_bytes() == lines(chain(4)) + b"{"


@pytest.mark.parametrize("arguments", [["doctor", "-", "--all"], ["doctor", "-", "--loop"], ["repair", "-", "--force"]])
def test_what_makes_no_sense_of_standard_input_is_refused(tmp_path: Path, arguments: list[str]) -> None:
    ended = handrail(empty_home(tmp_path), *arguments, stdin=lines(chain(4)))
    assert (ended.code, ended.out) == (2, b"")
    assert "--" in ended.err
    as_json = handrail(empty_home(tmp_path), "repair", "-", "--json", stdin=lines(chain(4)))
    assert (as_json.code, as_json.out) == (2, b"")


def test_repair_takes_a_branch_by_the_command_that_doctor_prints(tmp_path: Path) -> None:
    rows = [*chain(6), turn("user", "n", "u1", "said anew"), turn("assistant", "m", "n", said("well"))]
    (tmp_path / "a.jsonl").write_bytes(lines(rows))
    home = empty_home(tmp_path)
    ended = handrail(home, "doctor", str(tmp_path / "a.jsonl"))
    assert (ended.code, "--branch u2" in ended.text) == (0, True)
    out = tmp_path / "b.jsonl"
    assert handrail(home, "repair", str(tmp_path / "a.jsonl"), "--branch", "u2", "--out", str(out)).code == 0
    assert json.loads(out.read_bytes().splitlines()[-1])["uuid"] == "u5"
    refused = handrail(home, "repair", str(tmp_path / "a.jsonl"), "--branch", "zz", "--out", str(tmp_path / "c"))
    assert (refused.code, (tmp_path / "c").exists()) == (1, False)


def test_images_stay_unless_asked_and_what_is_left_is_said(tmp_path: Path) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": png(9600, 7734)}
    rows = [turn("user", "u0", None, [{"type": "image", "source": source}])]
    (tmp_path / "a.jsonl").write_bytes(lines(rows))
    home = empty_home(tmp_path)
    kept = handrail(home, "repair", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "b.jsonl"))
    assert (kept.code, "left as it is: image_too_large" in kept.text) == (0, True)
    asked = ["repair", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "c.jsonl"), "--images", "placeholder"]
    assert "given up image_to_note" in handrail(home, *asked).text
    assert [handrail(home, "doctor", str(tmp_path / name)).code for name in ("b.jsonl", "c.jsonl")] == [3, 0]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(chain(100)) + b"{")
    done = subprocess.run(
        [sys.executable, "-c", _LIMIT + _RUN, "repair", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "b.jsonl")],
        env=empty_home(tmp_path),
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, "cannot write" in done.stderr) == (4, True)
    assert [item.name for item in tmp_path.iterdir()] == ["a.jsonl"]


def test_control_characters_of_a_file_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J.jsonl"
    path.write_bytes(
        lines([turn("assistant", "u\x1b[2J", None, [{"type": "tool_use", "id": "t\x1b[2J", "name": "x"}])])
    )
    assert b"\x1b" not in handrail(empty_home(tmp_path), "doctor", str(path)).out
