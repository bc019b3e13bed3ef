"""Every command, run as a process on a home of two harnesses."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.cli.homes import CLAUDE_ID, CODEX_ID, DENIED_WORDS, TORN_ID, make_home
from tests.cli.shell import handrail

Home = dict[str, str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return make_home(tmp_path_factory.mktemp("home"))


def test_without_a_command_it_says_what_is_here(home: Home) -> None:
    ended = handrail(home)
    assert (ended.code, ended.err) == (0, "")
    claude, codex = ended.text.splitlines()[1:3]
    assert claude.split()[:3] == ["Claude", "Code", "2"]
    assert claude.split()[-4:] == ["2026-05-01", "2026-05-02", "1", "2"]
    assert codex.split()[:2] == ["Codex", "1"]
    assert codex.split()[-4:] == ["2026-05-03", "2026-05-03", "0", "0"]
    assert "You stepped in 2 times in 7 rounds: 28.6 per 100 rounds." in ended.text


def test_the_overview_as_json_counts_sessions_damage_and_stepins(home: Home) -> None:
    value = handrail(home, "--json").value
    rows = {row["harness"]: row for row in value["harnesses"]}
    assert value["schema_version"] == 1
    assert {name: (row["sessions"], row["damaged"], row["stepins"]) for name, row in rows.items()} == {
        "claude_code": (2, 1, 2),
        "codex": (1, 0, 0),
    }


def test_ls_lists_newest_first_with_short_ids(home: Home) -> None:
    ended = handrail(home, "ls")
    assert [line.split()[0] for line in ended.text.splitlines()] == ["ID", CODEX_ID[:8], TORN_ID[:8], CLAUDE_ID[:8]]
    assert "damaged" in ended.text.splitlines()[2]


def test_a_table_holds_no_control_character_of_a_session(home: Home) -> None:
    text = handrail(home, "ls").text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_ls_can_be_narrowed_and_limited(home: Home) -> None:
    ids = [row["id"] for row in handrail(home, "ls", "--json", "--project", "shop", "-n", "1").value["sessions"]]
    assert ids == [TORN_ID]
    limited = handrail(home, "ls", "-n", "1")
    assert "1 of 3 sessions" in limited.err


def test_a_project_can_be_named_by_its_folder(home: Home) -> None:
    def listed(project: str) -> list[str]:
        return [row["id"] for row in handrail(home, "ls", "--json", "--project", project).value["sessions"]]

    assert listed("/srv/shop") == listed("/srv/other/../shop/") == [TORN_ID, CLAUDE_ID]
    assert listed("/srv") == [CODEX_ID, TORN_ID, CLAUDE_ID]
    assert listed(".") == []


def test_show_prints_the_messages_of_a_range(home: Home) -> None:
    ended = handrail(home, "show", f"{CLAUDE_ID[:8]}#2-3")
    assert ended.code == 0
    assert "fragment=#2-3\nof=6" in ended.text
    assert f"[result 1 denied by person]\n{DENIED_WORDS}\n" in ended.text


def test_show_as_json_numbers_messages_from_one(home: Home) -> None:
    value = handrail(home, "show", CODEX_ID, "--json").value
    assert [item["number"] for item in value["messages"]] == [1, 2]
    assert value["messages"][0]["message"]["content"][0]["author"] == "person"


def test_show_reads_standard_input_and_files_alike(home: Home) -> None:
    path = Path(home["CLAUDE_CONFIG_DIR"]) / "projects" / "-srv-shop" / f"{CLAUDE_ID}.jsonl"
    piped = handrail(home, "show", "-#1-2", stdin=path.read_bytes())
    from_file = handrail(home, "show", f"{path}#1-2")
    assert piped.code == 0
    assert piped.text == from_file.text


def test_a_damaged_session_shows_with_a_note_of_where(home: Home) -> None:
    ended = handrail(home, "show", TORN_ID)
    assert ended.code == 0
    assert "1 place in the source could not be read" in ended.err
    assert f"`handrail doctor {TORN_ID}` says what that costs" in ended.err
    assert "doctor" not in handrail(home, "show", CLAUDE_ID).err


def test_moments_say_in_a_line_what_could_not_be_read_and_where_to_look(home: Home, tmp_path: Path) -> None:
    path = Path(home["CLAUDE_CONFIG_DIR"]) / "projects" / "-srv-shop" / f"{TORN_ID}.jsonl"
    told = "1 place in {} could not be read; `handrail doctor {}` says what that costs\n"
    everything, named = handrail(home, "moments", "--all"), handrail(home, "moments", f"{TORN_ID[:9]}#1-3")
    piped = handrail(home, "moments", "-", "--harness", "claude_code", stdin=path.read_bytes())
    assert (everything.code, everything.err) == (0, told.format(TORN_ID[:8], TORN_ID[:8]))
    assert (named.code, named.err) == (0, told.format(TORN_ID[:9], TORN_ID[:9]))
    assert (piped.code, piped.err) == (0, told.format("standard input", "- --from claude_code"))
    assert handrail(home, "moments", CLAUDE_ID).err == ""
    copies = []
    for name in ("a b.jsonl", "c.jsonl"):
        (tmp_path / name).write_bytes(path.read_bytes() + b"\n{\n")
        copies.append(str(tmp_path / name))
    several = (
        f"4 places in 2 sessions could not be read; `handrail doctor '{copies[0]}'` says what that costs in the first"
    )
    assert handrail(home, "moments", *copies).err == f"{several}\n"
    (path.parent / "other.jsonl").write_bytes(path.read_bytes())
    of_all = handrail(home, "moments").err
    (path.parent / "other.jsonl").unlink()
    assert of_all == "2 places in 2 sessions could not be read; `handrail doctor` says what that costs\n"


def test_json_carries_how_much_could_not_be_read(home: Home) -> None:
    (found,) = handrail(home, "moments", "--json").value["damaged"]
    see = f"handrail doctor {TORN_ID[:8]}"
    assert (found["session"], found["places"], found["see"]) == (TORN_ID, 1, see)
    shown = handrail(home, "show", TORN_ID, "--json").value
    assert (len(shown["faults"]), shown["see"]) == (1, f"handrail doctor {TORN_ID}")
    assert handrail(home, *see.split()[1:]).code == 3


def test_moments_tell_when_where_what_was_said_and_how_it_went_on(home: Home) -> None:
    lines = handrail(home, "moments", "--project", "shop", "-n", "1").text.splitlines()
    assert lines[0] == f"denial  {TORN_ID[:8]}#3  2026-05-02 08:02  shop  claude_code"
    assert [line.split()[0] for line in lines[1:4]] == ["doing", "said", "then"]
    assert DENIED_WORDS in lines[2]
    assert "2 step-ins in 6 rounds of 2 sessions: 33.3 per 100 rounds" in lines
    assert "by trigger: denial 2" in lines


def test_moments_as_json_carry_every_field(home: Home) -> None:
    value = handrail(home, "moments", "--json").value
    row = value["moments"][0]
    assert (row["trigger"], row["session"], row["message"], row["is_stepin"]) == ("denial", TORN_ID, 3, True)
    assert row["at"] == "2026-05-02T08:02:00Z"
    assert value["summary"]["by_trigger"] == {"denial": 2}


def test_a_time_zone_moves_the_times_that_are_shown(home: Home) -> None:
    assert "2026-05-03 17:00" in handrail(home, "ls", "--tz", "Asia/Tokyo").text


def test_a_crop_keeps_native_rows_and_is_private(home: Home, tmp_path: Path) -> None:
    out = tmp_path / "crop.jsonl"
    ended = handrail(home, "crop", f"{CLAUDE_ID}#1-3", "--out", str(out))
    assert (ended.code, ended.out) == (0, b"")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    source = Path(home["CLAUDE_CONFIG_DIR"]) / "projects" / "-srv-shop" / f"{CLAUDE_ID}.jsonl"
    assert set(out.read_bytes().splitlines()[:1]) <= set(source.read_bytes().splitlines())
    assert handrail(home, "show", str(out), "--json").value["length"] == 3


def test_a_crop_that_parts_a_call_from_its_result_says_what_would_do(home: Home) -> None:
    ended = handrail(home, "crop", f"{CLAUDE_ID}#1-2")
    assert (ended.code, ended.out) == (1, b"")
    assert "#1-3" in ended.err


def test_nothing_is_written_over_an_existing_file_without_force(home: Home, tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    out.write_bytes(b"mine")
    refused = handrail(home, "export", CODEX_ID, "--out", str(out))
    assert (refused.code, out.read_bytes()) == (4, b"mine")
    assert handrail(home, "export", CODEX_ID, "--out", str(out), "--force").code == 0
    assert out.read_bytes() != b"mine"


def test_a_conversion_reads_back_in_the_other_harness(home: Home, tmp_path: Path) -> None:
    out = tmp_path / "rollout.jsonl"
    ended = handrail(home, "convert", CLAUDE_ID, "--to", "codex", "--out", str(out), "--json")
    assert (ended.code, ended.value["harness"], ended.value["files"]) == (0, "codex", [str(out)])
    shown = handrail(home, "show", str(out), "--json").value
    assert shown["source"]["harness"] == "codex"
    assert [item["message"]["role"] for item in shown["messages"]][:2] == ["user", "assistant"]


def test_an_export_goes_through_a_pipe_whole_and_reads_back(home: Home) -> None:
    exported = handrail(home, "export", CLAUDE_ID)
    assert exported.code == 0
    shown = handrail(home, "show", "-", "--json", stdin=exported.out).value
    assert (shown["source"]["harness"], shown["length"]) == ("simple", 6)


def test_writing_from_a_damaged_session_is_done_and_ends_with_3(home: Home) -> None:
    ended = handrail(home, "export", TORN_ID)
    assert ended.code == 3
    assert ended.value["messages"]


def test_sessions_of_another_root_are_found_there(home: Home, tmp_path: Path) -> None:
    make_home(tmp_path)
    projects = tmp_path / ".claude" / "projects"
    (projects / "-srv-shop" / f"{TORN_ID}.jsonl").unlink()
    found = handrail(home, "ls", "--json", "--harness", "claude_code", "--root", f"claude_code={projects}").value
    assert [row["id"] for row in found["sessions"]] == [CLAUDE_ID]


def test_only_the_root_of_handrails_own_sessions_may_be_new(home: Home, tmp_path: Path) -> None:
    assert handrail(home, "ls", "--root", f"handrail={tmp_path}/new").code == 0
    ended = handrail(home, "ls", "--root", f"claude={tmp_path}/new")
    assert (ended.code, "there is no folder" in ended.err) == (2, True)
