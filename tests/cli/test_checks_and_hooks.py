"""``handrail checks`` and ``handrail hook`` as a person uses them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from handrail.cli.exit_codes import ExitCode
from handrail.cli.schemas import RESULTS
from tests.cli.homes import CLAUDE_ID, empty_home, make_home
from tests.cli.shell import Ended, handrail
from tests.cli.terminal import Terminal

SPEC = {"kind": "forbid", "call": {"command": "DROP*"}}


def _rule(home: dict[str, str], text: str = "Archive tables, never drop them.") -> str:
    """A rule of the owner's that counts everywhere; its id."""
    added = handrail(home, "rules", "add", text, "--repository", "any", "--json")
    assert added.code == 0, added.err
    return str(added.value["rule"]["id"])


def _set(home: dict[str, str], rule: str, spec: object = SPEC) -> Ended:
    return handrail(home, "checks", "set", rule, "--spec", "-", stdin=json.dumps(spec).encode())


def test_a_check_goes_from_a_file_to_shadow_and_on(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    rule = _rule(home)

    assert "no check yet" in handrail(home, "checks", "list").text
    assert _set(home, rule).code == ExitCode.OK
    assert handrail(home, "checks", "on", rule).code == ExitCode.USAGE  # never in shadow
    assert handrail(home, "checks", "shadow", rule[:6]).code == ExitCode.OK
    assert handrail(home, "checks", "on", rule).code == ExitCode.OK

    (row,) = handrail(home, "checks", "list", "--json").value["rules"]
    assert (row["enforced"], row["is_checkable"], row["check"]) == ("on", True, SPEC)


def test_the_past_is_counted_without_a_model(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    rule = _rule(home)
    _set(home, rule)

    ran = handrail(home, "checks", "run", "--json")

    (figures,) = ran.value["rules"]
    assert figures["rule"] == rule
    assert ran.value["sessions"] == 3


def test_a_model_is_asked_only_when_told_to(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    rule = _rule(home)

    shown = handrail(home, "checks", "compile", "--dry-run")
    assert (shown.code, rule in shown.text) == (ExitCode.OK, True)
    assert "nothing was sent" in shown.text

    unnamed = handrail(home, "checks", "compile")
    assert unnamed.code == ExitCode.USAGE
    assert "no model is named" in unnamed.err


def test_what_is_no_check_is_refused_and_said(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    rule = _rule(home)

    refused = _set(home, rule, {"kind": "forbid", "call": {"tool": "*"}})

    assert refused.code == ExitCode.USAGE
    assert "fits every call" in refused.err


def test_a_rule_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    ran = handrail(empty_home(tmp_path), "checks", "shadow", "nope")

    assert "no rule has the id" in ran.err
    assert ran.code != ExitCode.OK


@pytest.mark.parametrize("host", ["claude_code", "codex"])
def test_a_hook_is_shown_first_written_when_approved_and_taken_out_again(tmp_path: Path, host: str) -> None:
    home = make_home(tmp_path)
    file = tmp_path / (".claude/settings.json" if host == "claude_code" else ".codex/config.toml")
    before = b'{\n  "model": "x"\n}\n' if host == "claude_code" else b'model = "x"\n'
    file.write_bytes(before)
    file.chmod(0o640)

    shown = handrail(home, "hook", "install", host)
    assert (shown.code, file.read_bytes()) == (ExitCode.OK, before)
    assert f"handrail hook run {host}" in shown.text
    assert "nothing was written" in shown.err

    assert handrail(home, "hook", "install", host, "--apply").code == ExitCode.OK
    assert file.stat().st_mode & 0o777 == 0o640
    written = file.read_bytes()
    again = handrail(home, "hook", "install", host, "--apply")
    assert ("already" in again.text, file.read_bytes()) == (True, written)

    assert handrail(home, "hook", "doctor").code == ExitCode.PROBLEMS  # installed, and never called

    assert handrail(home, "hook", "remove", host, "--apply").code == ExitCode.OK
    assert file.read_bytes() == before
    assert handrail(home, "hook", "doctor").code == ExitCode.OK


@pytest.mark.parametrize(("answer", "is_written"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_a_yes_writes_and_anything_else_does_not(tmp_path: Path, answer: str, is_written: bool) -> None:
    home = make_home(tmp_path)

    with Terminal(home, tmp_path, "hook", "install", "claude_code") as terminal:
        terminal.sees("Write this?")
        terminal.type(answer)
        assert terminal.ends() == ExitCode.OK

    assert (tmp_path / ".claude" / "settings.json").exists() is is_written


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    (tmp_path / ".claude" / "settings.json").symlink_to(real)

    handrail(home, "hook", "install", "claude_code", "--apply")

    assert (tmp_path / ".claude" / "settings.json").is_symlink()
    assert "hook run claude_code" in real.read_text()


def test_settings_that_cannot_be_read_are_left_alone(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    file = tmp_path / ".claude" / "settings.json"
    file.write_text('{"model": "x", // mine\n}')

    ran = handrail(home, "hook", "install", "claude_code", "--apply")

    assert ran.code == ExitCode.UNREADABLE
    assert "nothing was changed" in ran.err
    assert file.read_text() == '{"model": "x", // mine\n}'


def test_settings_that_are_no_file_are_left_alone(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    os.mkfifo(tmp_path / ".claude" / "settings.json")

    ran = handrail(home, "hook", "install", "claude_code", "--apply")

    assert (ran.code, "no regular file" in ran.err) == (ExitCode.UNREADABLE, True)


def test_codex_keeps_its_hooks_where_it_has_some(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (tmp_path / ".codex" / "hooks.json").write_text('{"hooks": {}}')

    changed = handrail(home, "hook", "install", "codex", "--apply", "--json").value

    assert changed["file"].endswith("hooks.json")
    assert not (tmp_path / ".codex" / "config.toml").exists()


@pytest.mark.parametrize("arguments", [[], ["nobody"], ["claude_code", "--what"], ["codex", "codex"]])
def test_the_hook_never_ends_with_what_would_stop_a_host(tmp_path: Path, arguments: list[str]) -> None:
    # Exit code 2 blocks the call in both hosts; a wrong command line must not.
    ran = handrail(empty_home(tmp_path), "hook", "run", *arguments, stdin=b"{}")

    assert (ran.code, ran.out) == (ExitCode.OK, b"")
    assert "for a host to call" in ran.err


def test_a_host_is_answered(tmp_path: Path) -> None:
    home = empty_home(tmp_path)
    rule = _rule(home)
    _set(home, rule)
    handrail(home, "checks", "on", rule, "--anyway")
    said = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(tmp_path), "tool_name": "Bash"}
    call = json.dumps({**said, "tool_input": {"command": "DROP TABLE x"}, "tool_use_id": "t"}).encode()

    answered = handrail(home, "hook", "run", "codex", stdin=call)

    assert answered.value["hookSpecificOutput"]["permissionDecision"] == "deny"
    fired = handrail(home, "checks", "fired").text
    assert "refused" in fired
    assert rule in fired


def test_a_replay_is_not_held_to_rules_that_were_learned_since(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    home = make_home(tmp_path)
    before = handrail(home, "replay", CLAUDE_ID, "--json")
    rule = _rule(home)
    _set(home, rule, {"kind": "forbid", "call": {"tool": "Bash"}})
    handrail(home, "checks", "on", rule, "--anyway")

    after = handrail(home, "replay", CLAUDE_ID, "--json")

    assert (after.code, after.value) == (before.code, before.value)


def test_json_fits_its_schema(tmp_path: Path) -> None:
    import msgspec

    home = make_home(tmp_path)
    rule = _rule(home)
    printed = {
        "handrail checks set": _set_json(home, rule),
        "handrail checks list": handrail(home, "checks", "list", "--json").out,
        "handrail checks run": handrail(home, "checks", "run", "--json").out,
        "handrail checks fired": handrail(home, "checks", "fired", "--json").out,
        "handrail checks shadow": handrail(home, "checks", "shadow", rule, "--json").out,
        "handrail checks compile --dry-run": handrail(home, "checks", "compile", rule, "--dry-run", "--json").out,
        "handrail checks remove": handrail(home, "checks", "remove", rule, "--json").out,
        "handrail hook install": handrail(home, "hook", "install", "codex", "--json").out,
        "handrail hook remove": handrail(home, "hook", "remove", "codex", "--json").out,
        "handrail hook doctor": handrail(home, "hook", "doctor", "--json").out,
    }

    for command, out in printed.items():
        assert msgspec.json.decode(out, type=RESULTS[command]).schema_version == 1, command


def _set_json(home: dict[str, str], rule: str) -> bytes:
    return handrail(home, "checks", "set", rule, "--spec", "-", "--json", stdin=json.dumps(SPEC).encode()).out
