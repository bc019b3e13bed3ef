"""The hook as another host calls it: a process with the host's JSON on its input, answered in the host's own shape.

``_Host`` stands in for Claude Code and Codex: it runs the command that stands in its settings through a shell, as both
do, and reads the answer as both do (exit code 2 stops the agent, any other but 0 is ignored with a warning).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from handrail import __version__
from handrail.agents.guard import GUARD
from handrail.app.learning.hooks import hook_report, install_hook
from handrail.app.learning.hosting import answer
from handrail.app.learning.places import learning_folder
from handrail.learning.checks.firing import FiringStore
from handrail.learning.checks.force import MAX_REFUSALS
from handrail.learning.checks.hosts import HOSTS, Host
from handrail.learning.checks.spec import AskBefore, CallPattern, Check, Forbid, KeepWithin, Order, Reply, to_json
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope
from handrail.learning.rules.store import RuleStore
from handrail.testing.builders.claude_code import ClaudeCodeSession
from handrail.testing.clock import ManualClock

PUSH = CallPattern(command="git push*")


class _Host:
    """A stand-in for a host: its settings, its session, its way of calling a hook."""

    def __init__(self, name: Host, home: Path, folder: Path) -> None:
        self.name = name
        self.environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        self.folder = folder
        self.transcript = folder / "session.jsonl"

    def commands(self, event: str) -> list[str]:
        """The commands its settings name for ``event``; a host that has read none calls none."""
        home = Path(self.environment["HOME"])
        if self.name == "claude_code":
            settings = json.loads((home / ".claude" / "settings.json").read_text())
        else:
            settings = tomllib.loads((home / ".codex" / "config.toml").read_text())
        return [handler["command"] for group in settings["hooks"][event] for handler in group["hooks"]]

    def call(self, tool: str, input: Any, *, call: str = "call_1", **more: str) -> dict[str, Any] | None:
        """What the hooks say before a call; None for nothing."""
        event = "PreToolUse"
        return self._put(event, {"tool_name": tool, "tool_input": input, "tool_use_id": call}, more)

    def end(self, reply: str) -> dict[str, Any] | None:
        """What the hooks say at the end of a turn."""
        return self._put("Stop", {"last_assistant_message": reply, "stop_hook_active": False}, {})

    def _put(self, event: str, fields: dict[str, Any], more: dict[str, str]) -> dict[str, Any] | None:
        (command,) = self.commands(event)
        said = {
            "session_id": "s1",
            "transcript_path": str(self.transcript),
            "cwd": str(self.folder),
            "permission_mode": "default",
            "hook_event_name": event,
            **fields,
        }
        ran = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(said).encode(),
            capture_output=True,
            env={**self.environment, **more},
            cwd=self.folder,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        return json.loads(ran.stdout) if ran.stdout.strip() else None


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> _Host:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    made = _Host(request.param, tmp_path / "home", folder)
    install_hook(made.environment, made.name, apply=True)
    return made


def _rules(host: _Host, *rules: Rule) -> None:
    RuleStore(learning_folder(host.environment)).update(lambda _: RuleBook(rules))


def _rule(check: Check, id: str = "r1", enforced: str = "on", scope: RuleScope = RuleScope()) -> Rule:  # noqa: B008
    spec = to_json(check)
    return Rule(id=id, text="Ask before you push.", life=Life.ACTIVE, check=spec, enforced=enforced, scope=scope)  # type: ignore[arg-type]


def _did(host: _Host) -> list[str]:
    return [row.did for row in FiringStore(learning_folder(host.environment)).rows()]


def test_a_call_that_goes_against_a_rule_is_refused_with_the_rule_as_the_reason(host: _Host) -> None:
    _rules(host, _rule(Forbid(call=PUSH)))

    said = host.call("Bash", {"command": "cd x && git push"})

    assert said is not None
    told = said["hookSpecificOutput"]
    assert (told["hookEventName"], told["permissionDecision"]) == ("PreToolUse", "deny")
    assert "Ask before you push." in told["permissionDecisionReason"]
    # What Codex refuses to read in such an answer is not in it.
    assert set(said) == {"hookSpecificOutput"}
    assert _did(host) == ["refused"]


def test_what_obeys_and_what_is_none_of_the_rules_business_passes_without_a_word(host: _Host) -> None:
    _rules(host, _rule(Forbid(call=PUSH)))

    assert host.call("Bash", {"command": "git status"}) is None
    assert host.call("Read", {"file_path": "git push"}) is None
    assert _did(host) == []


def test_in_shadow_nothing_is_said_and_it_is_noted(host: _Host) -> None:
    _rules(host, _rule(Forbid(call=PUSH), enforced="shadow"))

    assert host.call("Bash", {"command": "git push"}) is None
    assert _did(host) == ["noted"]


def test_after_three_refusals_in_a_session_the_call_passes_and_that_is_on_record(host: _Host) -> None:
    _rules(host, _rule(Forbid(call=PUSH)))

    said = [host.call("Bash", {"command": "git push"}) for _ in range(MAX_REFUSALS + 1)]

    assert [one is None for one in said] == [False] * MAX_REFUSALS + [True]
    assert _did(host) == ["refused"] * MAX_REFUSALS + ["let_pass"]


def test_an_answer_that_a_rule_forbids_is_sent_back(host: _Host) -> None:
    _rules(host, _rule(Reply(without=("great question",))))

    said = host.end("Great question! Yes.")

    assert said is not None
    assert said["decision"] == "block"
    assert said["reason"]
    assert host.end("Yes.") is None


def test_a_person_is_asked_where_the_host_can_ask_and_else_it_is_noted(host: _Host) -> None:
    _rules(host, _rule(AskBefore(call=PUSH)))

    said = host.call("Bash", {"command": "git push"})

    if host.name == "claude_code":
        assert said is not None
        assert said["hookSpecificOutput"]["permissionDecision"] == "ask"
        assert _did(host) == ["asked"]
    else:
        assert said is None  # Codex takes no such answer
        assert _did(host) == ["noted"]


def test_a_patch_of_codex_is_held_to_the_files_it_changes(host: _Host) -> None:
    _rules(host, _rule(KeepWithin(outside=("vendor/**",))))
    patch = "*** Begin Patch\n*** Update File: vendor/a.py\n@@\n-x\n+y\n*** End Patch"

    assert host.call("apply_patch", {"command": patch}) is not None
    assert host.call("apply_patch", {"command": patch.replace("vendor/", "src/")}) is None


def test_a_rule_for_another_place_says_nothing(host: _Host) -> None:
    elsewhere = RuleScope(repositories=("/other",))
    _rules(
        host,
        _rule(Forbid(call=PUSH), scope=elsewhere),
        _rule(Forbid(call=PUSH), "r2", scope=RuleScope(harnesses=("aider",))),
    )

    assert host.call("Bash", {"command": "git push"}) is None


def test_an_order_is_looked_up_in_the_session_of_the_host(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    host = _Host("claude_code", tmp_path / "home", folder)
    install_hook(host.environment, host.name, apply=True)
    commit, tests = CallPattern(command="git commit*"), CallPattern(command="make test*")
    _rules(host, _rule(Order(call=commit, first=tests)))
    session = ClaudeCodeSession("s1", str(folder), datetime(2026, 5, 1, tzinfo=UTC))
    session.prompt("ship it")
    host.transcript.write_bytes(session.render())
    assert host.call("Bash", {"command": "git commit -m x"}) is not None

    session.reply(session.call("test", "Bash", command="make test"))
    session.result("test", "ok")
    host.transcript.write_bytes(session.render())

    assert host.call("Bash", {"command": "git commit -m x"}) is None


def test_an_order_that_cannot_be_looked_up_lets_pass_and_says_so(host: _Host) -> None:
    commit, tests = CallPattern(command="git commit*"), CallPattern(command="make test*")
    _rules(host, _rule(Order(call=commit, first=tests)))

    assert host.call("Bash", {"command": "git commit"}) is None
    assert _did(host) == ["failed"]


def test_it_stays_quiet_inside_a_hook_of_ours(host: _Host) -> None:
    # K.1: a headless child of a hook must not set off hooks again.
    _rules(host, _rule(Forbid(call=PUSH)))

    assert host.call("Bash", {"command": "git push"}, **{GUARD: "judge"}) is None
    assert _did(host) == []


def test_a_folder_of_the_repository_cannot_take_the_place_of_the_program(host: _Host) -> None:
    for name in ("handrail", "msgspec"):
        (host.folder / name).mkdir()
        (host.folder / name / "__init__.py").write_text("raise SystemExit(2)")
    _rules(host, _rule(Forbid(call=PUSH)))

    assert host.call("Bash", {"command": "git push"}) is not None


def test_a_broken_store_lets_the_host_go_on_and_is_on_record(host: _Host) -> None:
    folder = learning_folder(host.environment)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rules.jsonl").mkdir()

    assert host.call("Bash", {"command": "git push"}) is None

    assert _did(host) == ["failed"]
    (state,) = [one for one in hook_report(host.environment, None).hosts if one.host == host.name]
    assert any("failed" in problem for problem in state.problems)


def test_a_check_that_cannot_be_read_is_on_record_and_hides_no_other(host: _Host) -> None:
    bad = Rule(id="bad", text="x", life=Life.ACTIVE, enforced="on", check={"kind": "magic"})
    _rules(host, bad, _rule(Forbid(call=PUSH)))

    assert host.call("Bash", {"command": "git push"}) is not None
    assert _did(host) == ["failed", "refused"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'{"hook_event_name": 3}',
        b'{"hook_event_name": "PreToolUse"}',
        b"[" * 100_000,
    ],
)
def test_what_no_host_would_say_is_answered_with_nothing(data: bytes, tmp_path: Path) -> None:
    environment = {"HANDRAIL_HOME": str(tmp_path)}

    assert answer("codex", data, environment, ManualClock(datetime(2026, 5, 1, tzinfo=UTC))) == b""
    (row,) = FiringStore(learning_folder(environment)).rows()
    assert row.did == "failed"


def test_a_record_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    # The folder of the loop is a file: nothing can be read or written there.
    (tmp_path / "learning").write_text("")
    said = json.dumps({"hook_event_name": "Stop", "session_id": "s", "cwd": "/", "last_assistant_message": "x"})

    assert (
        answer("codex", said.encode(), {"HANDRAIL_HOME": str(tmp_path)}, ManualClock(datetime(2026, 5, 1, tzinfo=UTC)))
        == b""
    )


def test_secrets_do_not_enter_the_record(host: _Host) -> None:
    _rules(host, _rule(Forbid(call=PUSH)))
    secret = "ghp_" + "a1B2c3D4e5" * 4

    host.call("Bash", {"command": f"git push https://x:{secret}@example.org/a.git"})

    (row,) = FiringStore(learning_folder(host.environment)).rows()
    assert row.what
    assert secret not in row.what


def test_a_host_does_not_wait_for_what_a_hook_has_no_use_for(tmp_path: Path) -> None:
    # A host waits before every call; what is loaded is what it waits for.
    said = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "cwd": str(tmp_path)})
    program = (
        "import sys; from handrail.cli.hook_run import run; run(['codex']); "
        "heavy = {'asyncio', 'click', 'pydantic', 'httpx', 'subprocess', 'logging', 'sqlite3', 'handrail.harnesses'}; "
        "print(*heavy.intersection(sys.modules))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program],
        input=said.encode(),
        capture_output=True,
        env={"HANDRAIL_HOME": str(tmp_path), "PATH": ""},
        check=True,
    )

    assert ran.stdout.split() == []


# The doctor


def test_installed_is_not_working_until_the_host_has_called(host: _Host) -> None:
    # K.1: a plugin that was copied and not registered loaded no hooks while every offline test passed.
    def state() -> Any:
        return next(one for one in hook_report(host.environment, None).hosts if one.host == host.name)

    before = state()
    assert (before.is_loaded, len(before.problems)) == (False, 1)

    host.call("Bash", {"command": "ls"})

    after = state()
    assert (after.is_loaded, after.problems) == (True, ())
    assert after.events[0].last_at is not None
    last = FiringStore(learning_folder(host.environment)).last(host.name, "PreToolUse")
    assert last is not None
    assert last.version == __version__


def test_a_call_from_before_it_was_installed_again_proves_nothing(host: _Host) -> None:
    host.call("Bash", {"command": "ls"})

    install_hook(host.environment, host.name, apply=True)

    (state,) = [one for one in hook_report(host.environment, None).hosts if one.host == host.name]
    assert state.is_loaded is False


def test_a_host_without_the_hook_has_no_state(tmp_path: Path) -> None:
    states = hook_report({"HOME": str(tmp_path)}, tmp_path).hosts

    assert [(one.host, one.is_loaded, one.problems) for one in states] == [(name, None, ()) for name in HOSTS]
